/*
 * waiters.h - connections that wait for the hub: for a topic to be opened, for a join or leave to
 * be stored. Nothing is read from them meanwhile, and nobody else waits for them.
 */
#ifndef EDGE_WAITERS_H
#define EDGE_WAITERS_H

#include "router/edge/connection.h"

/**
 * One of them, part of what its owner keeps about it. Of a connection there is one at most.
 *
 * due_ms   mono_ms from which it waits no longer
 * ask      asks the hub again. `late`: it waits no longer. Returns false when it waits on; else the
 *          waiter has been ended, and may be freed
 * end      the connection waits no longer: frees what the owner keeps
 */
struct waiter {
    struct link link;
    struct connection *connection;
    int64_t due_ms;
    bool (*ask)(struct waiter *waiter, bool late);
    void (*end)(struct waiter *waiter);
};

/** Prepares an empty list. */
void waiters_init(struct waiters *waiters);

/**
 * The connection waits from now on, at most open_ms: it is held (turn_hold), and asked again when
 * hub_waits has changed, and once a second. `ask` and `end` are filled in by the caller.
 */
void waiters_add(struct connection *connection, struct waiter *waiter);

/** The connection waits no longer, if it did: its waiter is ended. It stays held. */
void waiters_remove(struct connection *connection);

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
