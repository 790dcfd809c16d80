/*
 * edge_tls.h - TLS between a connection's socket and the part that reads it: certificates, and
 * bytes that come in.
 */
#ifndef EDGE_TLS_STATE_H
#define EDGE_TLS_STATE_H

#include "router/edge/connection.h"

/**
 * Reads certificate and key, where an address of the configuration begins with tls://.
 *
 * errors   one line for each reason they cannot be used
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err edge_tls_open(struct edge *edge, struct mcpx_text *errors);

/** Ends it, after all connections. */
void edge_tls_close(struct edge *edge);

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

/**
 * Certificate and key are read again. Connections keep what they have; new ones get what the files
 * say now. Files that cannot be used change nothing, and the log says why.
 */
void edge_tls_reread(struct edge *edge);

/** The same a second after the files have changed. To be called about once a second. */
void edge_tls_watch(struct edge *edge);

#endif
