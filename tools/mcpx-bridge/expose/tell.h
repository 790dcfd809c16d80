/*
 * tell.h - messages to the client: answers, notifications and words for the log; how the bridge
 * introduces itself, there and to servers; what the client watches, and what servers ask it.
 */
#ifndef MCPX_BRIDGE_EXPOSE_TELL_H
#define MCPX_BRIDGE_EXPOSE_TELL_H

#include "lib/json/json_write.h"
#include "tools/mcpx-bridge/expose/calls.h"

#include <mcpx/rpc.h>
#include <mcpx/session.h>
#include <mcpx/text.h>

struct expose;
struct expose_request;

/** One message: takes it. Line breaks between tokens become spaces. */
void expose_tell(struct expose *x, struct mcpx_text message);

/**
 * A result of ours. `result` is a JSON object, taken; for a modern client it gets what
 * 2026-07-28 asks.
 */
void expose_tell_result(struct expose *x, const struct expose_request *request,
                        struct mcpx_text result);

/** An error. */
void expose_tell_error(struct expose *x, struct mcpx_slice id, int code,
                       struct mcpx_slice message);

/** The same with a text that was made for it: takes it. */
void expose_tell_error_text(struct expose *x, struct mcpx_slice id, int code,
                            struct mcpx_text message);

/** The same with `data`, JSON. */
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

/**
 * The client has sent a request: remembers what "initialize", or the first of the requests that
 * name the client each time, says of it. With the first of all the servers are asked.
 */
void expose_greet(struct expose *x, const struct mcpx_rpc *rpc);

/**
 * Whether the topic was ever reached. If not, the request is answered with an error that says
 * why: an empty list would look like a topic without servers.
 */
bool expose_has_topic(struct expose *x, const struct expose_request *request);

/** Handles "initialize". */
bool expose_hello(struct expose *x, const struct expose_request *request);

/** Handles "server/discover". */
bool expose_discover(struct expose *x, const struct expose_request *request);

/** The revisions of MCP that the client is served in: today's, and the newest with "initialize". */
#define EXPOSE_MODERN "2026-07-28"
#define EXPOSE_LEGACY "2025-11-25"

/** Gives name, title and version, a JSON object. */
struct mcpx_text expose_self(const struct expose *x);

/** Gives the params of the "initialize" for servers of the topic. */
struct mcpx_text expose_self_introduce(const struct expose *x);

/** Remembers, or forgets, that the client watches a resource. */
void expose_watch_set(struct expose *x, const struct expose_thing *thing,
                      struct mcpx_slice shown, bool on);

/** Passes notifications/resources/updated on when the client watches that. */
void expose_watch_updated(struct expose *x, struct mcpx_slice participant,
                          const struct mcpx_rpc *rpc);

/**
 * A call failed. When it was to watch a resource, that is not watched; other calls are ignored.
 */
void expose_unwatch(struct expose *x, const struct expose_call *call);

/** A participant has come back: tells it what the client watches. */
void expose_watch_renew(struct expose *x, struct mcpx_slice participant);

/** Frees all. */
void expose_watch_fini(struct expose *x);

/** Handles subscriptions/listen of 2026-07-28. */
bool expose_listen(struct expose *x, const struct expose_request *request);

/** Ends it, when `id` names it. Returns whether it did. */
bool expose_listen_end(struct expose *x, struct mcpx_slice id);

/** Tells the client that a list changed, in the way that the client chose. */
void expose_tell_changed(struct expose *x, enum expose_list list);

struct expose_call;
struct bridge_row;

/** Says once what of a list clients would not take. Frees what `unfit` holds. */
void expose_tell_unfit(struct expose *x, struct expose_seat *seat, enum expose_list list,
                       struct expose_unfit *unfit);

/** True while the client has a question of this participant before it. */
bool expose_is_asked(const struct expose *x, struct mcpx_slice participant);

/** A request for us. */
void expose_ask(struct expose *x, const struct mcpx_event *event);

/** An answer, the RESPOND in that row, could not be given. */
void expose_ask_unanswered(struct expose *x, const struct bridge_row *row, enum mcpx_err err);

/** The client answered. */
void expose_ask_answered(struct expose *x, const struct mcpx_rpc *rpc);

/** The server takes its request back. */
void expose_ask_cancelled(struct expose *x, struct mcpx_slice participant,
                          struct mcpx_slice params);

/** A call ends. When it is the participant's last, so do its questions. */
void expose_ask_over(struct expose *x, const struct expose_call *call);

/**
 * Ends what a participant asked, of which the client is told, or with an absent slice anybody.
 * `reason` is the answer to that; NULL = none.
 */
void expose_ask_end(struct expose *x, struct mcpx_slice participant, const char *reason);

#endif
