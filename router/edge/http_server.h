/*
 * http_server.h - HTTP on a connection: the head is found and judged, the body collected, one
 * answer given, or the way cleared for frames.
 * Includes connection.h.
 */
#ifndef EDGE_HTTP_SERVER_H
#define EDGE_HTTP_SERVER_H

#include "router/edge/connection.h"

/** A request that is on its way. */
struct exchange;

/** Bytes came from a stranger. Borrows `bytes`. */
void http_server_bytes(struct connection *connection, const char *bytes, size_t len);

/** Frees a request. NULL is allowed. */
void exchange_free(struct exchange *exchange);

#endif
