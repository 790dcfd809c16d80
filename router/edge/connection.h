/*
 * connection.h - one accepted socket, from the first byte to the last, whatever it becomes.
 * Includes edge.h, frames.h, list.h.
 */
#ifndef EDGE_CONNECTION_H
#define EDGE_CONNECTION_H

#include "lib/core/frames.h"
#include "router/edge/edge.h"
#include "router/hub/list.h"

struct exchange;
struct lws;

/* What a round of fan-out reads of each connection stands first, in one cache line. */

/**
 * STRANGER   speaks HTTP and was not answered yet
 * ANSWERED   was answered over HTTP: nothing it sends counts any more
 * MEMBER     a WebSocket with a peer in the hub
 * LEAVING    a close frame was written or received: likewise
 * DEAD       libwebsockets was told to destroy it
 */
enum connection_state { STRANGER, ANSWERED, MEMBER, LEAVING, DEAD };

/**
 * peer           the hub's end; NULL before it was admitted and after it departed
 * fd             the socket of `wsi`
 * choked         the socket takes no more; `unsent` has the rest
 * finished       nothing more will be written (wire_finish)
 * shut           our side of the socket was shut
 * fresh          in edge->fresh: the welcome waits
 * bodiless       the request is HEAD
 * line_previous, line_next   neighbours in edge->fresh of a fresh member
 * from           where it comes from
 * holding        a stranger's place among edge->strangers
 * deadline_ms    mono_ms at which the connection is cut unless its state changed; 0 = never
 * exchange       the HTTP request that is on its way; NULL else
 * frames         what a member sends
 * extras         control frames since they were last charged
 * unsent         what the kernel did not take, from `unsent_at` on; in edge->choked while it is
 *                not empty
 * unsent_counted how much of edge->unsent is its memory
 * took_ms        when the kernel last took any of it, or it began to be kept
 * progress       bytes of an answer that were taken since its deadline was last moved
 * rest           what was read and waits for a later turn (turn.h); in edge->waiting while it
 *                may go on
 * rest_counted   how much of edge->resting is its memory
 * message_size   how much of edge->unfinished is the memory of an unfinished message
 * message_due_ms mono_ms by which the rest has to arrive; 0 = no message is unfinished
 */
struct connection {
    struct edge *edge;
    struct lws *wsi;
    struct peer *peer;
    int fd;
    enum connection_state state;
    bool choked, finished, shut, fresh, bodiless;
    int64_t deadline_ms;
    struct connection *previous, *next;
    struct connection *line_previous, *line_next;
    struct address from;
    struct holding holding;
    struct exchange *exchange;
    struct mx_frames frames;
    size_t extras;
    struct mcpx_text unsent;
    size_t unsent_at, unsent_counted, progress;
    int64_t took_ms;
    struct link in_choked, in_unfinished, in_waiting;
    struct mcpx_text rest;
    size_t rest_counted;
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

/** A stranger is being answered. It is cut ANSWER_MS after it last took bytes of the answer. */
void connection_answered(struct connection *connection);

/**
 * From here on nothing counts that it sends. It is cut at the deadline `wait_ms` from now
 * unless the other side closes first.
 */
void connection_leave(struct connection *connection, int64_t wait_ms);

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
