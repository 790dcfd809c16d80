/*
 * presence.h - participants that come, leave or change.
 */
#ifndef MX_PRESENCE_H
#define MX_PRESENCE_H

#include "lib/participant/session_state.h"

/**
 * Receives a system/presence. Returns MCPX_OK, or MCPX_ENOMEM with nothing changed. Protocol:
 * section 5.
 */
enum mcpx_err mx_presence_receive(struct mcpx_session *session, const struct mx_incoming *in);

#endif
