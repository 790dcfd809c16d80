/*
 * request.h - a request of the client on its way through the topic, from its line to its end: it
 * may wait for the topic's servers, finds its participant, may need somebody's consent, and goes
 * through the two doors of the terms if it is a call of a tool and there are any.
 */
#ifndef MCPX_BRIDGE_EXPOSE_REQUEST_H
#define MCPX_BRIDGE_EXPOSE_REQUEST_H

#include "tools/mcpx-bridge/expose/state.h"

#include <mcpx/kind.h>

/** Handles a line. With `may_wait` it may be kept until the servers are known. */
void expose_serve(struct expose *x, struct mcpx_slice line, bool may_wait);

/** Send a request on; the second a call of a tool as an invocation. False: it should wait. */
bool expose_forward(struct expose *x, const struct expose_request *request);
bool expose_invoke(struct expose *x, const struct expose_request *request);

/** The client takes a request back. */
void expose_cancel(struct expose *x, const struct mcpx_rpc *rpc);

/**
 * Tells the topic that nobody waits for a call any more. The caller ends the call. `reason` is
 * a raw JSON string or absent.
 */
void expose_take_back(struct expose *x, struct bridge_call *call, struct mcpx_slice reason);

/** What came of sending a call's draft. If the call has ended, what was sent is taken back. */
void expose_sent(struct expose *x, const struct mcpx_draft *draft,
                 const struct bridge_outcome *outcome);

/** What came of a call: its answer; or it could not be delivered. */
void expose_answered(struct expose *x, struct bridge_call *call,
                     const struct mcpx_event *event);
void expose_undelivered(struct expose *x, struct bridge_call *call,
                        const struct mcpx_event *event);

/** Ends calls whose time is over; and when that is due. */
void expose_calls_tick(struct expose *x);
int64_t expose_calls_deadline(const struct expose *x);

/** The longest time that the client waits for the topic's servers. */
enum { EXPOSE_HOLD_MS = 3000 };

/**
 * The destination of a request. Slices are lent until a name is given or a participant leaves.
 *
 * thing    whose it is, and what it is called there
 * rival    who else's it could be
 * space    of what has a rival
 * name     what the client calls it
 * own      memory for a name that was taken out of that
 * params   with its own name
 */
struct expose_route {
    struct expose_thing thing;
    struct mcpx_slice rival;
    enum expose_space space;
    struct mcpx_text name, own, params;
};

enum expose_routing { EXPOSE_ROUTED, EXPOSE_UNKNOWN, EXPOSE_AMBIGUOUS, EXPOSE_MALFORMED };

/** Finds the participant a request is for. `out` is zero-initialised; for expose_route_fini. */
enum expose_routing expose_route_find(struct expose *x, const struct mcpx_rpc *rpc,
                                      struct expose_route *out);
void expose_route_fini(struct expose_route *route);

/** Sends a call as proposal; and it was sent. */
void expose_propose(struct expose *x, struct bridge_call *call);
void expose_proposed(struct expose *x, struct bridge_call *call);

/** Somebody acts on it, or rejected it. */
void expose_approved(struct expose *x, struct bridge_call *call,
                     const struct mcpx_event *event);
void expose_rejected(struct expose *x, struct bridge_call *call,
                     const struct mcpx_event *event);

/** Tells that a proposal still waits. */
void expose_send_heartbeat(struct expose *x, struct bridge_call *call);

/** It may be neither requested nor proposed: ends it, with the grant that is missing. */
void expose_refuse(struct expose *x, struct bridge_call *call, struct mcpx_slice would_allow);

/** Ends a call that was answered or is no longer waited for, and the questions about it. */
void expose_end(struct expose *x, struct bridge_call *call);

/**
 * Ends it with an error. The client gets the error when the call is its own.
 *
 * message   a sentence for people
 * more      members of the error's data; NULL: none
 */
void expose_fail(struct expose *x, struct bridge_call *call, enum mcpx_cause cause,
                 struct mcpx_slice message, const struct mcpx_text *more);

/**
 * Ends a call of the client with an answer: what `how` says, or what terms make of it.
 *
 * how       without its time; `is_error`: the text is that of an error
 * message   the server's own, of which other members stay; absent: none
 */
void expose_finish(struct expose *x, struct bridge_call *call, struct mcpx_call_end *how,
                   struct mcpx_slice message);

/** Somebody else's answer to a call, with the client's id in it. Ends the call. */
void expose_answer(struct expose *x, struct bridge_call *call, const struct mcpx_rpc *rpc);

/** Whether the participant of a route has listed its tool, so that a call of it can be judged. */
bool expose_terms_know(struct expose *x, const struct expose_route *route);

/**
 * The first door: before a call is sent or proposed.
 *
 * route   whose tool it is, and the params for it; NULL: nobody's
 * out     filled when it is passed on: `params`, if any, lent until another call comes or ends
 *
 * Returns false when the client was answered instead.
 */
bool expose_terms_admit(struct expose *x, const struct expose_request *request,
                        const struct expose_route *route, struct mcpx_admission *out);

/**
 * Both doors for a line of the client that waited and is not served any more: nothing is sent. A
 * line that is no call of a tool, or is not under terms, is left alone: returns false.
 *
 * is_told   the client is answered
 */
bool expose_terms_turn_away(struct expose *x, struct mcpx_slice line, bool is_told);

/** Writes down a line of the client that is no request, if it was meant as a call of a tool. */
void expose_terms_note_broken(struct expose *x, struct mcpx_slice message,
                              const struct mcpx_fault *fault);

/* ---- ids that servers give out, and the ids that the client knows for them. ---- */

