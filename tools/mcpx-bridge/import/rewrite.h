/*
 * rewrite.h - replaces the few members of a message that must be unique on a pipe that many
 * share.
 */
#ifndef MCPX_BRIDGE_IMPORT_REWRITE_H
#define MCPX_BRIDGE_IMPORT_REWRITE_H

#include <mcpx/json.h>

/**
 * Why the params of a request cannot be rewritten, as a static sentence; NULL when they can. The
 * request was read by mcpx_rpc_read, so nothing in them means two things.
 */
const char *import_params_fault(struct mcpx_slice params);

/**
 * Appends a participant's request for the server: with another id, with another progress token
 * if it has one, and, for a server of 2026, with the members of _meta that are absent.
 *
 * payload        the request as it came
 * id             the number on the pipe
 * version        protocol version of a server of 2026; NULL for others
 * capabilities   client capabilities, raw
 */
void import_add_request(struct mcpx_text *out, struct mcpx_slice payload, int64_t id,
                        const char *version, const char *capabilities);

/** What we are to a server, as a pattern of mx_format for mcpx_version(). */
#define IMPORT_CLIENT_INFO "{\"name\":\"mcpx-bridge\",\"version\":%q}"

/** Appends the member _meta of our own requests as a server of 2026 wants it. */
void import_add_meta(struct mcpx_text *out, const char *version, const char *capabilities);

/**
 * Appends a message with one member of its params changed, and "jsonrpc" where it is missing.
 * `params` is the message's, an object.
 */
void import_add_with_param(struct mcpx_text *out, struct mcpx_slice message,
                           struct mcpx_slice params, const char *name,
                           struct mcpx_slice value);

/** Appends a message, with "jsonrpc" where it is missing. */
void import_add_with_jsonrpc(struct mcpx_text *out, struct mcpx_slice message);

#endif
