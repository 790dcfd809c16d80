/*
 * edge_tls.h - TLS between a connection's socket and the part that reads it.
 */
#ifndef EDGE_TLS_STATE_H
#define EDGE_TLS_STATE_H

#include "router/edge/connection.h"

/** The connection begins with a TLS handshake. False when memory runs out. */
bool edge_tls_begin(struct connection *connection);

/**
 * Bytes were read from a connection that speaks TLS. Answers what the handshake wants answered.
 *
 * sealed      what was read; then what is left of it, when it is many records
 * bytes, len  what the client has said, which may be changed where it lies, until the next call for
 *             any connection; nothing when it returns false
 */
bool edge_tls_take(struct connection *connection, struct mcpx_slice *sealed, char **bytes,
                   size_t *len);

/** What edge_tls_take gave was read: a client that says nothing more is let go. */
void edge_tls_after(struct connection *connection);

#endif
