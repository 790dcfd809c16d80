/*
 * server.h - lines of the client, handed to the method they call.
 */
#ifndef MCPX_BRIDGE_EXPOSE_SERVER_H
#define MCPX_BRIDGE_EXPOSE_SERVER_H

#include <mcpx/base.h>

struct expose;

/** Handles a line; with `may_wait` it may end up among the held ones. */
void expose_serve(struct expose *x, struct mcpx_slice line, bool may_wait);

#endif
