/*
 * waiters.c - the hub does not say who may go on, only that somebody may: so all are asked, some of
 * them in each turn, and those who wait on stand last again. Thousands who wait for one topic cost
 * one question each when it is there, and thousands who wait for as many topics hold up no turn.
 */
#include "router/edge/waiters.h"

#include "router/edge/turn.h"

/* How many are asked in a turn; a question costs less than a microsecond, an admission some. */
enum { ASKED_PER_TURN = 256, ASK_AGAIN_MS = 1000 };

void waiters_init(struct waiters *waiters)
{
    *waiters = (struct waiters){.count = 0};
    list_init(&waiters->all);
}

void waiters_add(struct connection *connection, struct waiter *waiter)
{
    struct edge *edge = connection->edge;

    waiter->connection = connection;
    waiter->due_ms = edge_now(edge).mono_ms + edge->config->hub.open_ms;
    connection->waiter = waiter;
    connection->deadline_ms = 0;
    list_append(&edge->waiters.all, &waiter->link);
    edge->waiters.count++;
    turn_hold(connection);
}

void waiters_remove(struct connection *connection)
{
    struct waiter *waiter = connection->waiter;

    if (!waiter)
        return;
    connection->waiter = NULL;
    list_remove(&waiter->link);
    connection->edge->waiters.count--;
    waiter->end(waiter);
}

/* Whose turn is it? All of those who wait now, when anything has ended, or a second has passed. */
static void begin(struct edge *edge)
{
    struct waiters *waiters = &edge->waiters;
    int64_t mono_ms = edge_now(edge).mono_ms;
    uint64_t waits = hub_waits(edge->hub);

    if (waits != waiters->waits || mono_ms >= waiters->asked_ms + ASK_AGAIN_MS) {
        waiters->waits = waits;
        waiters->asked_ms = mono_ms;
        waiters->asking = waiters->count;
    }
    if (waiters->asking > waiters->count)
        waiters->asking = waiters->count; /* somebody has left */
}

static bool ask_first(struct edge *edge, bool late)
{
    struct waiter *waiter = LIST_ELEMENT(edge->waiters.all.next, struct waiter, link);

    list_remove(&waiter->link);
    list_append(&edge->waiters.all, &waiter->link);
    return waiter->ask(waiter, late || waiter->due_ms <= edge_now(edge).mono_ms);
}

bool waiters_turn(struct edge *edge)
{
    struct waiters *waiters = &edge->waiters;
    bool moved = false;

    begin(edge);
    for (int left = ASKED_PER_TURN; left > 0 && waiters->asking > 0; left--) {
        waiters->asking--;
        moved |= ask_first(edge, false);
    }
    return moved;
}

void waiters_end_all(struct edge *edge)
{
    while (!list_is_empty(&edge->waiters.all))
        (void)ask_first(edge, true);
    edge->waiters.asking = 0;
}
