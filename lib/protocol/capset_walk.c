/*
 * capset_walk.c - asks a set pattern by pattern, reads the conditions of grants, and remembers
 * verdicts. A walk finds the reasons of a verdict, and the verdict itself where the programs of
 * capability.c could take long: what it costs is bounded by the patterns' number times the kind's
 * length.
 *
 * Verdicts are remembered in one table of 512, 64 KiB, for each thread that decides, whatever
 * number of sets there is: kinds repeat, those who send are few at any moment, and a router may
 * hold ten thousand sets, of which a table each would cost more than all the rest of them. It is
 * never cleared: an owner's number is never given twice, so what a freed set left behind answers
 * to nobody.
 */
#include "lib/protocol/capset.h"

#include "lib/base/plain.h"

#include <mcpx/envelope.h>

#include <stdatomic.h>

/* Who is listed is so with all its instances. Protocol: section 3. */
static bool is_listed(const struct mcpx_grant *grant, struct mcpx_slice addressee)
{
    struct mcpx_slice identity = mcpx_identity_of(addressee);

    for (size_t i = 0; i < grant->to_count; i++)
        if (mcpx_slice_equal(grant->to[i], identity) ||
            mcpx_slice_equal(grant->to[i], addressee))
            return true;
    return false;
}

enum mcpx_refusal mx_grant_condition(const struct mcpx_grant *grant,
                                     const struct mcpx_question *question)
{
    if (grant->expires_ms != 0 && question->wall_ms >= grant->expires_ms)
        return MCPX_GRANT_EXPIRED;
    if (grant->to_count == 0)
        return MCPX_ALLOWED;
    if (question->to_count == 0) /* everyone is more than those listed */
        return MCPX_TARGET_NOT_ALLOWED;
    for (size_t i = 0; i < question->to_count; i++)
        if (!is_listed(grant, question->to[i]))
            return MCPX_TARGET_NOT_ALLOWED;
    return MCPX_ALLOWED;
}

struct mcpx_slice mx_capset_denied_by(const struct mcpx_capset *set,
                                      const struct mcpx_kind *kind)
{
    for (size_t i = set->grant_count; i < set->grant_count + set->deny_count; i++)
        if (mx_pattern_covers(&set->patterns[i], kind, false))
            return mx_capset_pattern(set, i);
    return (struct mcpx_slice){NULL, 0};
}

struct mcpx_slice mx_capset_granted_by(struct mcpx_capset *set,
                                       const struct mcpx_question *question)
{
    bool dotted = mcpx_kind_has_dot_segment(question->kind);

    for (size_t i = 0; i < set->grant_count; i++) {
        const struct mcpx_grant *grant = &set->grants[i];

        if (!mx_pattern_covers(&set->patterns[i], question->kind, dotted))
            continue;
        set->depends |= mcpx_grant_is_conditional(grant);
        if (mx_grant_condition(grant, question) == MCPX_ALLOWED)
            return mx_capset_pattern(set, i);
    }
    return (struct mcpx_slice){NULL, 0};
}

/* ---- verdicts ---- */

enum { SLOTS = 512 };

static _Thread_local struct mx_memo_slot slots[SLOTS];

uint64_t mx_memo_owner(void)
{
    static _Atomic uint64_t last;

    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* Eight bytes at a time; the last eight may overlap those before them. */
static uint64_t hash_of(uint64_t owner, struct mcpx_slice text)
{
    const unsigned char *at = (const unsigned char *)text.text;
    uint64_t hash = mix(owner, text.len);
    uint64_t rest = 0;

    if (text.len >= 8) {
        for (size_t i = 0; i + 8 < text.len; i += 8)
            hash = mix(hash, mx_plain_load(at + i));
        return mix(hash, mx_plain_load(at + text.len - 8));
    }
    for (size_t i = 0; i < text.len; i++)
        rest = rest << 8 | at[i];
    return mix(hash, rest);
}

struct mx_memo_slot *mx_memo_slot(uint64_t owner, struct mcpx_slice text)
{
    if (text.len > MX_MEMO_TEXT_MAX)
        return NULL;
    return &slots[hash_of(owner, text) % SLOTS];
}

void mx_memo_keep(struct mx_memo_slot *slot, uint64_t owner, struct mcpx_slice text,
                  bool verdict)
{
    slot->owner = owner;
    slot->len = (unsigned char)text.len;
    slot->verdict = verdict;
    memcpy(slot->text, text.text, text.len);
}
