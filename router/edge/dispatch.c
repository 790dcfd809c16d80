/*
 * dispatch.c - libwebsockets reads as much as its buffer takes, which can be a thousand messages of
 * one connection. What is beyond its owner's share of the turn is deferred. Smaller reads were
 * refused: large messages would pay for them.
 */
#include "router/edge/dispatch.h"
#include "router/edge/http_server.h"
#include "router/edge/proxies.h"
#include "router/edge/receive.h"
#include "router/edge/secure.h"
#include "router/edge/tls.h"
#include "router/edge/turn.h"

static bool is_shaking_hands(const struct connection *connection)
{
    return connection->tls && !tls_is_open(connection->tls);
}

/* What is deferred before a handshake is done are bytes of the handshake, behind it of the client. */
static void hand_on(struct connection *connection, char *bytes, size_t len)
{
    if (is_shaking_hands(connection) && !secure_take(connection, &bytes, &len))
        return;
    if (len == 0)
        return;
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
    if (connection->announced && !proxies_take(connection, &bytes, &len))
        return;
    if (connection->tls && !is_shaking_hands(connection) &&
        !secure_take(connection, &bytes, &len))
        return;
    if (!connection->deferred.len && turn_permits(connection))
        hand_on(connection, bytes, len);
    else if (len && !turn_defer(connection, bytes, len))
        connection_kill(connection);
    secure_after(connection);
}

static void go_on(struct connection *connection)
{
    struct mcpx_text deferred = turn_take(connection);

    hand_on(connection, deferred.text, deferred.len);
    mcpx_text_fini(&deferred);
    secure_after(connection);
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
