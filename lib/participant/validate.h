/*
 * validate.h - does a message tell the truth, and is it its sender's business? In this order:
 * a payload that is JSON-RPC, a kind that fits it, a sender who was asked, the operation that was
 * asked for, the JSON-RPC id of the question.
 */
#ifndef MX_VALIDATE_H
#define MX_VALIDATE_H

#include "lib/participant/asked.h"
#include <mcpx/session.h>

/**
 * Reads the payload and compares it with the kind.
 *
 * rpc     filled when it is true
 * fault   filled when it is not
 *
 * Returns MCPX_VIOLATION_NONE when it is true, else MCPX_VIOLATION_RPC or MCPX_VIOLATION_KIND.
 */
enum mcpx_violation mx_validate_payload(const struct mcpx_envelope *envelope,
                                        struct mcpx_rpc *rpc, struct mcpx_fault *fault);

/**
 * Compares a response, whose payload is true, with what was asked.
 *
 * Returns MCPX_VIOLATION_NONE when it is an answer to it, else MCPX_VIOLATION_STRANGER, OPERATION
 * or ID with `fault` filled.
 */
enum mcpx_violation mx_validate_response(const struct mx_asked *asked,
                                         const struct mcpx_envelope *envelope,
                                         const struct mcpx_rpc *rpc, struct mcpx_fault *fault);

#endif
