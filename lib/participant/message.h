/*
 * message.h - messages of participants.
 */
#ifndef MX_MESSAGE_H
#define MX_MESSAGE_H

#include "lib/participant/session_state.h"

/**
 * Receives a message of a participant. Returns MCPX_OK, or MCPX_ENOMEM with nothing changed.
 */
enum mcpx_err mx_message_receive(struct mcpx_session *session, struct mx_incoming *in);

#endif
