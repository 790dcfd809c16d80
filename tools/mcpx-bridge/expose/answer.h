/*
 * answer.h - a server's answer to a call of the client.
 */
#ifndef MCPX_BRIDGE_EXPOSE_ANSWER_H
#define MCPX_BRIDGE_EXPOSE_ANSWER_H

#include "tools/mcpx-bridge/expose/calls.h"

#include <mcpx/rpc.h>

struct expose;

/** Somebody else's answer to a call, with the client's id in it. The caller ends the call. */
void expose_answer(struct expose *x, struct expose_call *call, const struct mcpx_rpc *rpc);

#endif
