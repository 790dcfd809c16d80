/*
 * post.h - HTTP requests as text: checks heads, reads bodies, and finds the status of answers. Many
 * clients number their requests alike, so each request gets a number of ours on its way in, and its
 * answer has the request's own JSON-RPC id, byte for byte.
 */
#ifndef MCPX_BRIDGE_EXPOSE_POST_H
#define MCPX_BRIDGE_EXPOSE_POST_H

#include "lib/wire/http_head.h"

/**
 * Checks a head. Returns NULL, or the error.
 *
 * A web page in a browser can reach this machine under a name of its author's choice. So Host and
 * Origin must name this machine, whatever the path and the method are.
 */
const struct mx_http_fault *expose_post_judge(const struct mx_http_head *head);

/** True for localhost, 127.x.y.z and [::1], with or without a port: HOST[:PORT]. */
bool expose_post_is_loopback(struct mcpx_slice authority);

/** True when an Accept names text/event-stream, as MCP clients do. */
bool expose_post_wants_events(const struct mx_http_head *head);

/**
 *   REQUEST   gets an answer
 *   NOTICE    a notification or an answer: gets none
 *   BROKEN    not a message: the server refuses it at once
 */
enum expose_post_form { EXPOSE_POST_REQUEST, EXPOSE_POST_NOTICE, EXPOSE_POST_BROKEN };

/**
 * Reads a body.
 *
 * number   > 0: the request's id from here on
 * line     appended: the line that a client on a pipe would have written, but with `number`
 * id       filled for a REQUEST: its own id, raw; lent as long as `body`. Else absent
 */
enum expose_post_form expose_post_read(struct mcpx_slice body, int64_t number,
                                       struct mcpx_text *line, struct mcpx_slice *id);

/** The line that cancels a request. */
struct mcpx_text expose_post_cancel(int64_t number);

/** True for an answer of the server: to request `number`; 0: to a body that is not a message. */
bool expose_post_answers(struct mcpx_slice line, int64_t *number);

/** The answer with that id in place of its own. */
struct mcpx_text expose_post_answer(struct mcpx_slice line, struct mcpx_slice id);

/** The status of an answer. With `wants_events` an error has 200: such clients read the body. */
int expose_post_status(struct mcpx_slice answer, bool wants_events);

#endif
