/*
 * dispatch.c - libwebsockets reads as much as its buffer takes, which can be a thousand messages of
 * one connection. What is beyond its owner's share of the turn is deferred. Smaller reads were
 * refused: large messages would pay for them.
 */
#include "router/edge/dispatch.h"
#include "router/edge/http_server.h"
#include "router/edge/receive.h"
#include "router/edge/turn.h"

static void hand_on(struct connection *connection, char *bytes, size_t len)
{
    switch (connection->state) {
    case UNAUTHENTICATED:
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

void dispatch_bytes(struct connection *connection, char *bytes, size_t len)
{
    if (!connection->deferred.len && turn_permits(connection))
        hand_on(connection, bytes, len);
    else if (!turn_defer(connection, bytes, len))
        connection_kill(connection);
}

static void go_on(struct connection *connection)
{
    struct mcpx_text deferred = turn_take(connection);

    hand_on(connection, deferred.text, deferred.len);
    mcpx_text_fini(&deferred);
    if (connection->state != DEAD)
        turn_resume(connection);
}

bool dispatch_turn(struct edge *edge)
{
    struct link waiting;

    turn_begin(edge);
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
