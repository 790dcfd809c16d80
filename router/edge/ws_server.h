/*
 * ws_server.h - libwebsockets, set up so that only what is wanted of it is reachable.
 */
#ifndef EDGE_WS_SERVER_H
#define EDGE_WS_SERVER_H

#include "router/edge/edge.h"

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
