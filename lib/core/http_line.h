/*
 * http_line.h - the first line of an HTTP message, and the small grammar that lines are made of.
 * RFC 9112 sections 3 and 4, RFC 9110 section 5.6.
 */
#ifndef MX_HTTP_LINE_H
#define MX_HTTP_LINE_H

#include "lib/core/http_head.h"

/** Cuts a line off, without its CRLF. False, with an empty line, when none is left. */
bool mx_http_next_line(struct mcpx_slice *rest, struct mcpx_slice *line);

/** Without blanks (space, tab) around it. */
struct mcpx_slice mx_http_trimmed(struct mcpx_slice text);

/** A token: a method, a field's name. */
bool mx_http_is_token(struct mcpx_slice text);

/** Visible ASCII, one character at least: what a credential may be. */
bool mx_http_is_visible(struct mcpx_slice text);

/** A host with or without a port, and without anybody's name in front of it. */
bool mx_http_is_authority(struct mcpx_slice text);

/** Fills method, target and version. Returns NULL or what is wrong. */
const struct mx_http_fault *mx_http_request_line(struct mcpx_slice line,
                                                 struct mx_http_head *out);

/** Fills status and version. Returns NULL or what is wrong. */
const struct mx_http_fault *mx_http_status_line(struct mcpx_slice line,
                                                struct mx_http_head *out);

#endif
