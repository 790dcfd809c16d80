/*
 * capability.c - turns a set's patterns into one PCRE2 program and asks it. A decision is a match:
 *
 *     (?!(?:DENIAL|...)\z)(?:GRANT|GRANT|(?>GRANT)\z(?C'7')|...)
 *
 * anchored at both ends. A grant with conditions ends in a callout that carries its index; PCRE2
 * calls back when such a grant covers the kind, and goes on to the next when its conditions do
 * not hold, so conditions cost nothing until they matter. Anything but a match, every limit
 * included, is a refusal. The program runs on the 32 KiB of the C stack that PCRE2 provides: our
 * expressions keep a few words there for each of three open groups. Rejected: a stack per set; it
 * would be most of the memory of a set.
 *
 * A walk asks pattern by pattern when the program would be too slow for one of them or too long
 * (PCRE2 links are 16 bits wide), and without JIT: PCRE2's interpreter is slower than the walk for
 * ordinary patterns, a hundred times for the worst. The walk also decides a dotted context, if a
 * grant's context has a "*" among other bytes: rule 6 would take a second program. Rejected: a
 * program for every few hundred patterns; kinds repeat, and their verdicts are remembered.
 *
 * The cost of the walk is at most the number of patterns times the kind's length.
 *
 * Each thread remembers 512 verdicts, 64 KiB, for all sets together: kinds repeat, and few
 * participants send at any moment. Rejected: a table per set; a router may hold ten thousand sets,
 * and the tables would cost more than the sets. The table is never cleared: an owner's number is
 * never given twice, so no other set finds the verdicts of a freed one.
 *
 * An explanation has the same verdict; the reasons come from a walk over the single patterns.
 * Rejected: a program for every pattern; it gives the same reasons (the tests compare both) at a
 * hundred times the cost of making a set, and refusals are rare.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "lib/base/digits.h"
#include "lib/base/ident.h"
#include "lib/json/json_write.h"
#include "lib/json/tree.h"
#include "lib/protocol/capset.h"

#include <mcpx/envelope.h>

#include <stdatomic.h>
#include <stdlib.h>

enum {
    TEXT_MAX = 28000,          /* bytes of a program's text; compiles to at most twice that */
    DECISIONS_PATTERNS_MIN = 4 /* fewer are matched about as fast as a verdict is found */
};

static const uint32_t compile_options = PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOTALL |
                                        PCRE2_DOLLAR_ENDONLY | PCRE2_NO_AUTO_CAPTURE |
                                        PCRE2_NEVER_UTF | PCRE2_NEVER_UCP;

/* ---- asked pattern by pattern ---- */

enum mcpx_refusal mx_grant_condition(const struct mcpx_grant *grant,
                                     const struct mcpx_question *question)
{
    if (grant->expires_ms != 0 && question->wall_ms >= grant->expires_ms)
        return MCPX_GRANT_EXPIRED;
    if (grant->to_count == 0)
        return MCPX_ALLOWED;
    if (question->to_count == 0) /* everyone is more than those listed */
        return MCPX_TARGET_NOT_ALLOWED;
    for (size_t i = 0; i < question->to_count; i++) /* listed with all its instances */
        if (!mx_id_is_among(mcpx_identity_of(question->to[i]), grant->to, grant->to_count) &&
            !mx_id_is_among(question->to[i], grant->to, grant->to_count))
            return MCPX_TARGET_NOT_ALLOWED;
    return MCPX_ALLOWED;
}

/* The first denial that covers the kind; absent without one. */
static struct mcpx_slice denied_by(const struct mcpx_capset *set, const struct mcpx_kind *kind)
{
    for (size_t i = set->grant_count; i < set->grant_count + set->deny_count; i++)
        if (mx_pattern_covers(&set->patterns[i], kind, false))
            return mx_capset_pattern(set, i);
    return (struct mcpx_slice){NULL, 0};
}

/* The first grant that covers the kind with its conditions met, denials apart; or absent. Sets
 * `depends` as a match does. */
