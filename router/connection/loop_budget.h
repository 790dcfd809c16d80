/*
 * loop_budget.h - budgets of a loop iteration: input beyond its owner's budget waits for the next
 * iteration.
 */
#ifndef EDGE_LOOP_BUDGET_H
#define EDGE_LOOP_BUDGET_H

#include "router/connection/connection.h"

/**
 * Budgets of one loop iteration. The unit is the cost of a short message, some microseconds.
 *
 * LOOP_BUDGET             of a participant, for all its connections together
 * LOOP_BUDGET_OTHERS_NS   time for all connections without a participant in the hub: HTTP requests,
 *                         handshakes, connections that leave. Work that begins before it is used
 *                         up is done; as much again goes to accepting connections
 * LOOP_BUDGET_RECORDS     number of TLS records of any size that cost as much as a short message
 * LOOP_BUDGET_BYTES       bytes of a message or an answer that cost as much as a short message
 */
enum {
    LOOP_BUDGET = 256,
    LOOP_BUDGET_OTHERS_NS = 1000000,
    LOOP_BUDGET_RECORDS = 4,
    LOOP_BUDGET_BYTES = 4096
};

/**
 * False for a held connection, and when its participant has used up LOOP_BUDGET. Without a
 * participant, or in LEAVING, false also when LOOP_BUDGET_OTHERS_NS is used up. The budgets do not
 * count once DEFERRED_MAX is reached: input is then used at once.
 */
bool loop_budget_permits(struct connection *connection);

/** Takes `cost` from a participant's budget, which may become negative. */
void loop_budget_spend(struct connection *connection, uint64_t cost);

/**
 * Takes the time since `began_ns` (clock_ns) from LOOP_BUDGET_OTHERS_NS, if the connection was
 * without a participant then (`had_no_peer`), or is now.
 */
void loop_budget_spend_time(const struct connection *connection, bool had_no_peer,
                            uint64_t began_ns);

/**
 * Keeps a copy of unused input. The connection is not read until loop_budget_take has returned all
 * of it. Returns false when memory has run out, or when the connection is held and DEFERRED_MAX is
 * reached; the caller disconnects it.
 */
bool loop_budget_defer(struct connection *connection, const char *bytes, size_t len);

/** Returns the deferred bytes, now the caller's. */
struct mcpx_text loop_budget_take(struct connection *connection);

/** Discards the deferred bytes. */
void loop_budget_drop(struct connection *connection);

/**
 * Resumes reading. A connection with deferred bytes joins edge->waiting; those come first. Nothing
 * happens while its socket is full, while it is held, or to a member while edge->reads_paused.
 */
void loop_budget_resume(struct connection *connection);

/** Pauses or resumes reading of all members. */
void loop_budget_pause_reads(struct edge *edge, bool reads_paused);

/** Reads nothing from the connection until loop_budget_release; bytes read before are deferred. */
void loop_budget_hold(struct connection *connection);

/** Ends loop_budget_hold. A former member may then be read in spite of edge->reads_paused. */
void loop_budget_release(struct connection *connection);

/*
 * Connections that wait for the hub: for a topic to be opened, for a join or leave to be stored; or
 * for a reload. They are not read meanwhile, and delay no other connection.
 */

/** The wait of a connection; each has one at most. */
struct waiter {
    struct link link;
    struct connection *connection;
    int64_t due_ms; /* mono_ms at which the wait ends */
    /* Asks the hub again. `late`: the wait must end. Returns false when it waits on; else the
     * waiter has been removed. */
    bool (*ask)(struct waiter *waiter, bool late);
    struct grant *grant;   /* of a participant that waits for a topic; owned */
    struct mcpx_text text; /* the topic, or the text of `admission`; owned */
    struct admission admission;
    bool is_pending; /* a pending connection: it waits to join, as `admission` says */
    uint64_t reload; /* the number of the awaited reload */
};

/**
 * The connection waits from now on, at most open_ms: it is held (loop_budget_hold). The hub is
 * asked again when hub_waits has changed, and once a second.
 *
 * what   `ask` and its data; copied, and its owned members are moved
 *
 * Returns false, with nothing moved, when memory runs out.
 */
bool waiters_add(struct connection *connection, const struct waiter *what);

/** Ends the connection's wait, if there is one: its waiter is freed. It stays held. */
void waiters_remove(struct connection *connection);

/** Makes all waiters due, because some of them may go on. */
void waiters_ask_all(struct edge *edge);

/** Asks some of the due waiters. Returns true when a wait has ended. */
bool waiters_turn(struct edge *edge);

/** True while waiters are due. */
static inline bool waiters_have_turn(const struct edge *edge)
{
    return edge->waiters.asking > 0 ||
           (edge->waiters.count > 0 && hub_waits(edge->hub) != edge->waiters.waits);
}

/** Asks all waiters for the last time. */
void waiters_end_all(struct edge *edge);

#endif
