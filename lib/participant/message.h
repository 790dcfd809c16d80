/*
 * message.h - what a participant says.
 */
#ifndef MX_MESSAGE_H
#define MX_MESSAGE_H

#include "lib/participant/session_state.h"

/** Takes in what a participant says. Returns MCPX_OK, or MCPX_ENOMEM with nothing done. */
enum mcpx_err mx_message_receive(struct mcpx_session *session, struct mx_incoming *in);

#endif
