/*
 * signals.h - what the administrator can say to a running router without a socket.
 * Includes edge.h.
 */
#ifndef EDGE_SIGNALS_H
#define EDGE_SIGNALS_H

#include "router/edge/edge.h"

/** TERM and INT stop (a second one at once), HUP is noted, PIPE ignored. */
enum mcpx_err signals_open(struct edge *edge);

#endif
