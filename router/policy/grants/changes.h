/*
 * changes.h - what administrators grant and take away while the router runs, by participant and
 * topic. It is laid over what a credential gives, lives in memory, and ends with the process.
 * Protocol: section 8.
 */
#ifndef POLICY_CHANGES_H
#define POLICY_CHANGES_H

#include "lib/base/holders.h"
#include "lib/protocol/capset.h"
#include "router/policy/grants/grant.h"

/**
 * Bounds. A change counts once for each KiB of its memory, and at least once.
 *
 * CHANGES_OWN                     of one maker
 * CHANGES_MAX                     of all
 * CHANGES_EACH, CHANGES_EACH_TEXT grants of one participant in one topic, and bytes of their
 *                                 patterns; as many denials. Half of a set has room for all of them
 * CHANGES_SETS                    sets kept for who needs them next: each may take some megabytes
 */
enum {
    CHANGES_OWN = 2048,
    CHANGES_MAX = 16384,
    CHANGES_EACH = 128,
    CHANGES_EACH_TEXT = 16384,
    CHANGES_SETS = 64
};

/** CHANGE_GRANT gives, CHANGE_DENIAL takes away, CHANGE_BAR keeps out of the topic. */
enum change_sort { CHANGE_GRANT, CHANGE_DENIAL, CHANGE_BAR };

/** One change. */
struct change {
    enum change_sort sort;
    /* Its pattern, empty for CHANGE_BAR; `to` of a grant; `expires_ms`: until when it holds, 0
     * = as long as the router runs. */
    struct mcpx_grant grant;
    /* That of the grant taken apart, since it is compared with every other one. */
    struct mx_pattern pattern;
    struct mcpx_slice by; /* who has made it */
    int64_t first_ms;     /* wall clock since which just this grant holds without a gap */
    int64_t made_ms;      /* wall clock when it was made, or made longer */
    uint64_t amount;      /* what it counts */
};

/** Bytes that it takes. */
size_t change_size(const struct change *change);

/** Does it hold at this instant? */
static inline bool change_holds(const struct change *change, int64_t wall_ms)
{
    return mx_grant_holds(&change->grant, wall_ms);
}

/** The changes for one participant in one topic: one block of memory, the sets apart. */
struct changed {
    struct mcpx_slice identity, topic;
    struct change *list;
    size_t count;
    /* A bit for each of the first 64 grants that the last order added, those that took a denial
     * back. */
    uint64_t lifted;
    /* The set that was made last, and what it was made from. */
    struct mcpx_capset *base_set, *set;
    int64_t good_until; /* wall clock up to which it is good; 0 = for ever */
};

/**
 * All changes. Others than changes*.c only read it, but for the figures.
 *
 * all, count     the changes by participant and topic, in no order; `room` for so many
 */
struct changes {
    struct changed **all;
    size_t count, room;
    struct mx_map places;     /* 1 + index in `all`, by participant and topic */
    struct mx_holders makers; /* who has made how many; `held` are all */
    int64_t next_end_ms;      /* no change ends earlier; INT64_MAX = none ends */
    size_t to_look; /* so many of the first are still to be looked at by changes_tick */
    size_t sets;    /* so many were made since all were let go */
    /* Patterns given and taken away, requests to remove somebody. */
    uint64_t granted, revoked, kicked;
};

/** Makes an empty table. Returns NULL when memory runs out. */
struct changes *changes_new(void);

/** Frees it. NULL is allowed. */
void changes_free(struct changes *changes);

/** The changes for a participant in a topic, or NULL. Lent until the table changes. */
struct changed *changes_find(const struct changes *changes, struct mcpx_slice identity,
                             struct mcpx_slice topic);

/** The index of the change with just this pattern and these addressees; `count` = there is none. */
size_t changed_find(const struct changed *changed, enum change_sort sort,
                    const struct mcpx_grant *grant);

/** The same, where it holds now; else, and when there are no changes at all, NULL. */
const struct change *changed_held(const struct changed *changed, enum change_sort sort,
                                  const struct mcpx_grant *grant, int64_t wall_ms);