static struct mcpx_slice granted_by(struct mcpx_capset *set,
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

static _Thread_local struct mx_decisions_slot slots[SLOTS];

uint64_t mx_decisions_owner(void)
{
    static _Atomic uint64_t last;

    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

/* Eight bytes at a time; the last eight may overlap those before them. */
static uint64_t hash_of(uint64_t owner, struct mcpx_slice text)
{
    const unsigned char *at = (const unsigned char *)text.text;
    uint64_t hash = mx_name_mix(owner, text.len);
    uint64_t rest = 0;

    if (text.len >= 8) {
        for (size_t i = 0; i + 8 < text.len; i += 8)
            hash = mx_name_mix(hash, mx_plain_load(at + i));
        return mx_name_mix(hash, mx_plain_load(at + text.len - 8));
    }
    for (size_t i = 0; i < text.len; i++)
        rest = rest << 8 | at[i];
    return mx_name_mix(hash, rest);
}

struct mx_decisions_slot *mx_decisions_slot(uint64_t owner, struct mcpx_slice text)
{
    if (text.len > MX_DECISIONS_TEXT_MAX)
        return NULL;
    return &slots[hash_of(owner, text) % SLOTS];
}

void mx_decisions_keep(struct mx_decisions_slot *slot, uint64_t owner, struct mcpx_slice text,
                       bool verdict)
{
    slot->owner = owner;
    slot->len = (unsigned char)text.len;
    slot->verdict = verdict;
    memcpy(slot->text, text.text, text.len);
}

/* ---- asked with one program ---- */

struct mx_matcher {
    pcre2_general_context *memory;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_code *code; /* NULL: the patterns are asked one by one instead */
    /* Some grant does not cover dotted contexts; the program cannot check that. */
    bool rule6;
};

static void add_grant(struct mcpx_text *text, const struct mcpx_capset *set, size_t index)
{
    bool conditional = mcpx_grant_is_conditional(&set->grants[index]);

    mcpx_text_puts(text, conditional ? "(?>" : "");
    mx_pattern_regex(&set->patterns[index], text);
    if (conditional)
        mx_format(text, ")\\z(?C'%s')", index);
}

/* Writes the program. Its text can be longer than TEXT_MAX. */
static void write_program(struct mcpx_text *text, const struct mcpx_capset *set)
{
    for (size_t i = 0; i < set->deny_count; i++) {
        mcpx_text_puts(text, i > 0 ? "|" : "(?!(?:");
        mx_pattern_regex(&set->patterns[set->grant_count + i], text);
    }
    mcpx_text_puts(text, set->deny_count > 0 ? ")\\z)" : "");
    for (size_t i = 0; i < set->grant_count; i++) {
        mcpx_text_puts(text, i > 0 ? "|" : "(?:");
        add_grant(text, set, i);
    }
    mcpx_text_puts(text, ")");
}

/* Compiles the program. Leaves `code` NULL on any failure; an error only when memory runs out. */
static enum mcpx_err compile(struct mx_matcher *matcher, struct mcpx_slice text)
{
    pcre2_compile_context *context = pcre2_compile_context_create(matcher->memory);
    PCRE2_SIZE offset;
    int error = PCRE2_ERROR_HEAP_FAILED;

    if (context)
        matcher->code = pcre2_compile((PCRE2_SPTR)text.text, text.len, compile_options, &error,
                                      &offset, context);
    pcre2_compile_context_free(context);
    if (!matcher->code)
        return error == PCRE2_ERROR_HEAP_FAILED ? MCPX_ENOMEM : MCPX_OK;
    if (pcre2_jit_compile(matcher->code, PCRE2_JIT_COMPLETE) != 0) {
        pcre2_code_free(matcher->code);
        matcher->code = NULL;
    }
    return MCPX_OK;
}

/* Compiles the program of a set with grants, unless it would be slow or too long. */
static enum mcpx_err build(struct mx_matcher *matcher, const struct mcpx_capset *set)
{
    mx_scoped_text text = {0};

    for (size_t i = 0; i < set->grant_count + set->deny_count; i++)
        if (mx_pattern_is_costly(&set->patterns[i]))
            return MCPX_OK;
    if (set->grant_count == 0)
        return MCPX_OK;
    write_program(&text, set);
    if (text.failed)
        return MCPX_ENOMEM;
    return text.len <= TEXT_MAX ? compile(matcher, mcpx_text_view(&text)) : MCPX_OK;
}

/* A conditional grant covers the kind: 0 goes on to the match, 1 to the next alternative. */
static int on_conditional(pcre2_callout_block *block, void *context)
{
    struct mcpx_capset *set = context;
    struct mcpx_slice number = {(const char *)block->callout_string,
                                block->callout_string_length};
    uint64_t index = 0;

    set->depends = true;
    (void)mx_decimal_read(number, UINT64_MAX, &index); /* written by us */
    return mx_grant_condition(&set->grants[index], set->question) != MCPX_ALLOWED;
}

/* No honest match needs more: an atomic run of literal bytes is looked for at each byte of a kind
 * at most once per "*", and every alternative is tried once. */
static uint32_t match_limit(const struct mcpx_capset *set)
{
    uint32_t stars = 0;

    for (size_t i = 0; i < set->grant_count + set->deny_count; i++)
        for (size_t j = 0; j < set->patterns[i].parts.text.len; j++)
            stars += set->patterns[i].parts.text.text[j] == '*';
    return 100000 + stars * 2 * MCPX_KIND_MAX;
}

/* PCRE2 gets its memory from here, so tests can let its allocations fail. */
static void *take_memory(PCRE2_SIZE size, void *context)
{
    (void)context;
    return malloc(size);
}

static void give_memory(void *memory, void *context)
{
    (void)context;
    free(memory);
}

static enum mcpx_err make_room(struct mx_matcher *matcher, struct mcpx_capset *set)
{
    matcher->data = pcre2_match_data_create(1, matcher->memory);
    matcher->context = pcre2_match_context_create(matcher->memory);
    if (!matcher->data || !matcher->context)
        return MCPX_ENOMEM;
    pcre2_set_match_limit(matcher->context, match_limit(set));
    pcre2_set_callout(matcher->context, on_conditional, set);
    return MCPX_OK;
}

enum mcpx_err mx_matcher_new(struct mcpx_capset *set, struct mx_matcher **out)
{
    struct mx_matcher *matcher = calloc(1, sizeof *matcher);
    enum mcpx_err err = MCPX_ENOMEM;

    if (!matcher)
        return err;
    for (size_t i = 0; i < set->grant_count; i++)
        matcher->rule6 |= set->patterns[i].context_stars;
    matcher->memory = pcre2_general_context_create(take_memory, give_memory, NULL);
    if (matcher->memory)
        err = build(matcher, set);
    if (!err)
        err = make_room(matcher, set);
    if (err) {
        mx_matcher_free(matcher);
        return err;
    }
    if (set->grant_count + set->deny_count >= DECISIONS_PATTERNS_MIN)
        set->decisions = mx_decisions_owner();
    *out = matcher;
    return MCPX_OK;
}

void mx_matcher_free(struct mx_matcher *matcher)
{
    if (!matcher)
        return;
    pcre2_code_free(matcher->code);
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->context);
    pcre2_general_context_free(matcher->memory);
    free(matcher);
}

/* Matches. Returns PCRE2's code: positive for yes; only PCRE2_ERROR_NOMATCH is a certain no. */
static int match(struct mcpx_capset *set, const struct mcpx_kind *kind)
{
    const struct mx_matcher *matcher = set->matcher;

    if (!matcher->code || (matcher->rule6 && mcpx_kind_has_dot_segment(kind)))
        return !denied_by(set, kind).text && granted_by(set, set->question).text
                   ? 1
                   : PCRE2_ERROR_NOMATCH;
    return pcre2_jit_match(matcher->code, (PCRE2_SPTR)kind->text.text, kind->text.len, 0, 0,
                           matcher->data, matcher->context);
}

/* A verdict is remembered if the next question about the kind cannot have another one. */
bool mcpx_capset_allows(struct mcpx_capset *set, const struct mcpx_question *question)
{
    const struct mcpx_kind *kind = question->kind;
    struct mx_decisions_slot *slot =
        set->decisions ? mx_decisions_slot(set->decisions, kind->text) : NULL;
    int rc;

    if (slot && mx_decisions_holds(slot, set->decisions, kind->text))
        return slot->verdict;
    if (mcpx_kind_is_reserved(kind)) /* rule 8 */
        return false;
    set->question = question;
    set->depends = false;
    rc = match(set, kind);
    if (slot && !set->depends && (rc > 0 || rc == PCRE2_ERROR_NOMATCH))
        mx_decisions_keep(slot, set->decisions, kind->text, rc > 0);
    return rc > 0;
}

/* ---- why ---- */

/* Texts lent by a decision. Not in the set: there are thousands of sets, one reader at a time. */
static _Thread_local char would_allow[MCPX_KIND_MAX];
static _Thread_local char alternative[MCPX_KIND_MAX];

const char *mcpx_refusal_wire(enum mcpx_refusal refusal)
{
    static const char *const wire[] = {
        "allowed",       "no_matching_grant",  "denied",
        "grant_expired", "target_not_allowed", "reserved_namespace"};

    return (size_t)refusal < sizeof wire / sizeof *wire ? wire[refusal] : "";
}

/* The first grant that would allow a refused kind but for its target, else but for its expiry.
 * Grants without conditions, or with conditions met, cannot be the reason and cost no walk. */
static void find_missed(const struct mcpx_capset *set, const struct mcpx_question *question,
                        struct mcpx_decision *out)
{
    bool dotted = mcpx_kind_has_dot_segment(question->kind);

    out->refusal = MCPX_NO_MATCHING_GRANT;
    for (size_t i = 0; i < set->grant_count && out->refusal != MCPX_TARGET_NOT_ALLOWED; i++) {
        enum mcpx_refusal refusal = mx_grant_condition(&set->grants[i], question);

        if (refusal == MCPX_ALLOWED || refusal == out->refusal ||
            !mx_pattern_covers(&set->patterns[i], question->kind, dotted))
            continue;
        out->refusal = refusal;
        out->grant = mx_capset_pattern(set, i);
    }
}

static struct mcpx_slice find_nearest(const struct mcpx_capset *set,
                                      const struct mcpx_kind *kind)
{
    struct mcpx_slice nearest = {NULL, 0};
    size_t longest = 0;

    for (size_t i = 0; i < set->grant_count; i++) {
        size_t agreement = mx_pattern_agreement(&set->patterns[i], kind);

        if (!nearest.text || agreement > longest) {
            nearest = mx_capset_pattern(set, i);
            longest = agreement;
        }
    }
    return nearest;
}

/* The kind itself. A "*" in it is a star in the pattern, which covers it too; but not where the
 * context is dotted (rule 6), there only all contexts of the method will do. */
static struct mcpx_slice write_would_allow(const struct mcpx_kind *kind)
{
    struct mcpx_slice text = kind->text;

    memcpy(would_allow, text.text, text.len);
    if (kind->context.len > 0 && memchr(kind->context.text, '*', kind->context.len) &&
        mcpx_kind_has_dot_segment(kind)) {
        text.len -= kind->context.len;
        would_allow[text.len++] = '*';
    }
    return (struct mcpx_slice){would_allow, text.len};
}

static struct mcpx_slice write_alternative(struct mcpx_capset *set,
                                           const struct mcpx_question *question)
{
    static const struct mcpx_slice absent = {NULL, 0};
    const struct mcpx_slice request = MCPX_SLICE("mcp/request");
    const struct mcpx_slice proposal = MCPX_SLICE("mcp/proposal");
    const struct mcpx_kind *kind = question->kind;
    struct mcpx_question instead = *question;
    struct mcpx_kind other;
    size_t rest = kind->text.len - kind->type.len;

    if (!mcpx_slice_equal(kind->type, request) || proposal.len + rest > MCPX_KIND_MAX)
        return absent;
    memcpy(alternative, proposal.text, proposal.len);
    memcpy(alternative + proposal.len, kind->type.text + kind->type.len, rest);
    if (mcpx_kind_parse((struct mcpx_slice){alternative, proposal.len + rest}, &other, NULL))
        return absent;
    instead.kind = &other;
    return mcpx_capset_allows(set, &instead) ? other.text : absent;
}

void mcpx_capset_explain(struct mcpx_capset *set, const struct mcpx_question *question,
                         struct mcpx_decision *out)
{
    *out = (struct mcpx_decision){.nearest = find_nearest(set, question->kind)};
    if (mcpx_capset_allows(set, question)) {
        out->grant = granted_by(set, question);
        return;
    }
    if (mcpx_kind_is_reserved(question->kind)) {
        out->refusal = MCPX_RESERVED_NAMESPACE;
        return;
    }
    out->grant = denied_by(set, question->kind);
    if (out->grant.text)
        out->refusal = MCPX_DENIED; /* and no grant helps against that */
    else
        find_missed(set, question, out);
    if (out->refusal != MCPX_DENIED)
        out->would_allow = write_would_allow(question->kind);
    out->alternative = write_alternative(set, question);
}
