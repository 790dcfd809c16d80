/*
 * request.h - a request of the client on its way through the topic.
 */
#ifndef MCPX_BRIDGE_EXPOSE_REQUEST_H
#define MCPX_BRIDGE_EXPOSE_REQUEST_H

#include "tools/mcpx-bridge/expose/calls.h"

#include <mcpx/session.h>

struct expose;
struct bridge_outcome;
struct expose_request;

/** Sends a request on. Returns false when it should wait. */
bool expose_forward(struct expose *x, const struct expose_request *request);

/** A call of a tool in the form of an invocation, for terms. Returns false when it should wait. */
bool expose_invoke(struct expose *x, const struct expose_request *request);

/** The client takes a request back. */
void expose_cancel(struct expose *x, const struct mcpx_rpc *rpc);

/**
 * Tells the topic that nobody waits for a call any more. The caller ends the call. `reason` is
 * a raw JSON string or absent.
 */
void expose_take_back(struct expose *x, struct expose_call *call, struct mcpx_slice reason);

/** What came of sending a call's draft. If the call has ended, what was sent is taken back. */
void expose_sent(struct expose *x, const struct mcpx_draft *draft,
                 const struct bridge_outcome *outcome);

/** The answer came. */
void expose_answered(struct expose *x, struct expose_call *call,
                     const struct mcpx_event *event);

/** The session no longer waits for its answer. */
void expose_expired(struct expose *x, struct expose_call *call,
                    const struct mcpx_event *event);

/** It could not be delivered. */
void expose_undelivered(struct expose *x, struct expose_call *call,
                        const struct mcpx_event *event);

/** Ends calls whose time is over. */
void expose_calls_tick(struct expose *x);

/** When expose_calls_tick is due. */
int64_t expose_calls_deadline(const struct expose *x);

#endif
