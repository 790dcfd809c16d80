/*
 * end.h - the end of a call of the client, or of one that nobody waits for.
 */
#ifndef MCPX_BRIDGE_EXPOSE_END_H
#define MCPX_BRIDGE_EXPOSE_END_H

#include "tools/mcpx-bridge/expose/calls.h"

struct expose;

/** Ends a call that was answered or is no longer waited for, and the questions about it. */
void expose_end(struct expose *x, struct expose_call *call);

/** Ends it with an error. The client gets the error when the call is its own. */
void expose_fail(struct expose *x, struct expose_call *call, int code,
                 struct mcpx_slice message);

#endif
