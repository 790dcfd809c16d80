/*
 * answer.h - which proposal of ours a request fulfils, and which request a response answers.
 * Used for live messages and for history.
 */
#ifndef MX_ANSWER_H
#define MX_ANSWER_H

#include "lib/participant/session_state.h"

/**
 * Checks whether this response, whose payload was read, answers a pending envelope of ours.
 *
 * own     filled with the request or proposal of ours that its correlation_id is about; NULL when
 *         it is about none
 *
 * Returns MCPX_VIOLATION_NONE when it is an answer to it or `own` is NULL.
 */
enum mcpx_violation mx_answer_judge(const struct mcpx_session *session,
                                    const struct mx_incoming *in, struct mx_own **own,
                                    struct mcpx_fault *fault);

/** Tells RESPONSE, and ends the waiting for it. */
void mx_answer_settle(struct mcpx_session *session, const struct mx_incoming *in,
                      struct mx_own *own);

/**
 * The proposal of ours that this request, whose payload was read, fulfils; NULL when it fulfils
 * none or is our own.
 */
struct mx_own *mx_answer_fulfils(const struct mcpx_session *session,
                                 const struct mx_incoming *in);

/**
 * The view of that request, with the addressees that may answer it: its own, or those of the
 * proposal `own` when it has none.
 */
struct mx_asked mx_answer_asks(const struct mx_incoming *in, const struct mx_own *own);

#endif
