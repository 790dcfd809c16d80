/*
 * rounds.h - what comes between a call and its answer: checks, proposals, tasks, and questions of
 * servers (ask.c). A client of 2026-07-28 is asked by the answer to its call, and answers by
 * another request (rounds.c). Meanwhile the call is parked: its `state` is not empty. So is a task.
 */
#ifndef MCPX_BRIDGE_EXPOSE_ROUNDS_H
#define MCPX_BRIDGE_EXPOSE_ROUNDS_H

#include "tools/mcpx-bridge/expose/state.h"

/** Most answers "input_required" to one call. */
enum { EXPOSE_ROUNDS_MAX = 10 };

/**
 * Handles a request for us; and the failure of its answer, the RESPOND in the row. The first may
 * return a call that has to end before it is called again for the event.
 */
struct bridge_call *expose_ask(struct expose *x, const struct mcpx_event *event);
void expose_ask_unanswered(struct expose *x, const struct bridge_row *row, enum mcpx_err err);

/** Handles the client's answer to a question; or a server's cancellation of one. */
void expose_ask_answered(struct expose *x, const struct mcpx_rpc *rpc);
void expose_ask_cancelled(struct expose *x, struct mcpx_slice participant,
                          struct mcpx_slice params);

/** Answers the questions about a call of a modern client: `responses`, by their numbers. */
void expose_ask_reply(struct expose *x, const struct bridge_call *call,
                      struct mcpx_slice responses);

/** A call is over: ends the questions about it, and those of a participant without other calls. */
void expose_ask_over(struct expose *x, const struct bridge_call *call);

/** Hashes the parts of a request that must be the same when it comes again with a state. */
uint64_t expose_round_binding(const struct expose *x, const struct mcpx_rpc *rpc);

/** The questions about a call, as members of "inputRequests". */
struct mcpx_text expose_round_questions(const struct expose *x,
                                        const struct bridge_call *call);

/** Answers the client by the questions about its call, and parks that. False: there are none. */
bool expose_round_offer(struct expose *x, struct bridge_call *call);

/** Keeps the answer to a parked call, a line, taken. False when there is no room. */
bool expose_round_keep(struct expose *x, struct bridge_call *call, struct mcpx_text line);

/**
 * Changes a server's error -32042 ("visit these addresses first"), which 2026-07-28 has no more,
 * into questions; for a client that cannot be asked them, into another error.
 *
 * error     the server's
 * answer    with that error, unless contract settings gave it another form
 * scratch   memory for the change
 */
void expose_round_visits(const struct expose *x, const struct bridge_call *call,
                         struct mcpx_slice error, struct mcpx_call_answer *answer,
                         struct mcpx_text *scratch);

/** A parked call goes on for a request; asks about a call, or tells the client that it goes on. */
void expose_take_over(struct expose *x, struct bridge_call *call, const struct mcpx_rpc *rpc);
void expose_go_on(struct expose *x, struct bridge_call *call);

/* ---- tool calls under contract settings (checks.c) ---- */

/** True when the server of a route has listed the tool, so a call of it can be checked. */
bool expose_terms_know(struct expose *x, const struct expose_route *route);

/**
 * Admission: checks a call before it is sent or proposed.
 *
 * route   the tool's owner, and the params for it; NULL: no participant has the tool
 * out     filled when it is admitted: `params`, if any, lent until another call comes or ends
 *
 * Returns false when the client got a refusal.
 */
bool expose_terms_admit(struct expose *x, const struct expose_request *request,
                        const struct expose_route *route, struct mcpx_admission *out);

/* ---- proposals (proposal.c) ---- */

/** Handles the approval of a proposal; or its rejection. */
void expose_approved(struct expose *x, struct bridge_call *call,
                     const struct mcpx_event *event);
void expose_rejected(struct expose *x, struct bridge_call *call,
                     const struct mcpx_event *event);

/** Ends a call that no grant covers, with the missing grant in the error. */
void expose_refuse(struct expose *x, struct bridge_call *call, struct mcpx_slice would_allow);

/* ---- calls that wait for an approval or for messages, as tasks ---- */

/** The result of a tool that did nothing; %q says why. */
#define EXPOSE_TOOL_ERROR "{\"content\":[{\"type\":\"text\",\"text\":%q}],\"isError\":true}"

/** Why the bridge withdraws a proposal: it expired, or the client is gone. */
#define EXPOSE_TOO_LATE "no decision in time"
#define EXPOSE_NOBODY_WAITS "the client no longer waits"

/** Says what a call waits for. */
struct mcpx_text expose_waits_for(const struct expose *x, const struct bridge_call *call);

/** True when the client wants a task for a call; if so answers by one, a proposal at its echo. */
bool expose_wants_task(const struct bridge_call *call);
void expose_task_make(struct expose *x, struct bridge_call *call);
void expose_task_begin(struct expose *x, const struct mcpx_envelope *echo);
void expose_task_wait(struct expose *x, struct bridge_call *wait);

/** Serves a request about a task of ours. False: it is about something else. */
bool expose_task_serve(struct expose *x, const struct expose_request *request);

/** Tells the answer to a call that is over, for the request with that id. */
void expose_tell_kept(struct expose *x, const struct bridge_call *call, struct mcpx_slice id,
                      struct mcpx_slice answer);

#endif
