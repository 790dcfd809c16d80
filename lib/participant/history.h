/*
 * history.h - envelopes from before we joined.
 */
#ifndef MX_HISTORY_H
#define MX_HISTORY_H

#include "lib/participant/session_state.h"

/** Takes a page of history. Returns MCPX_OK; MCPX_ENOMEM with nothing done. Protocol: section 5. */
enum mcpx_err mx_history_receive(struct mcpx_session *session, const struct mx_incoming *in);

#endif
