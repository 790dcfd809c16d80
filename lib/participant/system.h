/*
 * system.h - messages of the router.
 */
#ifndef MX_SYSTEM_H
#define MX_SYSTEM_H

#include "lib/participant/session_state.h"

/**
 * Receives a system/... message. Returns MCPX_OK, or MCPX_ENOMEM with nothing changed.
 * Protocol: sections 5 and 6.
 */
enum mcpx_err mx_system_receive(struct mcpx_session *session, const struct mx_incoming *in);

#endif
