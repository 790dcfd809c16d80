/*
 * change_plans.h - what an administrator asks for while the router runs: may they, what becomes of
 * it, and whom it reaches. Protocol: section 8.
 */
#ifndef POLICY_CHANGE_PLANS_H
#define POLICY_CHANGE_PLANS_H

#include "router/hub/hub.h"
#include "router/policy/grants/changes.h"
#include "router/policy/identity/tokens.h"

/** Where rights come from: the configuration, those who are connected, and changes. Borrowed. */
struct realm {
    struct hub *hub;
    struct tokens *tokens;
    struct changes *changes;
};

/**
 * Who is to be changed. `known`: configured, connected, or changed in the topic already;
 * `guarded`: has `admin/` as a whole.
 */
struct change_target {
    bool known, guarded;
};

/** Looks at the entry, the changes and all connections of a participant, once each. */
struct change_target change_plans_target(const struct realm *realm,
                                         const struct change_act *act);

/**
 * May somebody with this set change a participant at all? Returns NULL, or why not: who is guarded,
 * or not known, can only be changed by who has `admin/` as a whole.
 */
const char *change_plans_refuse(const struct mcpx_capset *own, struct change_target target,
                                int64_t wall_ms);

/** What becomes of an order; free it with change_result_fini. */
struct change_result {
    struct grant *before, *after; /* the participant's grant in the topic */
    struct changed *draft;        /* its changes, for changes_commit */
    bool known; /* what its credential gives is known; else nothing is assumed */
};

/**
 * May the caller order this, and what becomes of it? Changes nothing.
 *
 * order   `base` is found out; all else is given
 * out     zeroed
 *
 * Returns what changes_draft does, with `why`; MCPX_ECAPABILITY by change_plans_refuse;
 * MCPX_ENOTFOUND when by the configuration the participant may not join the topic, and was not
 * changed there; MCPX_ELIMIT when it would have more than a set holds.
 */
enum mcpx_err change_plans_decide(const struct realm *realm, const struct change_plan *order,
                                  struct change_result *out, struct mcpx_text *why);

/** Frees what is in it. */
void change_result_fini(struct change_result *outcome);

/**
 * Walks the peers of a participant, in one topic or, when it is absent, in all: NULL begins, and
 * ends. Those that are disconnected are passed over.
 */
struct peer *change_plans_next_peer(struct hub *hub, struct mcpx_slice identity,
                                    struct mcpx_slice topic, const struct peer *peer);

/**
 * Lays the changes over what each connection of a participant to a topic came with. It is in force
 * for the very next message. Where memory is missing for that, the connection is closed: it comes
 * back with the right grants. Returns how many connections there are.
 */
size_t change_plans_update_grants(const struct realm *realm, struct mcpx_slice identity,
                                  struct mcpx_slice topic, struct mcpx_now now);

/**
 * Likewise where a denial has ended: for some, and for others in the next turn, while `to_look` of
 * the changes is not 0. Cheap when none has.
 */
void change_plans_tick(const struct realm *realm, struct mcpx_now now);

#endif
