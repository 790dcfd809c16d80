/*
 * import.h - what the parts of an import do for its pool and for each other; above all what the
 * server is given to read: messages in which the few members are replaced that must be unique on a
 * pipe that many share.
 */
#ifndef MCPX_BRIDGE_IMPORT_IMPORT_H
#define MCPX_BRIDGE_IMPORT_IMPORT_H

#include "tools/mcpx-bridge/import/state.h"

#include <mcpx/child.h>

/*
 * ---- one server at its topics: events of the sessions, lines and states of the child and the time
 * go in; what it wants done is added to the list that its pool hands out (pool.h).
 */

/** Settings with what is usual where nothing is said. */
struct import_config import_whole(struct import_config config);

/** Makes an import. The settings, in which nothing is left out, are kept as long. */
struct import *import_new(const struct import_config *config,
                          const struct import_setup *setup);

/**
 * Frees it, once none of its actions waits; whoever waits is answered by nobody. NULL is allowed.
 */
void import_free(struct import *import);

/**
 * Something happened in a topic. A LEFT without another attempt is the end of that topic: what came
 * from there is forgotten.
 */
void import_event(struct import *import, size_t topic, const struct mcpx_event *event,
                  struct mcpx_now now);

/** What came of an action of this server. */
void import_done(struct import *import, const struct bridge_row *row,
                 const struct bridge_outcome *outcome);

/** True when a notification is about a call of its sender that this server has. */
bool import_is_waiting(const struct import *import, size_t topic,
                       const struct mcpx_event *event);

/**
 * How many requests that participant has under way, all its instances together; `longest` is the
 * longest answer since it last had none.
 */
size_t import_under_way(const struct import *import, struct bridge_who who, size_t *longest);

/** True while participants wait for something, or have subscribed to something. */
bool import_is_in_use(const struct import *import);

/** The server wrote a line. */
void import_line(struct import *import, struct mcpx_slice line, struct mcpx_now now);

/**
 * The server wrote a line that is too long; `beginning` are its first bytes. The requester gets
 * an error when these bytes hold the id, or when its request is the only one that the server
 * has.
 */
void import_overlong(struct import *import, struct mcpx_slice beginning);

/** The child's state changed. */
void import_state(struct import *import, const struct mcpx_child_report *report,
                  struct mcpx_now now);

/** Does what is due at this time. */
void import_tick(struct import *import, struct mcpx_now now);

/** mono_ms at which import_tick is due; INT64_MAX when nothing waits. */
int64_t import_deadline(const struct import *import);

/* ---- what the server is given to read ---- */

/**
 * Gives import->line to the child.
 *
 * call   number of the request in it; 0 = none
 */
void import_write(struct import *import, int64_t call);

/**
 * Writes a request of our own.
 *
 * params   members without braces, may be empty
 */
void import_request(struct import *import, enum import_purpose purpose, const char *method,
                    struct mcpx_slice params);

/** Writes a request of our own about a resource, whose result is of no interest. */
void import_request_about(struct import *import, const char *method, struct mcpx_slice uri);

/** Drops all requests of our own with that purpose. */
void import_drop_own(struct import *import, enum import_purpose purpose);

/** Tells the server that nobody waits for a call any more. */
void import_cancel(struct import *import, const struct bridge_call *call, const char *reason);

/**
 * Writes a participant's request: with another id, with another progress token if it has one, and,
 * for a server of 2026, with the members of _meta that are absent.
 */
void import_write_request(struct import *import, int64_t number, struct mcpx_slice payload);

/** What we are to a server, as a pattern of mx_format for mcpx_version(). */
#define IMPORT_CLIENT_INFO "{\"name\":\"mcpx-bridge\",\"version\":%q}"

/** Appends a notification with one member of its params changed, and with "jsonrpc". */
void import_add_with_param(struct mcpx_text *out, const struct mcpx_rpc *rpc, const char *name,
                           struct mcpx_slice value);

/** What is the same for everybody: the greeting, and lists. */
bool import_is_shared(struct mcpx_slice method);

/** Whether the server takes requests of that method now. Those of others wait. */
bool import_takes(const struct import *import, struct mcpx_slice method);

/** Writes a request of a participant to the server, or answers it; it may be gone afterwards. */
void import_forward(struct import *import, struct bridge_call *call, struct mcpx_now now);

/** Does that with all that wait and need not, in their order. */
void import_forward_waiting(struct import *import, struct mcpx_now now);

/*
 * ---- what the files of an import want done and said: log lines, announcements,
 * notifications, and why there is no server.
 */

/** Logs a sentence, cut at 500 bytes, control characters replaced. */
void import_say(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** How many bytes of what a server wrote are said, for "%.*s". */
static inline int import_shown(struct mcpx_slice text)
{
    return (int)(text.len < 200 ? text.len : 200);
}

/** Says a sentence in every topic as chat, where we may; not for a server with an owner. */
void import_announce(struct import *import, const char *text);

/** Sends a notification of the server to its owner, or to everybody in every topic. */
void import_tell(struct import *import, struct mcpx_draft *draft);

/** Sends a notification of the server to the addressees of the draft, in one topic. */
void import_tell_topic(struct import *import, size_t topic, struct mcpx_draft *draft);

/** Wants that action; as bridge_output_add. Its server is filled in. */
void import_want(struct import *import, struct bridge_row row);

/** Wants a draft sent in a topic, whatever comes of it. */
void import_want_send(struct import *import, size_t topic, const struct mcpx_draft *draft);

/** Wants a request not to be answered. */
void import_want_drop(struct import *import, size_t topic, struct mcpx_slice request);

/** This server will never work: import_failure() tells so from now on. */
void import_give_up(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Why it makes no sense to go on, as a sentence: the program cannot be executed, or the server
 * refuses to be initialised. NULL otherwise. Lent until the next call.
 */
const char *import_failure(const struct import *import);

/** Why the server has gone, a sentence; NULL when it is ready, or has not gone so far. */
const char *import_outage(const struct import *import);

/** Answers a participant's call with import->text, a message that has its id, and drops it. */
void import_answer(struct import *import, struct bridge_call *call);

/**
 * Answers it with the server's answer, and drops it: with its own id, as terms make it, and with
 * the tools as they are shown.
 */
void import_pass_answer(struct import *import, struct bridge_call *call,
                        const struct mcpx_rpc *rpc);

/** Drops a participant's call, which is not answered. */
void import_abandon(struct import *import, struct bridge_call *call);

/**
 * Answers it with an error of ours, and drops it. `data` is a raw object, or absent.
 */
void import_refuse(struct import *import, struct bridge_call *call, enum mcpx_cause cause,
                   const char *message, struct mcpx_slice data);

/** Answers it with import->outage, and drops it. */
void import_refuse_for_outage(struct import *import, struct bridge_call *call);

/** Answers a REQUEST that became no call with an error of ours. */
void import_turn_away(struct import *import, size_t topic, const struct mcpx_event *event,
                      const char *message);

#endif
