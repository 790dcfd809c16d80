/*
 * tell.h - what the client is told.
 */
#ifndef MCPX_BRIDGE_EXPOSE_TELL_H
#define MCPX_BRIDGE_EXPOSE_TELL_H

#include "tools/mcpx-bridge/expose/calls.h"

#include <mcpx/rpc.h>

struct expose;
struct expose_request;

/** Writes one message; line breaks between tokens become spaces. */
void expose_tell(struct expose *x, const struct mcpx_text *message);

/** A result of ours. `result` is a JSON object; for a modern client it gets what 2026-07-28 asks. */
void expose_tell_result(struct expose *x, const struct expose_request *request,
                        struct mcpx_slice result);

/** The same with a text that may have failed: the client then hears of that. */
void expose_tell_made(struct expose *x, const struct expose_request *request,
                      const struct mcpx_text *result);

/** An error. */
void expose_tell_error(struct expose *x, struct mcpx_slice id, int code,
                       struct mcpx_slice message);

/** The same with `data`, JSON; when memory ran out over that, without. */
void expose_tell_error_data(struct expose *x, struct mcpx_slice id, int code,
                            struct mcpx_slice message, const struct mcpx_text *data);

/** Somebody else's answer to a call, with the client's id in it. */
void expose_tell_answer(struct expose *x, const struct expose_call *call,
                        const struct mcpx_rpc *rpc);

/** A participant's notification as it is, but for ids. */
void expose_tell_same(struct expose *x, struct mcpx_slice participant,
                      const struct mcpx_rpc *rpc);

/**
 * What the client can do without. Returns false, and counts it, when it does not read: then it is
 * not to be told.
 */
bool expose_may_tell(struct expose *x);

/** A notification. `params` is JSON or absent. */
void expose_tell_notice(struct expose *x, const char *method, struct mcpx_slice params);

/** A sign of life for a call whose client gave a progress token. */
void expose_tell_progress(struct expose *x, struct expose_call *call,
                          struct mcpx_slice message);

/** A warning, to the log and to a client that takes notifications/message. */
void expose_warn(struct expose *x, struct mcpx_slice sentence);

/** One sentence for the log. */
void expose_note(struct expose *x, const struct mcpx_text *sentence);

/** Appends what `"` needs around it for people: 'text', cut at 200 bytes. */
void expose_quote(struct mcpx_text *out, struct mcpx_slice text);

#endif
