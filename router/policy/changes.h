/*
 * changes.h - what was granted and taken away while the router runs, by participant and topic.
 * It lies over what a credential gives, lives in memory, and ends with the process.
 * Protocol: section 8.
 */
#ifndef POLICY_CHANGES_H
#define POLICY_CHANGES_H

#include "lib/core/capset.h"
#include "router/hub/grant.h"

/**
 * Bounds, of grants, of denials and of bars: so nobody can fill the table with grants to keep
 * theirs. Nobody has more of each than they leave for others. CHANGES_EACH and CHANGES_EACH_TEXT,
 * bytes of patterns, hold for one participant in one topic: half of a set has room for all of
 * them. CHANGES_SETS are kept for who needs them next: each may take some megabytes.
 */
enum {
    CHANGES_MAX = 4096,
    CHANGES_BYTES_MAX = 16 << 20,
    CHANGES_EACH = 128,
    CHANGES_EACH_TEXT = 16384,
    CHANGES_SETS = 64
};

/** CHANGE_GRANT gives, CHANGE_DENIAL takes away, CHANGE_BAR keeps out of the topic. */
enum change_sort { CHANGE_GRANT, CHANGE_DENIAL, CHANGE_BAR, CHANGE_SORTS };

/**
 * One change, immutable and counted.
 *
 * grant      its pattern, empty for CHANGE_BAR; `to` of a grant; `expires_ms`: until when it holds,
 *            0 = as long as the router runs. A grant that has ended is kept for a while, so that
 *            giving it again does not begin its time anew
 * pattern    that of the grant taken apart, since it is compared with every other one
 * by         who has made it
 * first_ms   wall clock since which it, or something of it, was given without ending for long
 * made_ms    wall clock when it was made, or made longer
 * size       bytes of memory
 */
struct change {
    unsigned refs;
    enum change_sort sort;
    struct mcpx_grant grant;
    struct mx_pattern pattern;
    struct mcpx_slice by;
    int64_t first_ms, made_ms;
    size_t size;
};

/** Does it hold at this instant? */
static inline bool change_holds(const struct change *change, int64_t wall_ms)
{
    return mx_grant_holds(&change->grant, wall_ms);
}

/**
 * The changes for one participant in one topic.
 *
 * list, count     the changes; `room` for so many
 * base_set, set   the set that was made last, and what it was made from
 * good_until      wall clock up to which it is good; 0 = for ever
 */
struct changed {
    struct mcpx_slice identity, topic;
    struct change **list;
    size_t count, room;
    struct mcpx_capset *base_set, *set;
    int64_t good_until;
};

/**
 * How many there were: patterns granted, taken away, participants removed; bytes of patterns of
 * which sets were made.
 */
struct changes_figures {
    uint64_t granted, revoked, kicked;
};

struct changes;

/** Makes an empty table. Returns NULL when memory runs out. */
struct changes *changes_new(void);

/** Frees it. NULL is allowed. */
void changes_free(struct changes *changes);

/** Counts what happened. Lent until the table is freed. */
struct changes_figures *changes_figures(struct changes *changes);

/** How many changes are kept, those that have ended included. */
size_t changes_count(const struct changes *changes);

/** The changes for a participant in a topic, or NULL. Lent until the table changes. */
struct changed *changes_find(const struct changes *changes, struct mcpx_slice identity,
                             struct mcpx_slice topic);

/** Walks all of them in no order: the one at `index`; NULL behind the last. Lent likewise. */
const struct changed *changes_at(const struct changes *changes, size_t index);

/**
 * Lays the changes for a grant's participant in a topic over the grant.
 *
 * base   what its credential gives; a grant made here is taken for its base
 * out    filled with a reference the caller owns: the base itself where nothing was changed
 *
 * Returns MCPX_OK; MCPX_ENOMEM; MCPX_ELIMIT when both together are too much for a set.
 */
enum mcpx_err changes_apply(struct changes *changes, struct grant *base,
                            struct mcpx_slice topic, int64_t wall_ms, struct grant **out);

/** Is the participant kept out of the topic? */
bool changes_bar(const struct changes *changes, struct mcpx_slice identity,
                 struct mcpx_slice topic, int64_t wall_ms);

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

