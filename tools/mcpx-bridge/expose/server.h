/*
 * server.h - reads lines of the client and calls the function of their method.
 */
#ifndef MCPX_BRIDGE_EXPOSE_SERVER_H
#define MCPX_BRIDGE_EXPOSE_SERVER_H

#include <mcpx/base.h>

struct expose;

/** Handles a line. With `may_wait` it may be kept until the servers are known. */
void expose_serve(struct expose *x, struct mcpx_slice line, bool may_wait);

#endif
