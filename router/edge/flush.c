/*
 * flush.c - one write per peer and loop turn, of complete frames, as a run of the log lends them.
 * libwebsockets' own way, a callback per socket that may be written to, costs fourteen times as
 * much; it serves only sockets that are full (wire.c).
 */
#include "router/edge/flush.h"
#include "router/edge/evict.h"
#include "router/edge/wire.h"

/* One round, whichever comes first: some milliseconds. A write may be 256 KiB. */
enum { WRITES_PER_ROUND = 4096, BYTES_PER_ROUND = 4 << 20 };

/* What is left of a round. */
struct budget {
    int writes;
    int64_t bytes;
};

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
        connection_leave(connection, connection->full ? FULL_LEAVE_MS : LEAVE_MS);
    if (close && mx_frames_are_bad(&connection->frames))
        wire_finish(connection); /* RFC 6455 section 7.1.7: its answer could not be read */
    return !close && !connection->full;
}

static bool is_left(const struct budget *budget)
{
    return budget->writes > 0 && budget->bytes > 0;
}

static void flush_peer(struct connection *connection, struct budget *budget)
{
    struct output output;
    int before = budget->writes;

    while (is_left(budget) && connection->state == MEMBER && !connection->full &&
           peer_peek(connection->peer, &output)) {
        budget->writes--;
        budget->bytes -= (int64_t)output.len;
        if (!write_run(connection, &output))
            break;
    }
    if (budget->writes == before)
        budget->writes--; /* looking has a price as well */
    if (connection->full)
        evict_greedy(connection);
    if ((connection->state != MEMBER || connection->full) && connection->peer)
        peer_stall(connection->peer); /* full; or closed: what the hub still has is too late */
}

void flush_connection(struct connection *connection)
{
    struct budget budget = {WRITES_PER_ROUND, BYTES_PER_ROUND};

    if (connection->peer && !connection->full && !connection_is_welcoming(connection))
        flush_peer(connection, &budget);
}

bool flush_round(struct edge *edge)
{
    struct budget budget = {WRITES_PER_ROUND, BYTES_PER_ROUND};
    struct peer *peer;

    while (is_left(&budget) && (peer = hub_next_ready(edge->hub)))
        flush_peer(peer_owner(peer), &budget);
    return !is_left(&budget);
}
