/*
 * loop_budget.c - each participant has one budget per loop iteration, because it may have hundreds
 * of connections. Rejected: a budget for each connection; more connections would mean more work in
 * an iteration.
 */
#include "router/connection/loop_budget.h"

#include <libwebsockets.h>
#include <stdlib.h>

bool loop_budget_permits(struct connection *connection)
{
    struct edge *edge = connection->edge;

    if (connection->held)
        return false;
    if (edge->deferred >= DEFERRED_MAX)
        return true;
    if (connection->peer && peer_turn_cost(connection->peer, edge->turn, 0) >= LOOP_BUDGET)
        return false;
    if (connection->peer && connection->state != LEAVING)
        return true;
    return edge->others_ns < LOOP_BUDGET_OTHERS_NS; /* many may leave at once */
}

void loop_budget_spend(struct connection *connection, uint64_t cost)
{
    if (connection->peer)
        (void)peer_turn_cost(connection->peer, connection->edge->turn, cost);
}

void loop_budget_spend_time(const struct connection *connection, bool had_no_peer,
                            uint64_t began_ns)
{
    if (had_no_peer || !connection->peer)
        connection->edge->others_ns += clock_ns() - began_ns;
}

static void count(struct connection *connection)
{
    connection->edge->deferred += connection->deferred.size - connection->deferred_counted;
    connection->deferred_counted = connection->deferred.size;
}

bool loop_budget_defer(struct connection *connection, const char *bytes, size_t len)
{
    if (connection->held && connection->edge->deferred >= DEFERRED_MAX)
        return false;
    mcpx_text_add(&connection->deferred, bytes, len);
    count(connection);
    if (connection->deferred.failed)
        return false;
    if (connection->full) /* it is not read anyway */
        return true;
    lws_rx_flow_control(connection->wsi, 0);
    loop_budget_resume(connection);
    return true;
}

struct mcpx_text loop_budget_take(struct connection *connection)
{
    struct mcpx_text deferred = connection->deferred;

    connection->deferred = (struct mcpx_text){0};
    count(connection);
    return deferred;
}

void loop_budget_drop(struct connection *connection)
{
    struct mcpx_text deferred = loop_budget_take(connection);

    mcpx_text_fini(&deferred);
    list_remove(&connection->in_waiting);
}

void loop_budget_resume(struct connection *connection)
{
    bool reads_paused = connection->edge->reads_paused && connection->state == MEMBER;

    if (connection->full || connection->held || reads_paused)
        return;
    if (connection->deferred.len == 0)
        lws_rx_flow_control(connection->wsi, 1);
    else if (list_is_empty(&connection->in_waiting))
        list_append(&connection->edge->waiting, &connection->in_waiting);
}

void loop_budget_pause_reads(struct edge *edge, bool reads_paused)
{
    if (edge->reads_paused == reads_paused)
        return;
    edge->reads_paused = reads_paused;
    LIST_EACH(link, &edge->all) {
        struct connection *connection = LIST_ELEMENT(link, struct connection, in_all);

        if (connection->state != MEMBER)
            continue;
        if (reads_paused) {
            list_remove(&connection->in_waiting);
            lws_rx_flow_control(connection->wsi, 0);
        } else {
            loop_budget_resume(connection);
        }
    }
}

void loop_budget_hold(struct connection *connection)
{
    connection->held = true;
    list_remove(&connection->in_waiting);
    lws_rx_flow_control(connection->wsi, 0);
}

void loop_budget_release(struct connection *connection)
{
    if (!connection->held && !connection->edge->reads_paused)
        return;
    connection->held = false;
    loop_budget_resume(connection);
}

/*
 * The hub reports only that some waiter may go on. So the router asks all of them, some in each
 * iteration; a waiter that must wait on goes to the end. Thousands of waiters for one topic cost a
 * question each, and thousands for as many topics delay no iteration.
 */

/* Waiters asked in an iteration: a question takes less than a microsecond, an admission some. */
enum { ASKED_PER_TURN = 256, ASK_AGAIN_MS = 1000 };

bool waiters_add(struct connection *connection, const struct waiter *what)
{
    struct edge *edge = connection->edge;
    struct waiter *waiter = malloc(sizeof *waiter);

    if (!waiter || (what->is_pending &&
                    !mx_holders_add(&edge->pending_connections, what->grant->identity, 1))) {
        free(waiter);
        return false;
    }
    *waiter = *what;
    waiter->connection = connection;
    waiter->due_ms = edge_now(edge).mono_ms + edge->config->hub.open_ms;
    connection->waiter = waiter;
    connection->deadline_ms = 0;
    list_append(&edge->waiters.all, &waiter->link);
    edge->waiters.count++;
    loop_budget_hold(connection);
    return true;
}

void waiters_remove(struct connection *connection)
{
    struct waiter *waiter = connection->waiter;

    if (!waiter)
        return;
    connection->waiter = NULL;
    list_remove(&waiter->link);
    connection->edge->waiters.count--;
    if (waiter->is_pending)
        mx_holders_remove(&connection->edge->pending_connections, waiter->grant->identity, 1);
    grant_unref(waiter->grant);
    mcpx_text_fini(&waiter->text);
    free(waiter);
}

void waiters_ask_all(struct edge *edge)
{
    edge->waiters.asking = edge->waiters.count;
}

/* Makes all waiters due when a wait in the hub has ended, or ASK_AGAIN_MS have passed. */
static void begin(struct edge *edge)
{
    struct waiters *waiters = &edge->waiters;
    int64_t mono_ms = edge_now(edge).mono_ms;
    uint64_t waits = hub_waits(edge->hub);

    if (waits != waiters->waits || mono_ms >= waiters->asked_ms + ASK_AGAIN_MS) {
        waiters->waits = waits;
        waiters->asked_ms = mono_ms;
        waiters_ask_all(edge);
    }
    if (waiters->asking > waiters->count)
        waiters->asking = waiters->count; /* a waiter has left */
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
