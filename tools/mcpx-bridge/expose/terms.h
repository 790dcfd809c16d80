/*
 * terms.h - calls of tools under terms: the two doors that each goes through. Without terms nothing
 * of it is called.
 */
#ifndef MCPX_BRIDGE_EXPOSE_TERMS_H
#define MCPX_BRIDGE_EXPOSE_TERMS_H

#include "tools/mcpx-bridge/expose/calls.h"

#include <mcpx/rpc.h>
#include <mcpx/terms.h>

struct expose;
struct expose_request;
struct expose_route;

/** True when requests of that method are under terms: it is tools/call, and there are terms. */
bool expose_is_under_terms(const struct expose *x, struct mcpx_slice method);

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

/** The second door for a call that was admitted and for which there was no memory. */
void expose_terms_drop(struct expose *x, const struct expose_request *request,
                       struct mcpx_call *admitted);

/**
 * The second door: the server has answered. `text` is its result, or its error object.
 *
 * out   filled with what the client gets, lent until another call comes or ends
 */
void expose_terms_answer(struct expose *x, struct expose_call *call, bool is_error,
                         struct mcpx_slice text, struct mcpx_call_answer *out);

/**
 * The second door: the call has failed, and the client is told.
 *
 * reason   a sentence for people
 * more     members of the error's data; absent: none
 */
void expose_terms_fail(struct expose *x, struct expose_call *call, enum mcpx_cause cause,
                       struct mcpx_slice reason, struct mcpx_slice more);

/** The second door: a person said no. The client gets this result, which the caller tells. */
void expose_terms_refused(struct expose *x, struct expose_call *call,
                          struct mcpx_slice result);

/** The second door, if the call did not go through it: nobody is told. */
void expose_terms_abandon(struct expose *x, struct expose_call *call);

/** Frees what all calls have in common. */
void expose_terms_fini(struct expose *x);

#endif
