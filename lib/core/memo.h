/*
 * memo.h - verdicts on kinds, remembered for all grant sets of a thread together.
 */
#ifndef MX_MEMO_H
#define MX_MEMO_H

#include <mcpx/base.h>

/** Longest kind that is remembered; most are half as long. */
#define MX_MEMO_TEXT_MAX 118

/**
 * A place for one verdict. Its contents are memo.c's.
 *
 * owner   0 = nothing is remembered here
 */
struct mx_memo_slot {
    uint64_t owner;
    unsigned char len;
    bool verdict;
    char text[MX_MEMO_TEXT_MAX];
};

/** A number that no other owner in this process has had or will have; not 0. Any thread. */
uint64_t mx_memo_owner(void);

/**
 * The calling thread's place for this text; NULL when the text is too long to be remembered.
 * What else falls on the same place is forgotten when something is kept there, no more: neither
 * a sender's choice of kinds nor chance can make one verdict pass for another.
 */
struct mx_memo_slot *mx_memo_slot(uint64_t owner, struct mcpx_slice text);

/** True when the slot holds the verdict on exactly this text, of exactly this owner. */
static inline bool mx_memo_holds(const struct mx_memo_slot *slot, uint64_t owner,
                                 struct mcpx_slice text)
{
    return slot->owner == owner && slot->len == text.len &&
           memcmp(slot->text, text.text, text.len) == 0;
}

/** Remembers a verdict at the place that mx_memo_slot gave for it. */
void mx_memo_keep(struct mx_memo_slot *slot, uint64_t owner, struct mcpx_slice text,
                  bool verdict);

#endif
