/*
 * flush.c - one write per peer and loop turn, of complete frames, as a run of the log lends them.
 * libwebsockets' own way, a callback per socket that may be written to, costs fourteen times as
 * much; it serves only sockets that are full (wire.c).
 * Includes flush.h, wire.h.
 */
#include "router/edge/flush.h"
#include "router/edge/wire.h"

enum { WRITES_PER_ROUND = 4096 };

/* Returns false when the connection takes no more now. */
static bool write_run(struct connection *connection, const struct output *output)
{
    bool close = output->close;
    bool written = output->len == 0 || wire_write(connection, output->bytes, output->len);

    peer_pop(connection->peer);
    if (!written) {
        connection_kill(connection);
        return false;
    }
    if (close)
        connection_leave(connection, connection->choked ? CHOKED_LEAVE_MS : LEAVE_MS);
    if (close && mx_frames_are_bad(&connection->frames))
        wire_finish(connection); /* RFC 6455 section 7.1.7: its answer could not be read */
    return !close && !connection->choked;
}

/* Returns the number of writes. */
static int flush_peer(struct connection *connection, int most)
{
    struct output output;
    int writes = 0;

    while (writes < most && connection->state == MEMBER && !connection->choked &&
           peer_peek(connection->peer, &output)) {
        writes++;
        if (!write_run(connection, &output))
            break;
    }
    if ((connection->state != MEMBER || connection->choked) && connection->peer)
        peer_stall(connection->peer); /* full; or closed: what the hub still has is too late */
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
