/*
 * capset.h - the inside of a grant set, shared by the code that keeps, matches and explains it;
 * verdicts on kinds, remembered for all sets of a thread together.
 */
#ifndef MX_CAPSET_H
#define MX_CAPSET_H

#include "lib/protocol/pattern.h"

/** The compiled half of a set; known to capability.c alone. */
struct mx_matcher;

/** A set. Everything it points to but the matcher lies in the same block of memory. */
struct mcpx_capset {
    unsigned refs;
    size_t grant_count;
    size_t deny_count;
    struct mcpx_grant *grants; /* as they were given, `grant_count` of them */
    /* The grants' patterns in the same order, then the denials'. */
    struct mx_pattern *patterns;
    struct mx_matcher *matcher;
    /* This set's number among those whose verdicts are remembered; 0 where asking again costs
     * no more than remembering. */
    uint64_t decisions;
    const struct mcpx_question *question; /* what is being asked; set while a match runs */
    bool depends; /* a grant's conditions were looked at during that match */
};

/** The pattern at `index`: those of the grants, then the denials. Lent until the set is freed. */
static inline struct mcpx_slice mx_capset_pattern(const struct mcpx_capset *set, size_t index)
{
    return set->patterns[index].parts.text;
}

/** The denial at `index` (0 .. deny_count-1), lent until the set is freed. */
static inline struct mcpx_slice mx_capset_denial(const struct mcpx_capset *set, size_t index)
{
    return mx_capset_pattern(set, set->grant_count + index);
}

/**
 * Was the set made from just these grants and denials, in this order? Same arguments as
 * mcpx_capset_new.
 */
bool mx_capset_is_of(const struct mcpx_capset *set, const struct mcpx_grant *grants,
                     size_t grant_count, const struct mcpx_slice *deny, size_t deny_count);

/** Were both made from the same grants and denials, in the same order? */
bool mx_capset_equals(const struct mcpx_capset *one, const struct mcpx_capset *other);

/** Does a grant hold at this instant, or has it expired? */
static inline bool mx_grant_holds(const struct mcpx_grant *grant, int64_t wall_ms)
{
    return grant->expires_ms == 0 || wall_ms < grant->expires_ms;
}

/** Have both the same addressees, in the same order? */
bool mx_grant_to_equals(const struct mcpx_grant *one, const struct mcpx_grant *other);

/** May a holder of `outer` address all that `inner` names? None named: everybody. */
bool mx_grant_to_covers(const struct mcpx_grant *outer, const struct mcpx_grant *inner);

/** Do both grant the same, to the same addressees, until the same instant? */
bool mx_grant_equals(const struct mcpx_grant *one, const struct mcpx_grant *other);

/**
 * Compiles the patterns of a set. `set` is kept (not counted) and must outlive the matcher. Returns
 * MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err mx_matcher_new(struct mcpx_capset *set, struct mx_matcher **out);

/** Frees a matcher. NULL is allowed. */
void mx_matcher_free(struct mx_matcher *matcher);

/**
 * Do a grant's conditions hold? Returns MCPX_ALLOWED, MCPX_GRANT_EXPIRED (which comes first) or
 * MCPX_TARGET_NOT_ALLOWED.
 */
enum mcpx_refusal mx_grant_condition(const struct mcpx_grant *grant,
                                     const struct mcpx_question *question);

/** Longest kind that is remembered; most are half as long. */
#define MX_DECISIONS_TEXT_MAX 118

/** A place for one verdict. Its contents are capability.c's. */
struct mx_decisions_slot {
    uint64_t owner; /* 0 = nothing is remembered here */
    unsigned char len;
    bool verdict;
    char text[MX_DECISIONS_TEXT_MAX];
};

/** A number never given to another owner in this process; not 0. Any thread. */
uint64_t mx_decisions_owner(void);

/**
 * The calling thread's place for this text; NULL when the text is too long to be remembered.
 * A new verdict replaces the one in its place; neither a sender's choice of kinds nor chance can
 * make one verdict pass for another.
 */
struct mx_decisions_slot *mx_decisions_slot(uint64_t owner, struct mcpx_slice text);

/** True when the slot holds the verdict on exactly this text, of exactly this owner. */
static inline bool mx_decisions_holds(const struct mx_decisions_slot *slot, uint64_t owner,
                                      struct mcpx_slice text)
{
    return slot->owner == owner && slot->len == text.len &&
           memcmp(slot->text, text.text, text.len) == 0;
}

/** Remembers a verdict at the place that mx_decisions_slot gave for it. */
void mx_decisions_keep(struct mx_decisions_slot *slot, uint64_t owner, struct mcpx_slice text,
                       bool verdict);

#endif
