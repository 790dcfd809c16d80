/*
 * listener.h - where connections come in: our own sockets, so that limits apply before anything
 * is allocated.
 */
#ifndef EDGE_LISTENER_H
#define EDGE_LISTENER_H

#include "router/edge/edge.h"

/**
 * Opens every address of the configuration, or takes the sockets systemd hands over instead.
 * A host name may stand for several addresses; each gets its listener.
 *
 * In dev mode sockets handed over have to be on loopback, as configured addresses have to.
 *
 * errors   a line per address that cannot be listened on
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err listener_open_all(struct edge *edge, struct mcpx_text *errors);

/** Accepts nothing from now on. The loop has to run once more before the memory is free. */
void listener_close_all(struct edge *edge);

#endif
