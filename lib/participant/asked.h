/*
 * asked.h - the parts of a request or proposal that are needed to judge later messages about
 * it, when its envelope is gone: operation, sender, addressees.
 */
#ifndef MX_ASKED_H
#define MX_ASKED_H

#include "lib/core/ident.h"

#include <mcpx/envelope.h>
#include <mcpx/rpc.h>

/**
 * Longest JSON-RPC id of a request in bytes, as written. It has a limit because any participant
 * may choose it, and we keep it.
 */
enum { MX_RPC_ID_MAX = 1024 };

/**
 * One request or proposal. A view when its slices belong to others, a copy when made by
 * mx_asked_copy.
 *
 * from        its sender; absent for our own
 * proposer    the sender of the proposal that the request fulfils; absent when it fulfils none
 * operation   METHOD[:CONTEXT] of the kind as delivered
 * method, context
 *             as the payload says them
 * rpc_id      raw; absent in proposals
 * params      raw; kept for our own proposals only, because they are not needed for others
 * to          addressees; none = everyone
 */
struct mx_asked {
    struct mcpx_slice id, from, proposer, operation, method, context, rpc_id, params;
    const struct mcpx_slice *to;
    size_t to_count;
};

/** The view of a received envelope. Borrows both. No proposer, no params. */
struct mx_asked mx_asked_of(const struct mcpx_envelope *envelope, const struct mcpx_rpc *rpc);

/** The bytes of memory that a copy takes. */
size_t mx_asked_size(const struct mx_asked *asked);

/** Copies a view in one piece of memory, to be freed with free(); NULL when memory runs out. */
struct mx_asked *mx_asked_copy(const struct mx_asked *view);

/** True when the payload asks for the same METHOD and CONTEXT. */
bool mx_asked_is_operation(const struct mx_asked *asked, const struct mcpx_rpc *rpc);

/** True when it was addressed to everyone, or to this participant among others. */
bool mx_asked_was_for(const struct mx_asked *asked, struct mcpx_slice participant);

#endif
