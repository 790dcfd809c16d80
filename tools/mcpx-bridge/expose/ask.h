/*
 * ask.h - requests of servers to the client.
 */
#ifndef MCPX_BRIDGE_EXPOSE_ASK_H
#define MCPX_BRIDGE_EXPOSE_ASK_H

#include <mcpx/session.h>

struct expose;
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

/** A call ended. When it was the participant's last, so do its questions. */
void expose_ask_over(struct expose *x, struct mcpx_slice participant);

/** The client is gone: nobody answers any more. */
void expose_ask_leave(struct expose *x);

/** Forgets what a participant, or with an absent slice anybody, asked; the client is told. */
void expose_ask_drop(struct expose *x, struct mcpx_slice participant);

#endif
