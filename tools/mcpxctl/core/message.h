/* message.h - the payloads of mcpxctl's messages, and answers as text for people. */
#ifndef MCPXCTL_MESSAGE_H
#define MCPXCTL_MESSAGE_H

#include <mcpx/rpc.h>

/** An operation from a command line; operation_fini releases it. */
struct operation {
    struct mcpx_slice method; /* "tools/call" and so on */
    /* The tool, prompt, uri or task; absent for a method without one. */
    struct mcpx_slice name;
    /* A JSON object: the arguments of a tool or prompt, the params of a method without a name;
     * absent = none. */
    struct mcpx_slice argument;
    /* Progress token to ask for; absent = none. One in `meta` wins. */
    struct mcpx_slice token;
    struct mcpx_slice meta; /* a JSON object, the `_meta` of the params; absent = none */
    /* Private: what of name, argument and meta is not lent by the command line. */
    struct mcpx_text own_name, own_argument, own_meta;
};

void operation_fini(struct operation *operation);

/**
 * Reads the operands of a verb: NAME and JSON, or JSON alone for a method without a name. Validates
 * the argument.
 *
 * words, count   0 to 2 operands, lent
 * from           name of the JSON in complaints
 * out            `token` and `meta` absent
 *
 * Returns STATUS_OK, or STATUS_USAGE, having complained.
 */
int operation_read(const char *method, const char *const *words, size_t count,
                   const char *from, struct operation *out);

/**
 * Reads a JSON object of a command line; `from` is its name in complaints. Returns STATUS_OK, or
 * STATUS_USAGE, having complained.
 */
int object_read(const char *word, const char *from, struct mcpx_slice *out);

/**
 * Reads the `_meta` of an operation from a command line, and validates it. Returns STATUS_OK;
 * STATUS_USAGE, having complained, when it is not a JSON object, or the params have one already.
 */
int operation_read_meta(const char *word, struct operation *operation);

/** Appends {"jsonrpc":"2.0","id":1,"method":...,"params":...}, the payload of a request. */
void operation_write_request(struct mcpx_text *out, const struct operation *operation);

/** Appends {"method":...,"params":...}, the payload of a proposal. */
void operation_write_proposal(struct mcpx_text *out, const struct operation *operation);

/** Appends the request that fulfils a proposal: its method and params, with their own bytes. */
void request_write_as_proposed(struct mcpx_text *out, struct mcpx_slice proposal);

/**
 * Appends a result for people. In the content of a tool, the contents of a resource and the
 * messages of a prompt, each text ends with a newline; images and other data are shown as type and
 * size. Everything else is indented JSON.
 *
 * raw   true = text keeps its bytes; false = it is made visible line by line
 */
void result_write(struct mcpx_text *out, struct mcpx_slice result, bool raw);

/** True when a result reports that its tool failed. */
bool result_is_error(struct mcpx_slice result);

/** Appends a JSON-RPC error, made visible: "message (-32601)". Returns its exit code. */
int error_write(struct mcpx_text *out, struct mcpx_slice error);

/**
 * Makes a call of a tool from a request: the name is `tool.name`, the arguments are `params`
 * without `_meta`. The call's `_meta` is that of params with the request's request_id, artifacts
 * and preferences. Values keep their bytes.
 *
 * request   a document that meets mcp.request.v0.1; borrowed
 * out       operation_fini in every case
 *
 * Returns false when `_meta` is there, but not an object.
 */
bool request_read(struct mcpx_slice request, struct operation *out);

#endif
