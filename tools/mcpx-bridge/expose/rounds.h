/*
 * rounds.h - questions of servers to the client (ask.c). A client of 2026-07-28 is asked by the
 * answer to its call, and answers by another request (rounds.c). Meanwhile the call is parked: its
 * `state` is not empty.
 */
#ifndef MCPX_BRIDGE_EXPOSE_ROUNDS_H
#define MCPX_BRIDGE_EXPOSE_ROUNDS_H

#include "tools/mcpx-bridge/expose/state.h"

/**
 * Handles a request for us; and the failure of its answer, the RESPOND in the row. The third finds
 * the call that the client could be asked about by it; NULL: none.
 */
void expose_ask(struct expose *x, const struct mcpx_event *event);
void expose_ask_unanswered(struct expose *x, const struct bridge_row *row, enum mcpx_err err);
struct bridge_call *expose_ask_about(const struct expose *x, const struct mcpx_event *event);

/** Handles the client's answer to a question; or a server's cancellation of one. */
void expose_ask_answered(struct expose *x, const struct mcpx_rpc *rpc);
void expose_ask_cancelled(struct expose *x, struct mcpx_slice participant,
                          struct mcpx_slice params);

/** Answers the questions about a call of a modern client: `responses`, by their numbers. */
void expose_ask_reply(struct expose *x, const struct bridge_call *call,
                      struct mcpx_slice responses);

/** A call ends: ends the questions about it, and those of a participant without other calls. */
void expose_ask_over(struct expose *x, const struct bridge_call *call);

/**
 * Ends a participant's questions and tells the client; absent: all questions, and it is not told.
 * `reason`: the error for the asker; NULL: no answer.
 */
void expose_ask_end(struct expose *x, struct mcpx_slice participant, const char *reason);

/**
 * Most answers "input_required" to one call; most questions that the client has open, and most
 * parked calls: one participant may have a quarter.
 */
enum { EXPOSE_ROUNDS_MAX = 10, EXPOSE_ASKS_MAX = 256 };

/** Why the client cannot be asked about a call; NULL: it can. */
const char *expose_round_obstacle(const struct expose *x, const struct bridge_call *call);

/**
 * Among several clients, one that does not answer must not use up the questions of all: at the
 * limit, a parked call ends for a question about this call. It is the oldest of the participant; if
 * that has none, the oldest of all. NULL: no call has to end, or can.
 */
struct bridge_call *expose_round_excess(const struct expose *x,
                                        const struct bridge_call *call);

/** There is a question about a call: the client gets it soon, or when it asks again. */
void expose_round_want(struct expose *x, struct bridge_call *call);

/** Answers the client by the questions about its call, and parks that. False: there are none. */
bool expose_round_offer(struct expose *x, struct bridge_call *call);

/**
 * The error of a server for a modern client. "Visit these addresses first" (-32042) of 2025-11-25
 * parks the call; the error is then for a client that did not. `scratch`: memory for a change.
 */
struct mcpx_slice expose_round_error(struct expose *x, struct bridge_call *call,
                                     struct mcpx_slice error, struct mcpx_text *scratch);

/** Keeps the answer to a parked call, a line, taken. False when there is no room. */
bool expose_round_keep(struct expose *x, struct bridge_call *call, struct mcpx_text line);

/**
 * Finds the parked call that a request goes on with, by its "requestState". False: that is a
 * server's, or none.
 *
 * out   NULL: the state is ours, but of no call that waits for this request
 */
bool expose_round_find(const struct expose *x, const struct mcpx_rpc *rpc,
                       struct bridge_call **out);

/** Hashes the parts of a request that must be the same when it comes again with a state. */
uint64_t expose_round_binding(const struct expose *x, const struct mcpx_rpc *rpc);

#endif