/** The denial that holds now and takes all that a pattern gives; NULL when there is none. */
const struct change *changed_denial(const struct changed *changed,
                                    const struct mx_pattern *pattern, int64_t wall_ms);

/** Until when a participant is kept out; 0 = it is not. NULL = there are no changes. */
int64_t changed_barred_until(const struct changed *changed, int64_t wall_ms);

/**
 * Lays one participant's changes, or a draft of them, over its grant.
 *
 * changed   NULL = there are none
 * base      what its credential gives; a grant made here is taken for its base
 * out       filled with a reference the caller owns: the base itself where nothing was changed
 *
 * Returns MCPX_OK; MCPX_ENOMEM; MCPX_ELIMIT when both together are too much for a set.
 */
enum mcpx_err changed_apply(struct changes *changes, struct changed *changed,
                            struct grant *base, int64_t wall_ms, struct grant **out);

/**
 * May a grant's participant be in a topic, and with what? Lays the changes over the grant, again if
 * that was done before.
 *
 * grant   replaced; stays the caller's
 *
 * Returns MCPX_OK; MCPX_EKICKED for who is kept out of the topic; MCPX_EFULL when there is too much
 * to be laid over it; MCPX_ENOMEM. Then the grant is untouched.
 */
enum mcpx_err changes_admit(struct changes *changes, struct mcpx_slice topic, int64_t wall_ms,
                            struct grant **grant);

/** An act: who is changed, where, by whom, when. */
struct change_act {
    struct mcpx_slice identity, topic, by;
    int64_t wall_ms;
};

/**
 * What is to be changed. `remove` comes before `add`. All is borrowed.
 *
 * add, remove   grants, and patterns, that are valid
 */
struct change_plan {
    struct change_act act;
    int64_t until_ms; /* wall clock when all of it ends; 0 = not given */
    /* Keeps out until `until_ms`, whatever was said before; an instant that is past ends that.
     * The members below are not looked at. */
    bool bars;
    const struct mcpx_grant *add;
    size_t add_count;
    const struct mcpx_slice *remove;
    size_t remove_count;
    int64_t longest_ms; /* how long a grant may last from its start; 0 = no limit */
    const struct mcpx_capset *giver; /* what the caller has in the topic */
    const struct mcpx_capset *base;  /* what the participant's credential gives */
};

/**
 * Works out what the changes for a participant would be, without making them. A grant that is added
 * lasts until `until_ms` or its own end; without both, as long as it may. A removal is taken back
 * when just its pattern is added without `to` and end; where the base does not give the pattern, it
 * is granted, too, if the caller may give it.
 *
 * why   on a refusal the reason is appended
 * out   filled with a draft the caller owns, for changed_free. It borrows from the order and the
 *       table
 *
 * Returns MCPX_OK; with `why` MCPX_EREQUEST (an end that is past), MCPX_ECAPABILITY (an end too far
 * away, what is denied, what the caller may not give), MCPX_ENOTFOUND (nobody is kept out),
 * MCPX_ESHARE and MCPX_EFULL (CHANGES_OWN and CHANGES_EACH, CHANGES_MAX); MCPX_ENOMEM.
 */
enum mcpx_err changes_draft(const struct changes *changes, const struct change_plan *order,
                            struct mcpx_text *why, struct changed **out);

/**
 * A copy of the draft is in force, and the draft, which stays the caller's, can only be freed.
 * Returns MCPX_OK; MCPX_ENOMEM: nothing has changed.
 */
enum mcpx_err changes_commit(struct changes *changes, struct changed *draft);

/** Frees a draft. NULL is allowed. */
void changed_free(struct changed *changed);

/** Leaves out the change at an index. */
void changed_drop(struct changed *changed, size_t index);

/**
 * Forgets what has ended. To be called about once a second until it returns NULL, or some times now
 * and some later (`to_look` is not 0 then).
 *
 * Returns somebody to whom a denial no longer applies, lent until the next call.
 */
const struct changed *changes_tick(struct changes *changes, int64_t wall_ms);

#endif
