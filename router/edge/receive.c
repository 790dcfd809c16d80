/*
 * receive.c - a message that arrives in one piece, as nearly all do, is routed where it lies.
 * Others are collected in a buffer of the connection that is given back when it has grown large,
 * so ten thousand idle connections do not each keep the largest message they ever sent. All
 * unfinished messages together are bounded, and so is their time: nobody need finish what he has
 * begun. Sizes are judged by what a frame declares, before it has arrived.
 * Includes receive.h, flush.h, libwebsockets.
 */
#include "router/edge/receive.h"
#include "router/edge/flush.h"

#include <libwebsockets.h>

enum { KEEP_MAX = 16384, PRIVATE_MAX = 262144 };

/* The hub closes behind what it still has to say; libwebsockets would lose the close frame when
 * the socket is full. */
static int refuse(struct connection *connection, enum mcpx_err err)
{
    hub_refuse(connection->edge->hub, connection->peer, err, edge_now(connection->edge));
    connection_end_message(connection, 0);
    return 0;
}

static void log_verdict(struct connection *connection, const struct verdict *verdict)
{
    struct edge *edge = connection->edge;

    if (!log_wants(LOG_DEBUG) || !connection->peer)
        return;
    if (verdict->err && !log_permits(&edge->refuse_log, edge_now(edge).mono_ms))
        return;
    LOG(LOG_DEBUG, verdict->err ? "message_refused" : "message_accepted",
        log_text("participant", peer_id(connection->peer)),
        connection_identity(connection->peer),
        log_text("topic", peer_topic_name(connection->peer)), log_text("id", verdict->id),
        log_text("kind", verdict->err ? verdict->kind_sent : verdict->kind),
        log_string("code", verdict->err ? mcpx_error_wire(verdict->err) : "ok"));
}

static void route(struct connection *connection, struct mcpx_slice text)
{
    struct verdict verdict = {0};

    hub_route(connection->edge->hub, connection->peer, text, edge_now(connection->edge),
              &verdict);
    log_verdict(connection, &verdict);
    /* One segment can hold hundreds of messages that are each answered with an error. */
    if (peer_private_bytes(connection->peer) > PRIVATE_MAX)
        flush_connection(connection);
    /* Or so many that readers would fall off the log before their turn comes. */
    if (hub_is_pressed(connection->edge->hub))
        flush_round(connection->edge);
}

/* Nothing was refused that could be answered: only the close frame says why. */
static int condemn(struct connection *connection)
{
    struct edge *edge = connection->edge;

    if (log_permits(&edge->refuse_log, edge_now(edge).mono_ms))
        LOG(LOG_WARN, "unfinished_messages",
            log_text("participant", peer_id(connection->peer)),
            connection_identity(connection->peer),
            log_number("bytes", (int64_t)edge->unfinished));
    hub_condemn(edge->hub, connection->peer, MCPX_EFLOOD, edge_now(edge));
    connection_end_message(connection, 0);
    return 0;
}

static int collect(struct connection *connection, const char *bytes, size_t len, bool last)
{
    struct mcpx_text *message = &connection->message;

    mcpx_text_add(message, bytes, len);
    if (message->failed)
        return refuse(connection, MCPX_ENOMEM);
    if (!last)
        return connection_count_message(connection) ? 0 : condemn(connection);
    route(connection, mcpx_text_view(message));
    connection_end_message(connection, KEEP_MAX);
    return 0;
}

int receive_piece(struct connection *connection, const char *bytes, size_t len)
{
    struct lws *wsi = connection->wsi;
    size_t limit = connection->edge->config->hub.message_bytes;
    size_t rest = lws_remaining_packet_payload(wsi);
    bool last = lws_is_final_fragment(wsi);

    if (connection->state != MEMBER || !connection->peer)
        return 0;
    peer_heard(connection->peer, edge_now(connection->edge));
    if (peer_is_condemned(connection->peer))
        return 0;
    if (lws_frame_is_binary(wsi))
        return refuse(connection, MCPX_EBINARY);
    if (limit && (rest > limit || connection->message.len + len + rest > limit))
        return refuse(connection, MCPX_ETOOBIG);
    if (lws_is_first_fragment(wsi))
        mcpx_text_reset(&connection->message);
    if (last && !connection->message.len) {
        if (connection->message_due_ms) /* the fragments before were empty */
            connection_end_message(connection, KEEP_MAX);
        route(connection, (struct mcpx_slice){bytes ? bytes : "", len});
        return 0;
    }
    return collect(connection, bytes, len, last);
}

int receive_pong(struct connection *connection)
{
    if (connection->peer)
        peer_heard(connection->peer, edge_now(connection->edge));
    return 0;
}

int receive_close(struct connection *connection)
{
    bool ours = connection->state != MEMBER; /* our close frame is answered: no third one */

    connection_depart(connection);
    connection_leave(connection, LEAVE_MS);
    return ours;
}
