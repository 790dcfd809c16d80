/*
 * proxies.h - connections that a proxy makes for others: whom they are from, for limits, log and
 * audit.
 */
#ifndef EDGE_PROXIES_H
#define EDGE_PROXIES_H

#include "lib/wire/http_head.h"
#include "router/connection/connection.h"

/** A connection begins. One from a trusted proxy has to say whom it is from before it is served. */
void proxies_begin(struct connection *connection);

/**
 * Bytes were read from a connection that has to begin with a PROXY head. Returns true once it is
 * read: `bytes` and `len` are what follows it then. Whoever the connection is from is charged for
 * it now, and turned away as listener.h does it.
 */
bool proxies_take(struct connection *connection, char **bytes, size_t *len);

/**
 * The same for what a head says of a request. False when it was turned away.
 */
bool proxies_take_head(struct connection *connection, const struct mx_http_head *head);

#endif
