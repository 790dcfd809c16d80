/*
 * stop.h - the end of a guard.
 */
#ifndef MCPX_BRIDGE_GUARD_EDGE_STOP_H
#define MCPX_BRIDGE_GUARD_EDGE_STOP_H

struct guard_server;

/** Closes everything, so that the loop ends. May be called again. */
void guard_stop(struct guard_server *server);

#endif
