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
 * LOOP_BUDGET_RECORDS     so many TLS records cost as much as a short message, whatever they hold
 * LOOP_BUDGET_BYTES       so many bytes of a message or an answer cost as much as a short message
 */
enum {
    LOOP_BUDGET = 256,
    LOOP_BUDGET_OTHERS_NS = 1000000,
    LOOP_BUDGET_RECORDS = 4,
    LOOP_BUDGET_BYTES = 4096
};

/**
 * True while the share of who is behind the connection is not used up, nor LOOP_BUDGET_OTHERS_NS
 * where it is leaving, and it is not held. True as well when DEFERRED_MAX is reached: what is read
 * is then used up at once.
 */
bool loop_budget_permits(struct connection *connection);

/** Takes `cost` from a participant's budget, which may become negative. */
void loop_budget_spend(struct connection *connection, uint64_t cost);

/**
 * Takes the time since `began_ns` (clock_ns) from LOOP_BUDGET_OTHERS_NS, if the connection was a
 * stranger's then, or is one's now.
 */
void loop_budget_spend_time(const struct connection *connection, bool was_stranger,
                            uint64_t began_ns);

/**
 * Keeps a copy of bytes that were read and not used. Nothing more is read from the connection until
 * loop_budget_take has returned all of them. False when memory has run out, or when the connection
 * is held and all connections together defer DEFERRED_MAX bytes; the caller disconnects it.
 */
bool loop_budget_defer(struct connection *connection, const char *bytes, size_t len);

/** Gives what was deferred. */
struct mcpx_text loop_budget_take(struct connection *connection);

/** Discards the deferred bytes. */
void loop_budget_drop(struct connection *connection);

/**
 * The connection may be read again, what was deferred first, when it is its turn: it joins
 * edge->waiting. While its socket is full, or it is held, or edge->reads_paused, nothing happens.
 */
void loop_budget_resume(struct connection *connection);

/** Members are read no longer, or again. */
void loop_budget_pause_reads(struct edge *edge, bool reads_paused);

/** Reads nothing from the connection until loop_budget_release; bytes read before are deferred. */
void loop_budget_hold(struct connection *connection);

/** Ends loop_budget_hold, or being a member of edge->reads_paused. Harmless when neither was so. */
void loop_budget_release(struct connection *connection);

/*
 * Connections that wait for the hub: for a topic to be opened, for a join or leave to be stored; or
 * for a reload. Nothing is read from them meanwhile, and nobody else waits for them.
 */

/** One of them. Of a connection there is one at most. */
struct waiter {
    struct link link;
    struct connection *connection;
    int64_t due_ms; /* mono_ms from which it waits no longer */
    /* Asks the hub again. `late`: it waits no longer. Returns false when it waits on; else the
     * waiter has been removed. */
    bool (*ask)(struct waiter *waiter, bool late);
    struct grant *grant;   /* of whoever waits for a topic; owned */
    struct mcpx_text text; /* the topic, or what `admission` borrows from; owned */
    struct admission admission;
    bool
        is_guest; /* it waits to join, as `admission` says, and counts as a pending connection */
    uint64_t reload; /* the number of the reload that is waited for */
};

/**
 * The connection waits from now on, at most open_ms: it is held (loop_budget_hold), and asked again
 * when hub_waits has changed, and once a second.
 *
 * what   `ask`, and what that needs: copied, and what it owns is taken
 *
 * False, with nothing taken, when memory runs out.
 */
bool waiters_add(struct connection *connection, const struct waiter *what);

/** The connection waits no longer, if it did: its waiter is freed. It stays held. */
void waiters_remove(struct connection *connection);

/** Asks all waiting ones again, because something that some wait for has ended. */
void waiters_ask_all(struct edge *edge);

/** Asks some of those whose turn it is. True when anybody has stopped waiting. */
bool waiters_turn(struct edge *edge);

/** Are there some left whose turn it is? */
static inline bool waiters_have_turn(const struct edge *edge)
{
    return edge->waiters.asking > 0 ||
           (edge->waiters.count > 0 && hub_waits(edge->hub) != edge->waiters.waits);
}

/** Asks all of them for the last time. */
void waiters_end_all(struct edge *edge);

#endif
