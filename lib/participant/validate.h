/*
 * validate.h - checks that a message agrees with itself and comes from a sender that was asked.
 * In this order: the payload is JSON-RPC, the kind agrees with it, the sender is an addressee
 * of the request, the operation and the JSON-RPC id are those of the request.
 */
#ifndef MX_VALIDATE_H
#define MX_VALIDATE_H

#include "lib/participant/asked.h"
#include <mcpx/session.h>

/**
 * Reads the payload and compares it with the kind.
 *
 * rpc     filled when they agree
 * fault   filled when they do not
 *
 * Returns MCPX_VIOLATION_NONE when they agree, else MCPX_VIOLATION_RPC or MCPX_VIOLATION_KIND.
 */
enum mcpx_violation mx_validate_payload(const struct mcpx_envelope *envelope,
                                        struct mcpx_rpc *rpc, struct mcpx_fault *fault);

/**
 * Compares a response, whose payload agrees with its kind, with the request.
 *
 * Returns MCPX_VIOLATION_NONE when it is an answer to it, else MCPX_VIOLATION_SENDER, OPERATION
 * or ID with `fault` filled.
 */
enum mcpx_violation mx_validate_response(const struct mx_asked *asked,
                                         const struct mcpx_envelope *envelope,
                                         const struct mcpx_rpc *rpc, struct mcpx_fault *fault);

#endif
