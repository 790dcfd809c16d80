/*
 * changes.h - changes: runtime grants, runtime denials and bans, by participant and topic. They are
 * applied to a credential's grant, live in memory and end with the process. Protocol: section 8.
 */
#ifndef POLICY_CHANGES_H
#define POLICY_CHANGES_H

#include "lib/base/holders.h"
#include "lib/protocol/capset.h"
#include "router/policy/grants/grant.h"

/**
 * Bounds. A change counts once for each KiB of its memory, and at least once.
 *
 * CHANGES_OWN                     of one administrator
 * CHANGES_MAX                     of all
 * CHANGES_EACH, CHANGES_EACH_TEXT grants of one participant in one topic, and bytes of their
 *                                 patterns; as many denials. Half of a set has room for all of them
 * CHANGES_SETS                    sets kept for the next user: each may take some megabytes
 */
enum {
    CHANGES_OWN = 2048,
    CHANGES_MAX = 16384,
    CHANGES_EACH = 128,
    CHANGES_EACH_TEXT = 16384,
    CHANGES_SETS = 64
};

/** A runtime grant, a runtime denial, a ban from the topic. */
enum change_sort { CHANGE_GRANT, CHANGE_DENIAL, CHANGE_BAN };

/** One change. */
struct change {
    enum change_sort sort;
    /* Its pattern, empty for CHANGE_BAN; `to` of a grant; `expires_ms`: its end, 0 = as long as the
     * router runs. */
    struct mcpx_grant grant;
    /* The grant's pattern, parsed, because it is compared with every other one. */
    struct mx_pattern pattern;
    struct mcpx_slice by; /* its administrator */
    int64_t first_ms;     /* wall clock: this very grant holds since then without a gap */
    int64_t made_ms;      /* wall clock when it was made, or made longer */
    uint64_t amount;      /* its amount for the bounds above */
};

/** Its memory in bytes. */
size_t change_size(const struct change *change);

/** Does it hold at this instant? */
static inline bool change_holds(const struct change *change, int64_t wall_ms)
{
    return mx_grant_holds(&change->grant, wall_ms);
}

/** The changes for one participant in one topic: one block of memory, the sets apart. */
struct change_list {
    struct mcpx_slice identity, topic;
    struct change *rows;
    size_t count;
    /* A bit for each of the first 64 grants added by the last plan: it lifted a denial. */
    uint64_t lifted;
    /* The base and the set of the last compilation. */
    struct mcpx_capset *base_set, *set;
    int64_t good_until; /* wall clock up to which it is good; 0 = for ever */
};

/**
 * All changes. Only changes.c writes it, except the figures.
 *
 * all, count     the changes by participant and topic, in no order; `room`: allocated rows
 */
struct changes {
    struct change_list **all;
    size_t count, room;
    struct mx_map places;     /* 1 + index in `all`, by participant and topic */
    struct mx_holders makers; /* amounts by administrator; `held` is the total */
    int64_t next_end_ms;      /* no change ends earlier; INT64_MAX = none ends */
    size_t to_look;           /* number of first ones that changes_tick has yet to examine */
    size_t sets;              /* sets compiled since all were released */
    /* Figures: patterns granted and denied, requests to remove a participant. */
    uint64_t granted, revoked, kicked;
};

/** Makes an empty table. Returns NULL when memory runs out. */
struct changes *changes_new(void);

/** Frees it. NULL is allowed. */
void changes_free(struct changes *changes);

/** The changes for a participant in a topic, or NULL. Lent until the table changes. */
struct change_list *changes_find(const struct changes *changes, struct mcpx_slice identity,
                                 struct mcpx_slice topic);

/** The index of the change with this very pattern and addressees; `count` = there is none. */
size_t change_list_find(const struct change_list *list, enum change_sort sort,
                        const struct mcpx_grant *grant);

/** The same change while it holds now; NULL otherwise, and for `list` NULL. */
const struct change *change_list_active(const struct change_list *list, enum change_sort sort,
                                        const struct mcpx_grant *grant, int64_t wall_ms);

/** An active denial that covers the whole pattern; NULL when there is none. */
const struct change *change_list_denial(const struct change_list *list,
                                        const struct mx_pattern *pattern, int64_t wall_ms);

/** The end of a participant's ban; 0 = it is not banned. `list` NULL = no changes. */
int64_t change_list_banned_until(const struct change_list *list, int64_t wall_ms);

/**
 * Applies one participant's changes, or a draft of them, to its grant.
 *
 * list      NULL = there are none
 * base      the grant of its credential; a grant made here counts as its own base
 * out       filled with a reference the caller owns: the base itself without changes
 *
 * Returns MCPX_OK; MCPX_ENOMEM; MCPX_ELIMIT when both together exceed a set.
 */
enum mcpx_err change_list_apply(struct changes *changes, struct change_list *list,
                                struct grant *base, int64_t wall_ms, struct grant **out);

/**
 * May a grant's participant join a topic? Applies its changes to the grant, again if that was done
 * before.
 *
 * grant   replaced; stays the caller's
 *
 * Returns MCPX_OK; MCPX_EKICKED during a ban; MCPX_EFULL when the grant and the changes exceed a
 * set; MCPX_ENOMEM. On errors the grant is untouched.
 */
enum mcpx_err changes_admit(struct changes *changes, struct mcpx_slice topic, int64_t wall_ms,
                            struct grant **grant);

/**
 * May the draft replace what is kept? `by` is the administrator of its new changes.
 *
 * Returns MCPX_OK; with `why` MCPX_ESHARE (CHANGES_EACH, CHANGES_OWN), MCPX_EFULL (CHANGES_MAX).
 */
enum mcpx_err changes_check_room(const struct changes *changes,
                                 const struct change_list *draft, struct mcpx_slice by,
                                 struct mcpx_text *why);

/**
 * Makes a copy of the draft active. The draft stays the caller's and can only be freed then.
 * Returns MCPX_OK; MCPX_ENOMEM: nothing has changed.
 */
enum mcpx_err changes_commit(struct changes *changes, struct change_list *draft);

/** Frees a draft. NULL is allowed. */
void change_list_free(struct change_list *list);

/** Drops the change at an index. */
void change_list_drop(struct change_list *list, size_t index);

/**
 * Drops ended changes. To be called about once a second until it returns NULL; the caller may pause
 * in between (`to_look` is not 0 then).
 *
 * Returns the changes of a participant with a denial that has ended; lent until the next call.
 */
const struct change_list *changes_tick(struct changes *changes, int64_t wall_ms);

#endif
