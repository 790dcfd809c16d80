/*
 * connection.h - one accepted socket, from the first byte to the last, whatever it becomes.
 * Includes edge.h.
 */
#ifndef EDGE_CONNECTION_H
#define EDGE_CONNECTION_H

#include "router/edge/edge.h"

struct exchange;
struct lws;

/* What a round of fan-out reads of each connection stands first, in one cache line. */

/**
 * STRANGER   speaks HTTP
 * MEMBER     a WebSocket with a peer in the hub
 * LEAVING    a close frame was written or received: nothing it sends counts any more
 * DEAD       libwebsockets was told to destroy it
 */
enum connection_state { STRANGER, MEMBER, LEAVING, DEAD };

/**
 * peer           the hub's end; NULL before it was admitted and after it departed
 * fd             the socket of `wsi`
 * choked         the socket takes no more; libwebsockets holds a remainder
 * fresh          in edge->fresh: the welcome waits
 * line_previous, line_next   neighbours in edge->fresh of a fresh member
 * from           where it comes from
 * holding        a stranger's place among edge->strangers
 * deadline_ms    mono_ms at which the connection is cut unless its state changed; 0 = never
 * exchange       the HTTP request whose body is being collected; NULL else
 * grant          what a permitted upgrade waits with for the handshake to end; NULL else
 * admission      likewise; its slices point into `scratch`
 * message        what arrived of an unfinished message
 * message_size   how much of edge->unfinished is its memory
 * message_due_ms mono_ms by which the rest has to arrive; 0 = no message is unfinished
 */
struct connection {
    struct edge *edge;
    struct lws *wsi;
    struct peer *peer;
    int fd;
    enum connection_state state;
    bool choked;
    bool fresh;
    int64_t deadline_ms;
    struct connection *previous, *next;
    struct connection *line_previous, *line_next;
    struct address from;
    struct holding holding;
    struct exchange *exchange;
    struct grant *grant;
    struct admission admission;
    struct mcpx_text scratch;
    struct mcpx_text message;
    size_t message_size;
    int64_t message_due_ms;
};

/**
 * Attaches a new connection, a stranger, to a socket just adopted. It is freed with the socket
 * (connection_free). Returns NULL when memory runs out.
 */
struct connection *connection_new(struct edge *edge, struct lws *wsi, struct address from);

/** The socket is gone: the peer departs if it has not, and the connection is freed. */
void connection_free(struct connection *connection);

/** The connection of a libwebsockets socket; NULL for its internal ones. */
struct connection *connection_of(struct lws *wsi);

/** The other side's address as text, for the log; "" when it is gone already. */
enum { REMOTE_SIZE = 64 };
const char *connection_remote(const struct connection *connection, char text[REMOTE_SIZE]);

/** A stranger becomes a member: `peer` is its end in the hub. Its welcome waits FRESH_MS. */
void connection_welcome(struct connection *connection, struct peer *peer);

/** Lets every fresh member whose time has come hear its welcome. */
void connection_unveil(struct edge *edge);

/**
 * From here on nothing counts that it sends. It is cut at the deadline `wait_ms` from now
 * unless the other side closes first.
 */
void connection_leave(struct connection *connection, int64_t wait_ms);

/**
 * A piece was added to `message`: counts its memory, and from the first piece on its time.
 * Returns false when all unfinished messages together take more than UNFINISHED_MAX
 * and more than four of the largest message permitted.
 */
bool connection_count_message(struct connection *connection);

/** No message is unfinished any more. A buffer that has grown beyond `keep` bytes is freed. */
void connection_end_message(struct connection *connection, size_t keep);

/** The field of a log line that says whose instance a peer is; none for the participant itself. */
struct log_field connection_identity(const struct peer *peer);

/** The participant is gone for the others. Harmless when it had no peer. */
void connection_depart(struct connection *connection);

/** Cuts the oldest stranger of the address that holds most of them, if there is any. */
void connection_kill_stranger(struct edge *edge);

/** Cuts the connection without a word, soon but not from within this call. */
void connection_kill(struct connection *connection);

/**
 * Cuts every connection whose deadline is past, condemns those whose message takes too long and
 * watches over condemned ones.
 */
void connection_sweep(struct edge *edge);

#endif
