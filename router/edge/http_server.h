/*
 * http_server.h - HTTP on a connection: the head is found and judged, the body collected, one
 * answer given, or the way cleared for frames.
 */
#ifndef EDGE_HTTP_SERVER_H
#define EDGE_HTTP_SERVER_H

#include "router/connection/connection.h"

/** Bytes came from who is not upgraded yet. Borrows `bytes`. */
void http_server_bytes(struct connection *connection, const char *bytes, size_t len);

/** Frees the request that is on its way, if there is one. */
void http_server_end(struct connection *connection);

/** Answers those who have waited for a reload that has ended. */
void http_server_tell_reloaded(struct edge *edge);

#endif
