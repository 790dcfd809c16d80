/*
 * refusal.h - what the router refuses.
 */
#ifndef MX_REFUSAL_H
#define MX_REFUSAL_H

#include "lib/participant/session_state.h"

/** Takes in a system/error. Returns MCPX_OK, or MCPX_ENOMEM with nothing done. Protocol: section 6. */
enum mcpx_err mx_refusal_receive(struct mcpx_session *session, const struct mx_incoming *in);

#endif
