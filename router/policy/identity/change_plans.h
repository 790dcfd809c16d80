/*
 * change_plans.h - an administrator's plan for runtime grants, runtime denials and bans: its
 * permission, its result, the connections it affects. Protocol: section 8.
 */
#ifndef POLICY_CHANGE_PLANS_H
#define POLICY_CHANGE_PLANS_H

#include "router/hub/hub.h"
#include "router/policy/grants/changes.h"
#include "router/policy/identity/tokens.h"

/** Sources of grants: the configuration, the connections, and the changes. Borrowed. */
struct realm {
    struct hub *hub;
    struct tokens *tokens;
    struct changes *changes;
};

/** The participant and topic of a change, its administrator, its time. */
struct change_act {
    struct mcpx_slice identity, topic, by;
    int64_t wall_ms;
};

/**
 * A planned change. `remove` comes before `add`. All is borrowed.
 *
 * add, remove   grants, and patterns, all valid
 */
struct change_plan {
    struct change_act act;
    int64_t until_ms; /* wall clock when all of it ends; 0 = not given */
    /* Bans until `until_ms`, in place of an earlier ban; a past instant lifts the ban. The members
     * below are ignored. */
    bool bans;
    const struct mcpx_grant *add;
    size_t add_count;
    const struct mcpx_slice *remove;
    size_t remove_count;
    int64_t longest_ms;              /* longest life of a grant from its start; 0 = no limit */
    const struct mcpx_capset *giver; /* the administrator's set in the topic */
    const struct mcpx_capset *base;  /* the set of the participant's credential */
};

/**
 * Drafts the changes for a participant, without making them. An added grant lasts until `until_ms`
 * or its own end, whichever is earlier; without both, as long as it may. A denial is lifted by
 * adding its very pattern without `to` and end. If the base does not give the pattern and the
 * caller may, it is then granted, too.
 *
 * why   on a refusal the reason is appended
 * out   filled with a draft the caller owns, for change_list_free. It borrows from the plan and the
 *       table
 *
 * Returns MCPX_OK; with `why` MCPX_EREQUEST (a past end), MCPX_ECAPABILITY (an end too far away, a
 * denied pattern, a grant beyond the caller's), MCPX_ENOTFOUND (no ban to lift), MCPX_ESHARE and
 * MCPX_EFULL (CHANGES_OWN and CHANGES_EACH, CHANGES_MAX); MCPX_ENOMEM.
 */
enum mcpx_err change_plans_draft(const struct changes *changes, const struct change_plan *plan,
                                 struct mcpx_text *why, struct change_list **out);

/**
 * The participant to be changed. `known`: configured, connected, or with changes in the topic;
 * `guarded`: has all of `admin/`.
 */
struct change_target {
    bool known, guarded;
};

/** Examines the entry, the changes and all connections of a participant, once each. */
struct change_target change_plans_target(const struct realm *realm,
                                         const struct change_act *act);

/**
 * May the holder of this set change a participant at all? Returns NULL, or why not: a guarded or
 * unknown participant can only be changed by a holder of all of `admin/`.
 */
const char *change_plans_refuse(const struct mcpx_capset *own, struct change_target target,
                                int64_t wall_ms);

/** The result of a plan; free it with change_result_fini. */
struct change_result {
    struct grant *before, *after; /* the participant's grant in the topic */
    struct change_list *draft;    /* its changes, for changes_commit */
    bool known; /* its credential's grant is known; else it is taken as empty */
};

/**
 * Checks the caller's permission and works out the result. Changes nothing.
 *
 * plan   all but `base` is given
 * out    zeroed
 *
 * Returns what change_plans_draft does, with `why`; MCPX_ECAPABILITY by change_plans_refuse;
 * MCPX_ENOTFOUND when by the configuration the participant may not join the topic, and has no
 * changes there; MCPX_ELIMIT when its grants would exceed a set.
 */
enum mcpx_err change_plans_decide(const struct realm *realm, const struct change_plan *plan,
                                  struct change_result *out, struct mcpx_text *why);

/** Frees what is in it. */
void change_result_fini(struct change_result *result);

/**
 * Walks the peers of a participant, in one topic or, when it is absent, in all: NULL begins, and
 * ends. Disconnected peers are skipped.
 */
struct peer *change_plans_next_peer(struct hub *hub, struct mcpx_slice identity,
                                    struct mcpx_slice topic, const struct peer *peer);

/**
 * Lays the changes over the base grant of each connection of a participant to a topic. They take
 * effect for the very next message. When memory runs out, the connection is closed; it can
 * reconnect with the right grants. Returns the number of connections.
 */
size_t change_plans_update_grants(const struct realm *realm, struct mcpx_slice identity,
                                  struct mcpx_slice topic, struct mcpx_now now);

/**
 * Does the same for participants with an ended denial: a limited number per call; more remain while
 * `to_look` of the changes is not 0. Cheap when there are none.
 */
void change_plans_tick(const struct realm *realm, struct mcpx_now now);

#endif