/** Does one of its grants cover all that a pattern covers now? */
bool changed_gives(const struct changed *changed, struct mcpx_slice pattern, int64_t wall_ms);

/** An act: who is changed, where, by whom, when. `by_all`: they have admin/ as a whole. */
struct change_act {
    struct mcpx_slice identity, topic, by;
    int64_t wall_ms;
    bool by_all;
};

/**
 * What is to be changed. `remove` comes before `add`. All is borrowed.
 *
 * add, remove   grants, and patterns, that are valid
 * until_ms      wall clock when all of it ends; 0 = not given
 * longest_ms    how long a grant may last from when it was first given; 0 = no limit
 * base          what the participant's credential gives; NULL = not known
 * open          it may come with another credential, which gives more
 * lifts         nothing is granted: what is added only takes removals back
 */
struct change_order {
    struct change_act act;
    const struct mcpx_grant *add;
    size_t add_count;
    const struct mcpx_slice *remove;
    size_t remove_count;
    int64_t until_ms, longest_ms;
    const struct mcpx_capset *base;
    bool open, lifts;
};

/**
 * Works out what the changes for a participant would be, without making them. A grant that is added
 * lasts until `until_ms` or its own end; without both, as long as it may. What was removed is
 * removed no longer once the same pattern is added without `to` and end, by who has removed it or
 * has all rights; nothing is granted by that where the base gives it.
 *
 * why   on a refusal the reason is appended
 * out   filled with a draft the caller owns, for changes_commit or changed_free
 *
 * Returns MCPX_OK; MCPX_EREQUEST, MCPX_ECAPABILITY with `why` (an end that is past or too far away;
 * what is denied), MCPX_ESHARE with `why` (who makes the change would have more than they leave for
 * others); MCPX_ENOMEM.
 */
enum mcpx_err changes_draft(const struct changes *changes, const struct change_order *order,
                            struct mcpx_text *why, struct changed **out);

/**
 * Works out that a participant is kept out of a topic until an instant; one that is past ends that.
 * Each who keeps somebody out has a bar of their own there, and ends that alone; who has all rights
 * ends those of others, too. As changes_draft, and MCPX_ENOTFOUND when there is none to be ended,
 * MCPX_ECAPABILITY when there are only those of others.
 */
enum mcpx_err changes_draft_bar(const struct changes *changes, const struct change_act *act,
                                int64_t until_ms, struct mcpx_text *why, struct changed **out);

/** Is just this pattern taken away? NULL = there are no changes. */
bool changed_takes(const struct changed *changed, struct mcpx_slice pattern, int64_t wall_ms);

/** Until when a participant is kept out; 0 = it is not. NULL = there are no changes. */
int64_t changed_barred_until(const struct changed *changed, int64_t wall_ms);

/** changes_apply for one participant's changes, or a draft of them. NULL = there are none. */
enum mcpx_err changed_apply(struct changes *changes, struct changed *changed,
                            struct grant *base, int64_t wall_ms, struct grant **out);

/** The draft, which is taken, is in force. Returns MCPX_OK; MCPX_ENOMEM: nothing has changed. */
enum mcpx_err changes_commit(struct changes *changes, struct changed *draft);

/**
 * The index in `list` of the change of a sort with just this pattern and these addressees; `count`
 * when there is none. It does not look at ends. Of denials and bars each who makes one has their
 * own: `by` says whose is meant; absent = anybody's.
 */
size_t changed_find(const struct changed *changed, enum change_sort sort,
                    const struct mcpx_grant *grant, struct mcpx_slice by);

/** Frees a draft. NULL is allowed. */
void changed_free(struct changed *changed);

/**
 * Forgets what has ended. To be called about once a second until it returns NULL, or some times now
 * and some later: all are looked at once until it does.
 *
 * Returns somebody to whom a denial no longer applies, lent until the next call.
 */
const struct changed *changes_tick(struct changes *changes, int64_t wall_ms,
                                   int64_t longest_ms);

/** Are some still to be looked at by changes_tick? */
bool changes_are_looked_at(const struct changes *changes);

#endif
