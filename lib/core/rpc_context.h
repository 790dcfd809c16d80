/*
 * rpc_context.h - what a message says beside its method: the CONTEXT in its params, and everything
 * else in there that participants decide by.
 */
#ifndef MX_RPC_CONTEXT_H
#define MX_RPC_CONTEXT_H

#include <mcpx/json.h>

/**
 * Checks the params of a method, and finds the value that its CONTEXT is taken from. Protocol:
 * sections 2 and 9.
 *
 * method   unescaped
 * params   well-formed, or absent
 * value    filled with any value, or an absent slice when the method has no context, or its params
 *          hold none
 * fault    filled on failure: reason, and the member concerned; may be NULL
 *
 * Returns false when a member that decides stands twice, or beside one of another letter case, so
 * that two readers could find different ones: on the way to the context; `requestId`,
 * `progressToken`, `elicitationId` or `task` of the methods that have them; and as
 * mx_rpc_meta_check.
 */
bool mx_rpc_params_read(struct mcpx_slice method, struct mcpx_slice params,
                        struct mcpx_slice *value, struct mcpx_fault *fault);

/**
 * Checks `_meta` of params or of a result: `progressToken`, the members that MCP reserves and
 * participants read (protocolVersion, clientInfo, clientCapabilities, related-task and the taskId
 * in it). `fault` as above.
 */
bool mx_rpc_meta_check(struct mcpx_slice object, struct mcpx_fault *fault);

#endif
