/*
 * evict.c - ends connections that are late, slow or too many. Deadlines are plain numbers, checked
 * once a second. Rejected: libwebsockets' own timers; they are a sorted list, and twenty thousand
 * of them cost 200 us per message.
 */
#include "router/connection/refusal.h"
#include "router/edge/edge_parts.h"

/* A peer that accepts no byte for so long is slow. */
enum { SLOW_MS = 1000 };

/* Sends no close frame: the socket takes nothing, and a half-sent frame would come first. */
static void cut_slow(struct connection *connection)
{
    struct edge *edge = connection->edge;
    struct mcpx_now now = edge_now(edge);

    if (log_permits(&edge->refuse_log, now.mono_ms))
        LOG(LOG_WARN, "slow_consumer_cut", log_connection(connection),
            log_string("remote", connection_remote(connection)),
            log_number("bytes", (int64_t)connection->unsent.size),
            log_number("of", (int64_t)edge->unsent));
    if (connection->peer)
        hub_disconnect(edge->hub, connection->peer, MCPX_ESLOW, now);
    if (edge->store)
        uv_async_send(&edge->wake_store); /* the hub changed after its part of the iteration */
    connection_kill(connection);
}

void evict_slow(struct edge *edge)
{
    int64_t now_ms = edge_now(edge).mono_ms;

    while (edge->unsent > bounds_buffers(edge->config) && !list_is_empty(&edge->full)) {
        struct connection *slowest = LIST_ELEMENT(edge->full.next, struct connection, in_full);

        if (now_ms - slowest->took_ms < SLOW_MS)
            return; /* a large message to many is on its way; no socket is slow yet */
        cut_slow(slowest);
    }
}

void evict_largest_buffer(struct connection *connection)
{
    size_t max = bounds_buffers(connection->edge->config);

    if (connection->edge->unsent > max && peer_unsent_share(connection->peer) > max / 2)
        cut_slow(connection);
}

void evict_late(struct edge *edge)
{
    struct mcpx_now now = edge_now(edge);

    if (now.mono_ms - edge->late_at_ms < TICK_MS / 2 && !edge->stopping)
        return; /* the hub is called each millisecond when there is much to do */
    edge->late_at_ms = now.mono_ms;
    LIST_EACH(link, &edge->all) {
        struct connection *connection = LIST_ELEMENT(link, struct connection, in_all);

        incomplete_watch(connection, now);
        /* A disconnected peer with a full socket gets no close frame yet. It may catch up. */
        if (connection->peer && connection->full && !connection->deadline_ms &&
            peer_is_disconnected(connection->peer))
            connection->deadline_ms = now.mono_ms + FULL_LEAVE_MS;
        if (connection_is_welcoming(connection) || !connection->deadline_ms ||
            connection->deadline_ms > now.mono_ms)
            continue;
        if (connection->is_refused && connection->state == UNAUTHENTICATED)
            answer_problem(connection, MCPX_ECONNECTS, NULL);
        else
            connection_kill(connection);
    }
}

/*
 * The network with most of these connections makes room, so a crowd harms itself. IPv6 counts by
 * /48: an attacker gets 65,536 networks of 64 bits for nothing. Rejected: the oldest of all; the
 * fastest client would push out all others.
 */
static struct connection *find_crowding(const struct edge *edge)
{
    const struct mx_holders *networks = &edge->unauthenticated;
    uint64_t most = mx_holders_held(networks, mx_holders_largest(networks));

    LIST_EACH(link, &edge->unauthenticated_all) {
        struct connection *connection =
            LIST_ELEMENT(link, struct connection, in_unauthenticated);
        struct address network = address_network(connection->from);

        if (mx_holders_held(networks, address_slice(&network)) == most)
            return connection;
    }
    return NULL;
}

/* Cuts the oldest unauthenticated connection of the most crowded network. */
static void cut_crowding(struct edge *edge)
{
    struct connection *connection = find_crowding(edge);

    if (!connection)
        return;
    if (log_permits(&edge->accept_log, edge_now(edge).mono_ms))
        LOG(LOG_WARN, "unauthenticated_cut", log_connection(connection),
            log_string("remote", connection_remote(connection)),
            log_string("reason", "too many connections wait to be upgraded, most of them from "
                                 "this network"));
    connection_kill(connection);
}

/* A leaving connection may stay for seconds and counts in no quota, so it goes first: else one
 * participant joining again and again could use up all descriptors. Rejected: refusing the newest;
 * a thousand silent clients would keep out all others. */
void evict_for_another(struct edge *edge)
{
    if (edge->count >= edge->room && !list_is_empty(&edge->leaving))
        connection_kill(LIST_ELEMENT(edge->leaving.next, struct connection, in_leaving));
    if (edge->unauthenticated.held >= UNAUTHENTICATED_MAX || edge->count >= edge->room)
        cut_crowding(edge);
}

void evict_requests(struct edge *edge)
{
    int64_t latest_ms = edge_now(edge).mono_ms + LAST_REQUEST_MS;

    LIST_EACH(link, &edge->all) {
        struct connection *connection = LIST_ELEMENT(link, struct connection, in_all);

        if (connection->state == UNAUTHENTICATED && connection->deadline_ms > latest_ms)
            connection->deadline_ms = latest_ms;
        else if (connection->state == ANSWERED && !connection->full)
            connection_kill(connection);
    }
}
