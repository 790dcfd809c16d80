/*
 * welcome.h - who we are, what we may, who is there.
 */
#ifndef MX_WELCOME_H
#define MX_WELCOME_H

#include "lib/participant/session_state.h"

/**
 * Takes in a system/welcome: JOINED, or GRANTS when we had joined already. Returns MCPX_OK, or
 * MCPX_ENOMEM with nothing done. Protocol: section 5.
 */
enum mcpx_err mx_welcome_receive(struct mcpx_session *session, const struct mx_incoming *in);

#endif
