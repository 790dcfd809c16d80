/*
 * tls_watch.h - keeps certificate, key, authorities, revocation lists and OCSP response up to date.
 */
#ifndef EDGE_TLS_WATCH_H
#define EDGE_TLS_WATCH_H

#include "router/edge/edge.h"

/**
 * Reads the files for the first time, at once, where an address of the configuration begins with
 * tls://.
 *
 * errors   one line for each reason they cannot be used
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err tls_watch_open(struct edge *edge, struct mcpx_text *errors);

/** Ends it, after all connections; no thread may be reading any more. */
void tls_watch_close(struct edge *edge);

/**
 * Has a thread read all files, whether they have changed or not; once more, when it is reading.
 * Connections keep what they have; new ones get what the files say then. Files that cannot be used
 * change nothing, and the log says why.
 */
void tls_watch_reread(struct edge *edge);

/** True until that is done. */
bool tls_watch_is_rereading(const struct edge *edge);

/** The same a second after the files have changed. To be called about once a second. */
void tls_watch_look(struct edge *edge);

#endif
