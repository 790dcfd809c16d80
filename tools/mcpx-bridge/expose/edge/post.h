/*
 * post.h - a request by HTTP as far as it is text: may its head pass, what is in its body, which
 * status has its answer. Many clients number their requests alike, so each request gets a number of
 * ours on its way in, and its own JSON-RPC id back, byte for byte, on its way out.
 */
#ifndef MCPX_BRIDGE_EXPOSE_POST_H
#define MCPX_BRIDGE_EXPOSE_POST_H

#include "lib/wire/http_head.h"

/**
 * Judges a head. Returns NULL when it passes, or what is wrong with it.
 *
 * A page of the web that a browser shows can reach this machine, under a name of its own that leads
 * here. So host and origin have to name this machine, before anything else is looked at.
 */
const struct mx_http_fault *expose_post_judge(const struct mx_http_head *head);

/** True for localhost, 127.x.y.z and [::1], with or without a port: HOST[:PORT]. */
bool expose_post_is_loopback(struct mcpx_slice authority);

/** True when an Accept names text/event-stream: a client of MCP's. */
bool expose_post_wants_events(const struct mx_http_head *head);

/**
 *   REQUEST   gets an answer
 *   NOTICE    a notification or an answer: gets none
 *   BROKEN    no message: the server refuses it at once
 */
enum expose_post_form { EXPOSE_POST_REQUEST, EXPOSE_POST_NOTICE, EXPOSE_POST_BROKEN };

/**
 * Reads a body.
 *
 * number   > 0: the request's id from here on
 * line     appended: what a client on a pipe would have written, the id apart
 * id       filled for a REQUEST: its own id, raw; lent as long as `body`. Else absent
 */
enum expose_post_form expose_post_read(struct mcpx_slice body, int64_t number,
                                       struct mcpx_text *line, struct mcpx_slice *id);

/** The line with which a client takes that request back. */
struct mcpx_text expose_post_cancel(int64_t number);

/** True for a line of the server that answers something: request `number`, or 0 for no message. */
bool expose_post_answers(struct mcpx_slice line, int64_t *number);

/** An answer with that id in it. */
struct mcpx_text expose_post_answer(struct mcpx_slice line, struct mcpx_slice id);

/** The status of an answer. With `wants_events` an error has 200: such clients read the body. */
int expose_post_status(struct mcpx_slice answer, bool wants_events);

#endif
