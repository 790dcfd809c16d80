/*
 * debt.h - what participants that left still owe to their rates, so that a new connection is no
 * way round them. Includes ratelimit.h, list.h.
 */
#ifndef HUB_DEBT_H
#define HUB_DEBT_H

#include "router/hub/list.h"
#include "router/hub/ratelimit.h"

/** The buckets of one participant in one topic. Protocol: section 8. */
struct rates {
    struct bucket messages;
    struct bucket bytes;
    struct bucket refusals;
};

/** Debts remembered per topic; the oldest is forgiven first. */
enum { DEBTS_MAX = 1024 };

/** The debts of one topic, oldest first. */
struct debts {
    struct link list;
    size_t count;
};

/** Prepares an empty list. */
void debts_init(struct debts *debts);

/** Forgives everybody. */
void debts_fini(struct debts *debts);

/** Remembers a participant's rates if any bucket is not full. Forgets it if memory runs out. */
void debts_note(struct debts *debts, struct mcpx_slice participant, const struct rates *rates,
                struct mcpx_now now);

/** Moves what is remembered of a participant into `rates`; leaves them alone if nothing is. */
void debts_collect(struct debts *debts, struct mcpx_slice participant, struct rates *rates);

/** Forgets everybody who owes nothing any more. */
void debts_expire(struct debts *debts, struct mcpx_now now);

#endif
