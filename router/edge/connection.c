/*
 * connection.c - the states of a socket and the deadlines between them. Deadlines are plain
 * numbers looked at once a second: libwebsockets' own timers are a sorted list, and twenty
 * thousand of them cost 200 us per message. Nothing is destroyed on the spot; the socket is
 * handed to libwebsockets, which calls back when it is gone, so no list changes while it is
 * walked.
 * Includes connection.h, bounds.h, http_server.h, turn.h, unfinished.h, wire.h, libwebsockets.
 */
#include "router/edge/connection.h"
#include "router/edge/bounds.h"
#include "router/edge/http_server.h"
#include "router/edge/turn.h"
#include "router/edge/unfinished.h"
#include "router/edge/wire.h"

#include <libwebsockets.h>
#include <stdlib.h>

/* The largest buffer that a connection keeps between messages. */
enum { KILL_AGAIN_MS = 2000, KEEP_MAX = 16384 };

static void line_enter(struct connections *line, struct connection *connection)
{
    connection->line_previous = line->last;
    if (line->last)
        line->last->line_next = connection;
    else
        line->first = connection;
    line->last = connection;
}

static void line_quit(struct connections *line, struct connection *connection)
{
    if (connection->line_previous)
        connection->line_previous->line_next = connection->line_next;
    else
        line->first = connection->line_next;
    if (connection->line_next)
        connection->line_next->line_previous = connection->line_previous;
    else
        line->last = connection->line_previous;
    connection->line_previous = connection->line_next = NULL;
}

struct connection *connection_new(struct edge *edge, struct lws *wsi, struct address from)
{
    struct connection *connection = calloc(1, sizeof *connection);

    if (!connection)
        return NULL;
    if (!holders_add(&edge->strangers, from, &connection->holding)) {
        free(connection);
        return NULL;
    }
    connection->edge = edge;
    connection->from = from;
    connection->wsi = wsi;
    connection->fd = lws_get_socket_fd(wsi);
    connection->frames = (struct mx_frames){
        .side = MX_FROM_CLIENT, .max = bounds_message(edge->config), .keep_size = KEEP_MAX};
    list_init(&connection->in_choked);
    list_init(&connection->in_unfinished);
    list_init(&connection->in_waiting);
    connection->deadline_ms = edge_now(edge).mono_ms + STRANGER_MS;
    connection->next = edge->all.first;
    if (connection->next)
        connection->next->previous = connection;
    edge->all.first = connection;
    edge->count++;
    lws_set_opaque_user_data(wsi, connection);
    return connection;
}

struct connection *connection_of(struct lws *wsi)
{
    return lws_get_opaque_user_data(wsi);
}

const char *connection_remote(const struct connection *connection, char text[REMOTE_SIZE])
{
    text[0] = '\0';
    lws_get_peer_simple(connection->wsi, text, REMOTE_SIZE);
    return text;
}

static void set_state(struct connection *connection, enum connection_state state)
{
    if (state != STRANGER && state != ANSWERED)
        holders_remove(&connection->edge->strangers, &connection->holding);
    connection->state = state;
}

static void forget_fresh(struct connection *connection)
{
    if (!connection->fresh)
        return;
    connection->fresh = false;
    line_quit(&connection->edge->fresh, connection);
}

struct log_field connection_identity(const struct peer *peer)
{
    struct mcpx_slice identity = peer_grant(peer)->identity;

    if (mcpx_slice_equal(identity, peer_id(peer)))
        return (struct log_field){.key = NULL};
    return log_text("identity", identity);
}

void connection_depart(struct connection *connection)
{
    struct peer *peer = connection->peer;

    if (!peer)
        return;
    LOG(LOG_INFO, "departed", log_text("participant", peer_id(peer)),
        connection_identity(peer), log_text("topic", peer_topic_name(peer)));
    forget_fresh(connection);
    connection->peer = NULL;
    hub_depart(connection->edge->hub, peer, MCPX_ECLOSED, edge_now(connection->edge));
}

