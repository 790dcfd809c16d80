/*
 * proposal.h - a request of the client that needs somebody's consent.
 */
#ifndef MCPX_BRIDGE_EXPOSE_PROPOSAL_H
#define MCPX_BRIDGE_EXPOSE_PROPOSAL_H

#include "tools/mcpx-bridge/expose/calls.h"

#include <mcpx/session.h>

struct expose;

/** Sends a call as proposal; when memory runs out the call is over. */
void expose_propose(struct expose *x, struct expose_call *call);

/** What came of it; on failure the call is over. */
void expose_proposed(struct expose *x, struct expose_call *call, enum mcpx_err err);

/** Somebody acts on it. */
void expose_approved(struct expose *x, struct expose_call *call,
                     const struct mcpx_event *event);

/** Somebody rejected it. */
void expose_rejected(struct expose *x, struct expose_call *call,
                     const struct mcpx_event *event);

/** Tells that a proposal still waits. */
void expose_send_heartbeat(struct expose *x, struct expose_call *call);

/**
 * The call was refused and cannot be proposed: answers with the grant that is missing. Ends the
 * call.
 */
void expose_refuse(struct expose *x, struct expose_call *call, struct mcpx_slice would_allow);

#endif
