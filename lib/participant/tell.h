/*
 * tell.h - events on their way to the application. There is room for each (mx_session_reserve); it is
 * returned to be completed.
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

/** An event about an envelope of ours; takes a reference of it. */
struct mx_event *mx_tell_own(struct mcpx_session *session, enum mcpx_event_type type,
                             struct mx_own *own);

/** Notes which envelope of ours an event is about; NULL is allowed. */
void mx_event_about(struct mx_event *event, struct mx_own *own);

#endif
