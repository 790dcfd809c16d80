/*
 * dispatch.c - libwebsockets reads as much as its buffer takes, which can be a thousand messages
 * of one connection. Bytes beyond their owner's share of the turn are deferred. Smaller reads were
 * refused: large messages would pay for them.
 */
#include "router/connection/connection.h"
#include "router/connection/turn.h"
#include "router/edge/edge_parts.h"

/* What the client has said. */
static void hand_on(struct connection *connection, char *bytes, size_t len)
{
    switch (connection->state) {
    case UNAUTHENTICATED:
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

static void defer(struct connection *connection, const char *bytes, size_t len)
{
    if (len && connection->state != DEAD && !turn_defer(connection, bytes, len))
        connection_kill(connection);
}

/* Opens as much as the turn permits. Returns what is left of it. */
static struct mcpx_slice take_sealed(struct connection *connection, struct mcpx_slice sealed)
{
    char *bytes;
    size_t len;

    while (sealed.len && !connection->deferred.len && turn_permits(connection)) {
        uint64_t began_ns = clock_ns();
        bool stranger = !connection->peer;

        if (edge_tls_take(connection, &sealed, &bytes, &len))
            hand_on(connection, bytes, len);
        turn_spend_time(connection, stranger, began_ns);
    }
    return sealed;
}

/* The first `opened` bytes are not sealed. */
static void take(struct connection *connection, char *bytes, size_t len, size_t opened)
{
    struct mcpx_slice sealed = {bytes + opened, len - opened};
    uint64_t began_ns = clock_ns();
    bool stranger = !connection->peer;

    if (opened && turn_permits(connection))
        hand_on(connection, bytes, opened);
    else
        defer(connection, bytes, opened);
    turn_spend_time(connection, stranger, began_ns);
    sealed = take_sealed(connection, sealed);
    connection->opened = connection->deferred.len;
    defer(connection, sealed.text, sealed.len);
    edge_tls_after(connection);
}

void dispatch_bytes(struct connection *connection, char *bytes, size_t len)
{
    if (connection->wants_proxy_head && !proxies_take(connection, &bytes, &len))
        return;
    if (connection->deferred.len)
        defer(connection, bytes, len);
    else
        take(connection, bytes, len, connection->tls ? 0 : len);
}

static void go_on(struct connection *connection)
{
    struct mcpx_text deferred = turn_take(connection);

    take(connection, deferred.text, deferred.len,
         connection->tls ? connection->opened : deferred.len);
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
