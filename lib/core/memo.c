/*
 * memo.c - one table of 512 verdicts, 64 KiB, for each thread that decides, whatever number of
 * sets there is: kinds repeat, those who send are few at any moment, and a router may hold ten
 * thousand sets, of which a table each would cost more than all the rest of them. It is never
 * cleared: an owner's number is never given twice, so what a freed set left behind answers to
 * nobody.
 */
#include "lib/core/memo.h"

#include "lib/core/plain.h"

#include <stdatomic.h>

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
