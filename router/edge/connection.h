/*
 * connection.h - the life of an accepted socket, from the first byte to the last, whatever it
 * becomes.
 */
#ifndef EDGE_CONNECTION_H
#define EDGE_CONNECTION_H

#include "router/edge/close_cause.h"
#include "router/edge/connection_state.h"

/**
 * Attaches a new connection, not authenticated, to a socket just adopted. It is freed with the
 * socket (connection_free).
 *
 * origin   the whole address that it comes from
 *
 * Returns NULL when memory runs out.
 */
struct connection *connection_new(struct edge *edge, struct lws *wsi, struct address origin);

/**
 * The socket is gone: the peer departs if it has not, and the connection is freed. After
 * http_server_end.
 */
void connection_free(struct connection *connection);

/** The connection of a libwebsockets socket; NULL for its internal ones. */
struct connection *connection_of(struct lws *wsi);

/** The other side's address as text, for the log; what is kept of it when it is gone already. */
enum { REMOTE_SIZE = 64 };
const char *connection_remote(const struct connection *connection, char text[REMOTE_SIZE]);

/** Where a connection, given to hub_admit, comes from and since when. */
void connection_locate(const void *connection, struct whereabouts *out);

/** It becomes a member: `peer` is its end in the hub. Its welcome waits WELCOME_DELAY_MS. */
void connection_join(struct connection *connection, struct peer *peer);

/** It was upgraded, and its participant waits to be let in. */
void connection_wait(struct connection *connection);

/** Its request is being answered. It is cut ANSWER_MS after it last took bytes of the answer. */
void connection_answered(struct connection *connection);

/**
 * From here on nothing counts that it sends. It is cut at the deadline `wait_ms` from now
 * unless the other side closes first.
 */
void connection_leave(struct connection *connection, int64_t wait_ms);

/**
 * The participant is gone for the others, and the log says why: because of `cause`, unless the hub
 * has closed the connection before. Harmless when it had no peer.
 */
void connection_depart(struct connection *connection, struct close_cause cause);

/** Cuts the connection without a word, soon but not from within this call. */
void connection_kill(struct connection *connection);

#endif
