/*
 * turn.c - libwebsockets reads as much as its buffer takes, which can be a thousand messages of
 * one connection, and one participant may have hundreds of connections. Smaller reads were refused:
 * large messages would pay for them. Shares of a connection were, too: who has many would have
 * many.
 * Includes turn.h, http_server.h, receive.h, libwebsockets.
 */
#include "router/edge/turn.h"
#include "router/edge/http_server.h"
#include "router/edge/receive.h"

#include <libwebsockets.h>

bool turn_permits(struct connection *connection)
{
    struct edge *edge = connection->edge;

    if (edge->resting >= TURN_REST_MAX)
        return true;
    if (connection->peer)
        return peer_turn_cost(connection->peer, edge->turn, 0) < TURN_SHARE;
    return edge->others_cost < TURN_OTHERS;
}

void turn_spend(struct connection *connection, uint64_t cost)
{
    struct edge *edge = connection->edge;

    if (connection->peer)
        (void)peer_turn_cost(connection->peer, edge->turn, cost);
    else
        edge->others_cost += cost;
}

static void count(struct connection *connection)
{
    connection->edge->resting += connection->rest.size - connection->rest_counted;
    connection->rest_counted = connection->rest.size;
}

void turn_drop(struct connection *connection)
{
    mcpx_text_fini(&connection->rest);
    count(connection);
    list_remove(&connection->in_waiting);
}

void turn_keep(struct connection *connection, const char *bytes, size_t len)
{
    mcpx_text_add(&connection->rest, bytes, len);
    count(connection);
    if (connection->rest.failed) {
        connection_kill(connection);
        return;
    }
    if (connection->choked) /* nothing is read from it as it is */
        return;
    lws_rx_flow_control(connection->wsi, 0);
    turn_resume(connection);
}

void turn_resume(struct connection *connection)
{
    if (connection->rest.len && list_is_empty(&connection->in_waiting))
        list_append(&connection->edge->waiting, &connection->in_waiting);
}

static void hand_on(struct connection *connection, char *bytes, size_t len)
{
    switch (connection->state) {
    case STRANGER:
        turn_spend(connection, TURN_REQUEST);
        http_server_bytes(connection, bytes, len);
        break;
    case MEMBER:
    case LEAVING:
        receive_bytes(connection, bytes, len);
        break;
    default: /* read, so that closing does not throw away what we said last */
        break;
    }
}

void turn_take(struct connection *connection, char *bytes, size_t len)
{
    if (connection->rest.len || !turn_permits(connection))
        turn_keep(connection, bytes, len);
    else
        hand_on(connection, bytes, len);
}

static void go_on(struct connection *connection)
{
    struct mcpx_text rest = connection->rest;

    connection->rest = (struct mcpx_text){0};
    count(connection);
    hand_on(connection, rest.text, rest.len);
    mcpx_text_fini(&rest);
    if (!connection->rest.len && !connection->choked && connection->state != DEAD)
        lws_rx_flow_control(connection->wsi, 1);
}

bool turn_begin(struct edge *edge)
{
    struct link waiting;

    edge->turn++;
    edge->others_cost = 0;
    list_init(&waiting);
    list_splice(&waiting, &edge->waiting);
    while (!list_is_empty(&waiting)) {
        struct connection *connection =
            LIST_ELEMENT(waiting.next, struct connection, in_waiting);

        list_remove(&connection->in_waiting);
        if (turn_permits(connection))
            go_on(connection);
        else
            turn_resume(connection);
    }
    return !list_is_empty(&edge->waiting);
}
