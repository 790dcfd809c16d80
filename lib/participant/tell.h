/*
 * tell.h - makes events for the application. Room for each was made before
 * (mx_session_reserve). The functions return the event, so that the caller can complete it.
 */
#ifndef MX_TELL_H
#define MX_TELL_H

#include "lib/participant/session_state.h"

/** An event about the incoming envelope. */
struct mx_event *mx_tell(struct mcpx_session *session, const struct mx_incoming *in,
                         enum mcpx_event_type type);

/** VIOLATION; without envelope when it could not be read. */
void mx_tell_violation(struct mcpx_session *session, const struct mx_incoming *in,
                       enum mcpx_violation violation, const struct mcpx_fault *fault);

/** The same, for a member `field` that is not what is expected. */
void mx_tell_expected(struct mcpx_session *session, const struct mx_incoming *in,
                      enum mcpx_violation violation, const char *field, const char *expected);

/** An event about an envelope of ours; keeps a reference to it. */
struct mx_event *mx_tell_own(struct mcpx_session *session, enum mcpx_event_type type,
                             struct mx_own *own);

/** Notes which envelope of ours an event is about; NULL is allowed. */
void mx_event_about(struct mx_event *event, struct mx_own *own);

#endif
