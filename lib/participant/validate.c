/*
 * validate.c - the checks that stop spoofed messages. The router guarantees `from` and that its
 * grants cover the kind, but never reads a payload; here kind and payload are compared.
 */
#include "lib/participant/validate.h"

static enum mcpx_violation violates(struct mcpx_fault *fault, enum mcpx_violation violation,
                                    const char *field, const char *reason)
{
    *fault = (struct mcpx_fault){reason, field, 0};
    return violation;
}

enum mcpx_violation mx_validate_payload(const struct mcpx_envelope *envelope,
                                        struct mcpx_rpc *rpc, struct mcpx_fault *fault)
{
    if (mcpx_rpc_read(envelope->payload, rpc, fault))
        return MCPX_VIOLATION_RPC;
    if (rpc->form == MCPX_RPC_REQUEST && rpc->id.len > MX_RPC_ID_MAX)
        return violates(fault, MCPX_VIOLATION_RPC, "id",
                        "expected a JSON-RPC id of at most 1024 bytes");
    if (mcpx_rpc_agrees(rpc, &envelope->kind, fault))
        return MCPX_VIOLATION_KIND;
    return MCPX_VIOLATION_NONE;
}

enum mcpx_violation mx_validate_response(const struct mx_asked *asked,
                                         const struct mcpx_envelope *envelope,
                                         const struct mcpx_rpc *rpc, struct mcpx_fault *fault)
{
    const struct mcpx_kind *kind = &envelope->kind;

    if (!mx_asked_was_for(asked, envelope->from))
        return violates(fault, MCPX_VIOLATION_SENDER, "from",
                        "expected an answer from an addressee of the request");
    if (!mcpx_slice_equal(kind->method, asked->method))
        return violates(fault, MCPX_VIOLATION_OPERATION, "method",
                        "expected the method of the request");
    if (kind->context.text && !mcpx_slice_equal(kind->context, asked->context))
        return violates(fault, MCPX_VIOLATION_OPERATION, "context",
                        "expected the context of the request or none");
    if (!asked->rpc_id.text || !mcpx_json_same(rpc->id, asked->rpc_id))
        return violates(fault, MCPX_VIOLATION_ID, "id",
                        "expected the JSON-RPC id of the request");
    return MCPX_VIOLATION_NONE;
}
