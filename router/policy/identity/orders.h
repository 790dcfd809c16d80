/*
 * orders.h - what an administrator asks for while the router runs: may they, what becomes of it,
 * and whom it reaches. Protocol: section 8.
 */
#ifndef POLICY_ORDERS_H
#define POLICY_ORDERS_H

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
struct standing {
    bool known, guarded;
};

/** Looks at the entry, the changes and all connections of a participant, once each. */
struct standing orders_standing(const struct realm *realm, const struct change_act *act);

/**
 * May somebody with this set change a participant at all? Returns NULL, or why not: who is guarded,
 * or not known, can only be changed by who has `admin/` as a whole.
 */
const char *orders_refuse(const struct mcpx_capset *own, struct standing standing,
                          int64_t wall_ms);

/** What becomes of an order; free it with outcome_fini. */
struct outcome {
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
 * Returns what changes_draft does, with `why`; MCPX_ECAPABILITY by orders_refuse; MCPX_ENOTFOUND
 * when by the configuration the participant may not join the topic, and was not changed there;
 * MCPX_ELIMIT when it would have more than a set holds.
 */
enum mcpx_err orders_decide(const struct realm *realm, const struct change_order *order,
                            struct outcome *out, struct mcpx_text *why);

/** Frees what is in it. */
void outcome_fini(struct outcome *outcome);

/**
 * Walks the peers of a participant, in one topic or, when it is absent, in all: NULL begins, and
 * ends. Those that are condemned are passed over.
 */
struct peer *orders_next_peer(struct hub *hub, struct mcpx_slice identity,
                              struct mcpx_slice topic, const struct peer *peer);

/**
 * Lays the changes over what each connection of a participant to a topic came with. It is in force
 * for the very next message. Where memory is missing for that, the connection is closed: it comes
 * back with the right grants. Returns how many connections there are.
 */
size_t orders_regrant(const struct realm *realm, struct mcpx_slice identity,
                      struct mcpx_slice topic, struct mcpx_now now);

/**
 * Likewise where a denial has ended: for some, and for others in the next turn, while `to_look` of
 * the changes is not 0. Cheap when none has.
 */
void orders_tick(const struct realm *realm, struct mcpx_now now);

#endif
