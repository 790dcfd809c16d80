/*
 * tell.h - messages to the client.
 */
#ifndef MCPX_BRIDGE_EXPOSE_TELL_H
#define MCPX_BRIDGE_EXPOSE_TELL_H

#include "lib/core/format.h"
#include "tools/mcpx-bridge/expose/calls.h"

#include <mcpx/rpc.h>

struct expose;
struct expose_request;

/** One message: takes it. Line breaks between tokens become spaces. */
void expose_tell(struct expose *x, struct mcpx_text message);

/**
 * A result of ours. `result` is a JSON object, taken; for a modern client it gets what
 * 2026-07-28 asks. When it has failed, the client gets an error.
 */
void expose_tell_result(struct expose *x, const struct expose_request *request,
                        struct mcpx_text result);

/** An error. */
void expose_tell_error(struct expose *x, struct mcpx_slice id, int code,
                       struct mcpx_slice message);

/** The same with a text that was made for it: takes it. */
void expose_tell_error_text(struct expose *x, struct mcpx_slice id, int code,
                            struct mcpx_text message);

/** The same with `data`, JSON; when memory ran out over that, without. */
void expose_tell_error_data(struct expose *x, struct mcpx_slice id, int code,
                            struct mcpx_slice message, const struct mcpx_text *data);

/**
 * Appends a result with what revision 2026-07-28 wants in one and older servers do not know; added
 * only where absent.
 */
void expose_tell_add_modern(struct mcpx_text *out, struct mcpx_slice method,
                            struct mcpx_slice result);

/** A participant's notification as it is, but for ids. */
void expose_tell_same(struct expose *x, struct mcpx_slice participant,
                      const struct mcpx_rpc *rpc);

/**
 * For messages that the client can do without. Returns false when they are not sent: to clients
 * that hear answers only, and to one that does not read, for which they are counted.
 */
bool expose_may_tell(struct expose *x);

/** A notification. Takes `params`: JSON, or empty for none. */
void expose_tell_notice(struct expose *x, const char *method, struct mcpx_text params);

/** A sign of life for a call whose client gave a progress token. */
void expose_tell_progress(struct expose *x, struct expose_call *call,
                          struct mcpx_slice message);

/** A warning, to the log and to a client that takes notifications/message. */
void expose_warn(struct expose *x, struct mcpx_slice sentence);

/** One sentence for the log. */
void expose_note(struct expose *x, struct mcpx_slice sentence);

/** The same with a text that was made for it: takes it. */
void expose_note_text(struct expose *x, struct mcpx_text sentence);

/** A text in quotes for people: 'text', cut at 200 bytes. Lent until the block ends. */
#define expose_quoted(text) expose_quote((char[EXPOSE_QUOTED_MAX]){0}, (text))

enum { EXPOSE_QUOTED_MAX = 208 };

/** The function behind expose_quoted; writes into `buf`, which has EXPOSE_QUOTED_MAX bytes. */
struct mcpx_slice expose_quote(char *buf, struct mcpx_slice text);

#endif
