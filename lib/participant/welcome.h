/*
 * welcome.h - the router's welcome: our id, our grants, the roster.
 */
#ifndef MX_WELCOME_H
#define MX_WELCOME_H

#include "lib/participant/session_state.h"

/**
 * Receives a system/welcome. Tells JOINED, or GRANTS when we had joined already. Returns
 * MCPX_OK, or MCPX_ENOMEM with nothing changed. Protocol: section 5.
 */
enum mcpx_err mx_welcome_receive(struct mcpx_session *session, const struct mx_incoming *in);

#endif
