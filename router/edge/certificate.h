/*
 * certificate.h - whom the certificate of a client stands for.
 */
#ifndef EDGE_CERTIFICATE_H
#define EDGE_CERTIFICATE_H

#include "router/edge/connection.h"

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