void connection_free(struct connection *connection)
{
    struct edge *edge = connection->edge;

    connection_depart(connection);
    set_state(connection, DEAD);
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        edge->all.first = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    edge->count--;
    exchange_free(connection->exchange);
    wire_drop(connection);
    turn_drop(connection);
    unfinished_end(connection);
    mx_frames_fini(&connection->frames);
    free(connection);
}

static void on_unveil(uv_timer_t *timer)
{
    connection_unveil(timer->data);
}

void connection_welcome(struct connection *connection, struct peer *peer)
{
    struct edge *edge = connection->edge;

    set_state(connection, MEMBER);
    connection->peer = peer;
    connection->fresh = true;
    connection->deadline_ms = edge_now(edge).mono_ms + FRESH_MS;
    line_enter(&edge->fresh, connection);
    peer_stall(peer);
    if (!uv_is_active((uv_handle_t *)&edge->unveil))
        uv_timer_start(&edge->unveil, on_unveil, FRESH_MS, 0);
}

void connection_unveil(struct edge *edge)
{
    struct mcpx_now now = edge_now(edge);
    struct connection *connection;

    while ((connection = edge->fresh.first) && connection->deadline_ms <= now.mono_ms) {
        forget_fresh(connection);
        connection->deadline_ms = 0;
        if (!connection->choked)
            peer_unstall(connection->peer, now);
    }
    if (connection)
        uv_timer_start(&edge->unveil, on_unveil,
                       (uint64_t)(connection->deadline_ms - now.mono_ms), 0);
}

void connection_answered(struct connection *connection)
{
    if (connection->state == DEAD)
        return;
    set_state(connection, ANSWERED);
    connection->deadline_ms = edge_now(connection->edge).mono_ms + ANSWER_MS;
}

void connection_leave(struct connection *connection, int64_t wait_ms)
{
    if (connection->state == DEAD)
        return;
    forget_fresh(connection);
    set_state(connection, LEAVING);
    connection->deadline_ms = edge_now(connection->edge).mono_ms + wait_ms;
    unfinished_end(connection);
}

void connection_kill(struct connection *connection)
{
    struct edge *edge = connection->edge;

    forget_fresh(connection);
    set_state(connection, DEAD);
    wire_drop(connection);
    turn_drop(connection);
    unfinished_end(connection);
    connection->deadline_ms = edge_now(edge).mono_ms + KILL_AGAIN_MS;
    if (connection->peer)
        peer_stall(connection->peer); /* nothing is to be written to it any more */
    lws_set_timeout(connection->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    edge->kick = true;
}

void connection_kill_stranger(struct edge *edge)
{
    struct holding *holding = holders_excess(&edge->strangers);
    struct connection *connection;
    char remote[REMOTE_SIZE];

    if (!holding)
        return;
    connection = LIST_ELEMENT(holding, struct connection, holding);
    if (log_permits(&edge->accept_log, edge_now(edge).mono_ms))
        LOG(LOG_WARN, "stranger_cut",
            log_string("remote", connection_remote(connection, remote)),
            log_string("reason", "too many connections wait to be upgraded, most of them from "
                                 "this address"));
    connection_kill(connection);
}

/* A condemned peer whose socket is choked cannot even be told so. It may catch up for a while. */
static void watch_condemned(struct connection *connection, int64_t mono_ms)
{
    if (connection->peer && connection->choked && !connection->deadline_ms &&
        peer_is_condemned(connection->peer))
        connection->deadline_ms = mono_ms + CHOKED_LEAVE_MS;
}

void connection_sweep(struct edge *edge)
{
    struct mcpx_now now = edge_now(edge);
    struct connection *connection;

    wire_relieve(edge);
    for (connection = edge->all.first; connection; connection = connection->next) {
        unfinished_watch(connection, now);
        watch_condemned(connection, now.mono_ms);
        if (!connection->fresh && connection->deadline_ms &&
            connection->deadline_ms <= now.mono_ms)
            connection_kill(connection);
    }
}
