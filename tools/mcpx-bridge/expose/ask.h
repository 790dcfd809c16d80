/*
 * ask.h - requests of servers to the client.
 */
#ifndef MCPX_BRIDGE_EXPOSE_ASK_H
#define MCPX_BRIDGE_EXPOSE_ASK_H

#include <mcpx/session.h>

struct expose;
struct expose_call;
struct bridge_row;

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
