/*
 * rpc_context.h - the CONTEXT that a method takes from its params, as it stands there.
 * Includes json.h only.
 */
#ifndef MX_RPC_CONTEXT_H
#define MX_RPC_CONTEXT_H

#include <mcpx/json.h>

/**
 * Finds the value that a method's CONTEXT is taken from. Protocol: section 2.
 *
 * method   unescaped
 * params   well-formed, or absent
 * value    filled with any value, or an absent slice when the method has no context, or its params
 *          hold none
 * fault    filled on failure: reason, and the member that stands twice; may be NULL
 *
 * Returns false when a member on the way to the value stands twice, so that two readers could
 * find different ones.
 */
bool mx_rpc_context_find(struct mcpx_slice method, struct mcpx_slice params,
                         struct mcpx_slice *value, struct mcpx_fault *fault);

#endif
