/*
 * flush.c - one write per peer and loop turn, of complete frames, as a run of the log lends
 * them. libwebsockets' own way, a callback per socket that may be written to, costs fourteen
 * times as much; it serves only sockets that are full. Bytes go straight to the socket while
 * libwebsockets holds none for it; what the kernel does not take is handed over to it
 * (LWS_WRITE_RAW sends bytes as they are), is copied and sent first of all later: so neither a
 * frame nor its automatic pongs and closes are ever torn. tests/integration/06-traps pins it down.
 * Under TLS all of it would have to go through lws_write.
 * Includes flush.h, libwebsockets.
 */
#include "router/edge/flush.h"

#include <errno.h>
#include <libwebsockets.h>
#include <sys/socket.h>

enum { WRITES_PER_ROUND = 4096 };

static void choke(struct connection *connection)
{
    connection->choked = true;
    peer_stall(connection->peer);
    /* Nothing is read while nothing can be written: a FIN that is read then costs a whole
     * processor, and who does not listen need not talk. */
    lws_rx_flow_control(connection->wsi, 0);
    lws_callback_on_writable(connection->wsi);
}

/* How many bytes the kernel takes at once; -1 when the socket is broken. */
static ssize_t send_now(struct connection *connection, const struct output *output)
{
    ssize_t sent;

    if (lws_partial_buffered(connection->wsi))
        return 0; /* what libwebsockets holds comes first */
    sent = send(connection->fd, output->bytes, output->len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS))
        return 0;
    return sent;
}

/* False when the socket is broken. */
static bool write_all(struct connection *connection, const struct output *output)
{
    ssize_t sent = send_now(connection, output);
    size_t rest = sent < 0 ? 0 : output->len - (size_t)sent;

    if (sent < 0)
        return false;
    return rest == 0 || lws_write(connection->wsi, (unsigned char *)output->bytes + sent, rest,
                                  LWS_WRITE_RAW) >= 0;
}

/* Returns false when the connection takes no more now. */
static bool write_run(struct connection *connection, const struct output *output)
{
    struct lws *wsi = connection->wsi;
    bool written = output->len == 0 || write_all(connection, output);

    peer_pop(connection->peer);
    if (!written) {
        connection_kill(connection);
        return false;
    }
    if (output->close)
        connection_leave(connection, lws_partial_buffered(wsi) ? CHOKED_LEAVE_MS : LEAVE_MS);
    if (lws_partial_buffered(wsi))
        choke(connection);
    return !output->close && !connection->choked;
}

/* Returns the number of writes. */
static int flush_peer(struct connection *connection, int most)
{
    struct output output;
    int writes = 0;

    while (writes < most && connection->state == MEMBER &&
           peer_peek(connection->peer, &output)) {
        writes++;
        if (!write_run(connection, &output))
            break;
    }
    if (connection->state != MEMBER && connection->peer)
        peer_stall(connection->peer); /* closed: whatever the hub still has is too late */
    return writes;
}

void flush_connection(struct connection *connection)
{
    if (connection->peer && !connection->choked && !connection->fresh)
        flush_peer(connection, WRITES_PER_ROUND);
}

bool flush_round(struct edge *edge)
{
    int left = WRITES_PER_ROUND;
    struct peer *peer;

    while (left > 0 && (peer = hub_next_ready(edge->hub))) {
        int writes = flush_peer(peer_owner(peer), left);

        left -= writes ? writes : 1;
    }
    return left <= 0;
}

int flush_writable(struct connection *connection)
{
    if (!connection->choked || lws_partial_buffered(connection->wsi))
        return 0;
    connection->choked = false;
    lws_rx_flow_control(connection->wsi, 1);
    if (connection->state == MEMBER && connection->peer) {
        connection->deadline_ms = 0;
        peer_unstall(connection->peer, edge_now(connection->edge));
    }
    return 0;
}
