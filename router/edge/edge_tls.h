/*
 * edge_tls.h - TLS between a connection's socket and the part that reads it, and whom the
 * certificate of a client stands for.
 */
#ifndef EDGE_TLS_STATE_H
#define EDGE_TLS_STATE_H

#include "router/connection/connection.h"

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
 * A certificate that was verified, by an authority of tls.client_ca_file. Zeroed, there is none.
 *
 * named   id of the participant; empty when it stands for nobody, absent when there is none; lent
 *         by `shown`
 * shown   its names as tls.client_names would have them, separated by spaces
 */
struct certificate {
    struct mcpx_slice named;
    struct mcpx_text shown;
};

/**
 * Reads that of a connection with TLS. A certificate stands for a participant when its names in
 * tls.client_names all mean the same one, and there is one.
 *
 * Returns false when memory runs out.
 */
bool certificate_read(const struct connection *connection, struct certificate *out);

/** Frees it. */
void certificate_fini(struct certificate *certificate);

#endif
