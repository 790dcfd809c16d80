/*
 * refusal.h - refusals of the router.
 */
#ifndef MX_REFUSAL_H
#define MX_REFUSAL_H

#include "lib/participant/session_state.h"

/**
 * Receives a system/error. Returns MCPX_OK, or MCPX_ENOMEM with nothing changed. Protocol:
 * section 6.
 */
enum mcpx_err mx_refusal_receive(struct mcpx_session *session, const struct mx_incoming *in);

#endif