/** The member in which an object may hold such an id, besides the related task in `_meta`. */
enum { EXPOSE_ID_OF_TASK = 1, EXPOSE_ID_IN_TASK = 2, EXPOSE_ID_OF_ELICITATION = 4 };

/**
 * Append an object of this participant with the ids the client knows; and on the way back one of
 * the client's, its related task only. False, and nothing appended, when it stays as it is.
 */
bool expose_ids_show(struct expose *x, struct mcpx_slice participant, struct mcpx_slice object,
                     unsigned where, struct mcpx_text *out);
bool expose_ids_restore(struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice object, struct mcpx_text *out);

/** Remember an id that this participant gave out, raw; and those in its answer to a call. */
void expose_ids_note(struct expose *x, struct mcpx_slice participant, enum expose_space space,
                     struct mcpx_slice raw);
void expose_ids_note_answer(struct expose *x, const struct bridge_call *call,
                            const struct mcpx_rpc *rpc);

/** Whether this participant gave it out. */
bool expose_ids_owns(const struct expose *x, struct mcpx_slice participant,
                     enum expose_space space, struct mcpx_slice raw);

/* ---- who is a server, what they offer, and when that is known or has changed. ---- */

/** Something about the lists may have changed. */
void expose_touch(struct expose *x);

/** Compares the seats with the roster and asks new participants; with `again`, all. */
void expose_probe_all(struct expose *x, bool again);

/** A participant came or changed. It is asked when it is new. */
void expose_probe_came(struct expose *x, struct mcpx_slice participant);

/**
 * We have connected again. Participants that are missing may have lost their connection at the
 * same time: we wait for them, and calls to them wait too.
 */
void expose_probe_rejoined(struct expose *x, bool again);

/** A participant left: its seat, its calls and its requests end. The id may be that in its seat. */
void expose_probe_left(struct expose *x, struct mcpx_slice participant);

/** A participant said that a list changed. */
void expose_probe_changed(struct expose *x, struct mcpx_slice participant,
                          enum expose_list list);

/** Reads lists that changed and have rested; and when that is due for a participant. */
void expose_probe_tick(struct expose *x);
int64_t expose_probe_deadline(const struct expose *x, const struct expose_seat *seat);

/** An answer to a call for the catalogue, or NULL when there is none; ends the call. */
void expose_probe_answer(struct expose *x, struct bridge_call *call,
                         const struct mcpx_rpc *rpc);

/** Ends any call without an answer: with an error, one for the catalogue in silence. */
void expose_give_up(struct expose *x, struct bridge_call *call, enum mcpx_cause cause,
                    struct mcpx_slice message);

/** The router refused a call for the catalogue: ends it. Lists need no "initialize" before. */
void expose_probe_refused(struct expose *x, struct bridge_call *call);

/** Removes missing participants for which we do not wait, or no longer wait. */
void expose_probe_missing(struct expose *x);

/** True when the client need not wait for any answer; `list` may be -1 = any. */
bool expose_is_settled(const struct expose *x, int list);

/** Ends waits whose time is over, and tells which lists have changed; and when that is due. */
void expose_settle_tick(struct expose *x);
int64_t expose_settle_deadline(const struct expose *x);

/** Appends `{"MEMBER":[...]}` and remembers that the client knows it. */
void expose_write_list(struct expose *x, enum expose_list list, struct mcpx_text *out);

/* ---- messages to the topic, and what of it is shown. ---- */

/** A kind as a session makes it: without the context where that does not fit. */
struct expose_kind {
    char text[MCPX_KIND_MAX + 1];
    struct mcpx_kind kind;
};

/** Writes a kind. Returns false when even the method does not fit. */
bool expose_kind_make(struct expose_kind *out, const char *type, struct mcpx_slice method,
                      struct mcpx_slice context);

/** How we may send a call about this thing: REQUESTED, else PROPOSED, else REFUSED. */
enum expose_stage expose_find_stage(struct expose *x, struct mcpx_slice method,
                                    const struct expose_thing *thing);

/**
 * Sends a call as request, or as proposal when its stage is PROPOSED. What came of it is told to
 * expose_sent.
 */
void expose_send_call(struct expose *x, const struct bridge_call *call);

/**
 * Sends a call of ours. Takes `params`: JSON, or empty for none. Returns NULL when we may not;
 * nothing is under way then.
 */
struct bridge_call *expose_send_own(struct expose *x, enum expose_purpose purpose,
                                    struct mcpx_slice participant, const char *method,
                                    struct mcpx_text params);

/** Appends why a call could not be sent. */
void expose_add_unsent(struct expose *x, const struct bridge_call *call, enum mcpx_err err,
                       struct mcpx_text *out);

/**
 * The session need not wait any longer for an answer to that envelope of ours (FORGET), or from us
 * to that of somebody else (DROP).
 */
void expose_want(struct expose *x, enum bridge_action_type type, struct mcpx_slice envelope);

/**
 * Sends a notification about a call's envelope (or none), when we may. Takes `params`: JSON, or
 * empty for none.
 */
void expose_send_notice(struct expose *x, struct mcpx_slice participant, const char *method,
                        struct mcpx_text params, struct mcpx_slice about);

/** Sends mcp/withdraw for a proposal to this participant, when we may and it has an envelope. */
void expose_send_withdrawal(struct expose *x, struct mcpx_slice participant,
                            struct mcpx_slice envelope, const char *reason);

/**
 * Whether this is shown: the participant with everything it has, or the name that the client
 * sees (or would see, absent).
 */
bool expose_only_covers(const struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice shown);

/** Whether the participant could have anything that is shown. Otherwise it is not asked. */
bool expose_only_wants(const struct expose *x, struct mcpx_slice participant);

#endif
