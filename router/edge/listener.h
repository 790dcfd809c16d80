/*
 * listener.h - where connections come in: our own sockets, so that limits apply before anything is
 * allocated; and libwebsockets, which keeps what was accepted, set up so that only what is wanted
 * of it is reachable.
 */
#ifndef EDGE_LISTENER_H
#define EDGE_LISTENER_H

#include "router/connection/edge.h"

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

/**
 * Creates the libwebsockets context on edge->loop. Returns MCPX_OK, or MCPX_ESYSTEM with the
 * reason in the log.
 */
enum mcpx_err ws_server_open(struct edge *edge);

/**
 * Hands over a non-blocking socket that `listener` has accepted from a whole address, which was
 * charged for `looks` (gate_looks). Takes `fd` in any case.
 */
void ws_server_adopt(const struct listener *listener, int fd, struct address origin,
                     uint64_t looks);

/** Makes libwebsockets look at its timers, when edge->wake_lws says that it has to. */
void ws_server_wake(struct edge *edge);

/** Begins the end: every connection is cut. The loop has to run until it is empty. */
void ws_server_close(struct edge *edge);

/** Ends it, after the loop has become empty. */
void ws_server_free(struct edge *edge);

#endif
