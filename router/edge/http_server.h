/*
 * http_server.h - plain HTTP on a connection: the head is judged, the body collected, one answer
 * given. Each function is one callback of libwebsockets and returns what the callback returns.
 * Includes connection.h.
 */
#ifndef EDGE_HTTP_SERVER_H
#define EDGE_HTTP_SERVER_H

#include "router/edge/connection.h"

/** A request whose body is on its way. */
struct exchange;

/** The head is complete: answers it, or waits for its body. */
int http_server_head(struct connection *connection);

/** A part of the body. Borrows `bytes`. */
int http_server_body(struct connection *connection, const void *bytes, size_t len);

/** The body is complete: answers. */
int http_server_complete(struct connection *connection);

/** Frees a request and its body. NULL is allowed. */
void exchange_free(struct exchange *exchange);

#endif
