/*
 * http_query.h - a request target taken apart: path, query, parameters, percent-decoding.
 * Protocol: sections 7 and 8.
 */
#ifndef EDGE_HTTP_QUERY_H
#define EDGE_HTTP_QUERY_H

#include <mcpx/text.h>

/**
 * A request target in origin form, split at its first '?'.
 *
 * path    begins with '/'; still percent-encoded
 * query   what follows the '?', still percent-encoded; absent when there is no '?'
 */
struct http_target {
    struct mcpx_slice path;
    struct mcpx_slice query;
};

/**
 * Splits a target. Returns false, `out` untouched, when it does not begin with '/' or holds a
 * space or a control character. `raw` is borrowed for as long as `out` is used.
 */
bool http_target_parse(struct mcpx_slice raw, struct http_target *out);

/** How '+' reads: as itself in a path, as a space in a query. */
enum http_plus { HTTP_PLUS_LITERAL, HTTP_PLUS_SPACE };

/**
 * Undoes percent-encoding.
 *
 * scratch   the decoded bytes are appended; room for raw.len bytes must have been reserved, so
 *           that slices given out earlier stay valid
 * out       lends the decoded bytes in `scratch`; never absent
 *
 * Returns false, `out` untouched, when a '%' is not followed by two hexadecimal digits.
 */
bool http_decode(struct mcpx_slice raw, enum http_plus plus, struct mcpx_text *scratch,
                 struct mcpx_slice *out);

/** A parameter somebody understands. `value` is absent until it is found. */
struct http_param {
    const char *name;
    struct mcpx_slice value;
};

/** What may be wrong with one. */
enum http_param_fault { HTTP_PARAM_OK, HTTP_PARAM_TWICE, HTTP_PARAM_MALFORMED };

/**
 * Finds and decodes the parameters somebody understands; others are passed over unread.
 *
 * query     as http_target_parse gives it
 * params    names filled by the caller (at most 16 bytes each); values are filled here
 * scratch   values are appended; room for query.len bytes must have been reserved
 * bad       filled on a fault with the index of the parameter concerned
 *
 * Returns HTTP_PARAM_OK, or the first fault: a parameter of ours given twice, or with malformed
 * percent-encoding in its value.
 */
enum http_param_fault http_params_read(struct mcpx_slice query, struct http_param *params,
                                       size_t count, struct mcpx_text *scratch, size_t *bad);

/** Reads 1 to 18 decimal digits. Returns false when it is anything else or above `max`. */
bool http_decimal(struct mcpx_slice text, size_t max, size_t *out);

#endif
