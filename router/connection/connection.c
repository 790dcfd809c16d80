/*
 * connection.c - the states of a socket; evict.c watches the deadlines. A connection is never
 * freed at once: libwebsockets closes the socket and calls back later. So no list of connections
 * changes while it is walked.
 */
#include "router/connection/connection.h"

#include "lib/wire/tls.h"
#include "router/connection/loop_budget.h"

#include <libwebsockets.h>
#include <stdlib.h>

/*
 * KEEP_MAX   the largest buffer that a connection keeps between messages
 * CODE_LEN   bytes of the code, before the text in the payload of a close frame
 */
enum { KILL_AGAIN_MS = 2000, KEEP_MAX = 16384, CODE_LEN = 2 };

bool connection_unauthenticated_add(struct connection *connection)
{
    struct edge *edge = connection->edge;
    struct address network = address_network(connection->from);

    if (!mx_holders_add(&edge->unauthenticated, address_slice(&network), 1))
        return false;
    list_append(&edge->unauthenticated_all, &connection->in_unauthenticated);
    return true;
}

void connection_unauthenticated_remove(struct connection *connection)
{
    struct address network = address_network(connection->from);

    if (list_is_empty(&connection->in_unauthenticated))
        return;
    list_remove(&connection->in_unauthenticated);
    mx_holders_remove(&connection->edge->unauthenticated, address_slice(&network), 1);
}

struct connection *connection_new(struct edge *edge, struct lws *wsi, struct address address)
{
    struct connection *connection = calloc(1, sizeof *connection);

    if (!connection)
        return NULL;
    connection->edge = edge;
    connection->from = address_shared(address);
    list_init(&connection->in_unauthenticated);
    if (!connection_unauthenticated_add(connection)) {
        free(connection);
        return NULL;
    }
    connection->generation = edge->generation;
    connection->number = ++edge->numbered;
    connection->address = address;
    connection->wsi = wsi;
    connection->fd = lws_get_socket_fd(wsi);
    connection->frames = (struct mx_frames){
        .side = MX_FROM_CLIENT, .max = bounds_message(edge->config), .keep_size = KEEP_MAX};
    list_init(&connection->in_welcoming);
    list_init(&connection->in_full);
    list_init(&connection->in_incomplete);
    list_init(&connection->in_waiting);
    list_init(&connection->in_joining);
    list_init(&connection->in_leaving);
    connection->deadline_ms = edge_now(edge).mono_ms + REQUEST_MS;
    list_append(&edge->all, &connection->in_all);
    edge->count++;
    lws_set_opaque_user_data(wsi, connection);
    return connection;
}

const char *connection_remote(const struct connection *connection)
{
    static char text[ADDRESS_TEXT_SIZE];

    return address_text(connection->address, text);
}

/* A new state ends all waits of the connection and discards its incomplete message. An ANSWERED
 * connection still counts as unauthenticated: it was never upgraded. */
static void set_state(struct connection *connection, enum connection_state state)
{
    if (state != ANSWERED)
        connection_unauthenticated_remove(connection);
    waiters_remove(connection);
    signatures_forget(connection);
    list_remove(&connection->in_joining);
    list_remove(&connection->in_welcoming);
    list_remove(&connection->in_leaving);
    if (state == LEAVING)
        list_append(&connection->edge->leaving, &connection->in_leaving);
    incomplete_end(connection);
    connection->state = state;
}

void connection_depart(struct connection *connection, int code, struct mcpx_slice payload)
{
    const char *reason = code == CLOSE_LOST ? "lost" : mcpx_error_wire(MCPX_ECLOSED);
    struct peer *peer = connection->peer;
    struct mcpx_slice says = {0};

    if (!peer)
        return;
    if (peer_is_disconnected(peer)) {
        code = mcpx_error_close(peer_close_err(peer));
        reason = mcpx_error_wire(peer_close_err(peer));
    } else if (payload.len > CODE_LEN) {
        says = (struct mcpx_slice){payload.text + CODE_LEN, payload.len - CODE_LEN};
    }
    LOG(LOG_INFO, "departed", log_text("participant", peer_id(peer)), log_identity(peer),
        log_text("topic", peer_topic_name(peer)), log_connection(connection),
        log_string("reason", reason), log_number("close_code", code), log_known("says", says),
        log_left_out(connection));
    list_remove(&connection->in_welcoming);
    list_remove(&connection->in_joining);
    incomplete_end(connection);
    connection->peer = NULL;
    hub_leave(connection->edge->hub, peer, MCPX_ECLOSED, edge_now(connection->edge));
}

void connection_free(struct connection *connection)
{
    struct edge *edge = connection->edge;

    connection_depart(connection, CLOSE_LOST, (struct mcpx_slice){0});
    set_state(connection, DEAD);
    list_remove(&connection->in_all);
    edge->count--;
    wire_drop(connection);
    loop_budget_drop(connection);
    mx_frames_fini(&connection->frames);
    mx_tls_free(connection->tls);
    mcpx_text_fini(&connection->proxy_head);
    free(connection);
}

/* Lets the hub write the welcome of each member at its deadline. */
static void on_welcome(uv_timer_t *timer)
{
    struct edge *edge = timer->data;
    struct mcpx_now now = edge_now(edge);
    struct connection *connection;

    while ((connection = LIST_FIRST(&edge->welcoming, struct connection, in_welcoming))) {
        if (connection->deadline_ms > now.mono_ms) {
            uv_timer_start(timer, on_welcome,
                           (uint64_t)(connection->deadline_ms - now.mono_ms), 0);
            return;
        }
        list_remove(&connection->in_welcoming);
        connection->deadline_ms = 0;
        if (connection->full)
            peer_stall(connection->peer);
        else
            peer_unstall(connection->peer, now);
    }
}

void connection_join(struct connection *connection, struct peer *peer)
{
    struct edge *edge = connection->edge;

    set_state(connection, MEMBER);
    connection->peer = peer;
    connection->since_ms = edge_now(edge).wall_ms;
    connection->deadline_ms = edge_now(edge).mono_ms + WELCOME_DELAY_MS;
    list_append(&edge->welcoming, &connection->in_welcoming);
    peer_hold_back(peer);
    if (!uv_is_active((uv_handle_t *)&edge->welcome))
        uv_timer_start(&edge->welcome, on_welcome, WELCOME_DELAY_MS, 0);
}

void connection_wait(struct connection *connection)
{
    set_state(connection, PENDING_CONNECTION);
}

void connection_answered(struct connection *connection)
{
    if (connection->state == DEAD)
        return;
    set_state(connection, ANSWERED);
    loop_budget_release(connection);
    connection->deadline_ms = edge_now(connection->edge).mono_ms + ANSWER_MS;
}

void connection_leave(struct connection *connection, int64_t wait_ms)
{
    if (connection->state == DEAD)
        return;
    set_state(connection, LEAVING);
    loop_budget_release(connection);
    connection->deadline_ms = edge_now(connection->edge).mono_ms + wait_ms;
}

void connection_kill(struct connection *connection)
{
    struct edge *edge = connection->edge;

    set_state(connection, DEAD);
    wire_drop(connection);
    loop_budget_drop(connection);
    connection->deadline_ms = edge_now(edge).mono_ms + KILL_AGAIN_MS;
    if (connection->peer)
        peer_stall(connection->peer); /* the hub writes nothing more to it */
    lws_set_timeout(connection->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    edge->wake_lws = true;
}

void connection_origin_of(const void *connection, struct connection_origin *out)
{
    const struct connection *const own = connection;

    *out = (struct connection_origin){own->from, own->since_ms};
}
