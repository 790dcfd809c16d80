/*
 * answer.h - what of ours a request fulfils or a response answers; asked of live messages and of
 * history.
 * Includes session_state.h only.
 */
#ifndef MX_ANSWER_H
#define MX_ANSWER_H

#include "lib/participant/session_state.h"

/**
 * Does this response, in session->envelope with a true payload in session->rpc, answer what is
 * pending?
 *
 * own     filled with the request or proposal of ours that its correlation_id is about; NULL when it
 *         is about none
 *
 * Returns MCPX_VIOLATION_COUNT when it is an answer to it or `own` is NULL.
 */
enum mcpx_violation mx_answer_judge(struct mcpx_session *session, struct mx_own **own,
                                    struct mcpx_fault *fault);

/** Tells RESPONSE and no longer waits. */
void mx_answer_settle(struct mcpx_session *session, const struct mx_incoming *in,
                      struct mx_own *own);

/**
 * The proposal of ours that the request in session->envelope, from somebody else, fulfils; NULL
 * when it fulfils none.
 */
struct mx_own *mx_answer_fulfils(struct mcpx_session *session);

/**
 * The view of that request, with the addressees of whom an answer is believed: its own, or those of
 * the proposal `own` when it has none.
 */
struct mx_asked mx_answer_asks(const struct mcpx_session *session, const struct mx_own *own);

#endif
