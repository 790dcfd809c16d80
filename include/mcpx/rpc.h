/*
 * rpc.h - reads the JSON-RPC message in an envelope's payload, as far as a participant needs
 * it: its shape, its method and context, and whether the envelope's kind agrees with it. The
 * router never does this; every participant must. Protocol: section 2.
 */
#ifndef MCPX_RPC_H
#define MCPX_RPC_H

#include <mcpx/json.h>
#include <mcpx/kind.h>

MCPX_BEGIN_C

/**
 *   REQUEST        method, id
 *   NOTIFICATION   method, "jsonrpc", no id
 *   RESULT         id, result
 *   ERROR          error, id or null
 *   BODY           method, neither "jsonrpc" nor id: what a proposal holds
 *
 * A notification may come without "jsonrpc" when its kind says that it is one; it is then a BODY.
 */
enum mcpx_rpc_form {
    MCPX_RPC_REQUEST,
    MCPX_RPC_NOTIFICATION,
    MCPX_RPC_RESULT,
    MCPX_RPC_ERROR,
    MCPX_RPC_BODY
};

/**
 * A message, read. Slices point into the text given to mcpx_rpc_read, except `method` and
 * `context`, which point into `scratch`: the struct may not be copied.
 *
 * params result error
 *           raw; absent when there are none
 */
struct mcpx_rpc {
    enum mcpx_rpc_form form;
    struct mcpx_slice text;
    /* Raw: a number, a string with its quotes, or null; absent when there is none. */
    struct mcpx_slice id;
    struct mcpx_slice method; /* unescaped; absent in RESULT and ERROR */
    /* The CONTEXT from params (protocol section 2), unescaped. Absent when the method has none,
     * when the member is missing or not a string, and when its text is empty, has a control
     * character or makes the kind longer than MCPX_KIND_MAX. */
    struct mcpx_slice context;
    struct mcpx_slice params;
    struct mcpx_slice result;
    struct mcpx_slice error;
    char scratch[MCPX_KIND_MAX];
};

/**
 * Reads a JSON-RPC message.
 *
 * text    a well-formed JSON value without white space around it: an envelope's payload, or the
 *         value that mcpx_json_check found
 * out     filled; unspecified on failure
 * fault   filled on failure (reason, field); may be NULL
 *
 * Returns MCPX_OK; or MCPX_EINVALID for text that is not an object, `jsonrpc` other than "2.0", an
 * ambiguous decisive member (jsonrpc, id, method, params, result, error, the context, and others in
 * params and `_meta`), an id other than a string, an integer or null (null only in ERROR), a result
 * without an id, a method that is not a string or fits no kind, params that are neither object nor
 * array, both method and result or error, both result and error, or none of the three. Never
 * allocates.
 */
MCPX_API enum mcpx_err mcpx_rpc_read(struct mcpx_slice text, struct mcpx_rpc *out,
                                     struct mcpx_fault *fault);

/**
 * The member of params that holds the CONTEXT of a method. Protocol: section 2. This is the
 * only copy of that table: all code that derives a kind asks here.
 *
 * Returns a static path such as "name", "uri" or "ref"; NULL for methods without context.
 */
MCPX_API const char *mcpx_rpc_context_member(struct mcpx_slice method);

/**
 * Writes the kind of a message that has a method.
 *
 * type   "mcp/request" or "mcp/proposal"
 * out    filled with TYPE:METHOD or TYPE:METHOD:CONTEXT and a NUL; the context is left out when it
 *        does not fit. Untouched on failure
 *
 * Returns MCPX_OK; MCPX_EINVALID for RESULT and ERROR, whose kind follows from the request;
 * MCPX_EKIND when the method alone does not fit.
 */
MCPX_API enum mcpx_err mcpx_rpc_kind(const struct mcpx_rpc *rpc, const char *type,
                                     char out[MCPX_KIND_MAX + 1]);

/**
 * Checks whether the kind agrees with the payload.
 *
 *   mcp/request     REQUEST or NOTIFICATION; METHOD equal; CONTEXT, when the kind has one,
 *                   equal. A kind without CONTEXT agrees with every context: the router has
 *                   matched just that kind. A BODY is accepted for notifications/... only
 *   mcp/response    RESULT or ERROR, with an id; the session compares METHOD and CONTEXT with
 *                   the request
 *   mcp/proposal    BODY or NOTIFICATION, that is: no id; METHOD and CONTEXT as above
 *   other types     agree with every payload; need not be checked
 *
 * Returns MCPX_OK, or MCPX_EINVALID with `fault` (may be NULL) saying which part disagrees.
 */
MCPX_API enum mcpx_err mcpx_rpc_agrees(const struct mcpx_rpc *rpc,
                                       const struct mcpx_kind *kind, struct mcpx_fault *fault);

MCPX_END_C

#endif
