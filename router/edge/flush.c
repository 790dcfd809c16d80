/*
 * flush.c - one write per peer and loop turn, of complete frames, as a run of the log lends
 * them. libwebsockets' own way, a callback per socket that may be written to, costs fourteen
 * times as much; it serves only sockets that are full. LWS_WRITE_RAW sends bytes as they are and
 * looks at none before them; what the kernel does not take is copied and sent first of all later,
 * so a frame is never torn. tests/integration/06-traps pins this down.
 * Includes flush.h, libwebsockets.
 */
#include "router/edge/flush.h"

#include <libwebsockets.h>

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

/* Returns false when the connection takes no more now. */
static bool write_run(struct connection *connection, const struct output *output)
{
    struct lws *wsi = connection->wsi;
    int written = 0;

    if (output->len)
        written = lws_write(wsi, (unsigned char *)output->bytes, output->len, LWS_WRITE_RAW);
    peer_pop(connection->peer);
    if (written < 0) {
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
