/*
 * session_state.c - functions that every part of a session uses.
 */
#include "lib/participant/session_state.h"

void mx_id_set(struct mx_id *id, struct mcpx_slice text)
{
    memmove(id->text, text.text, text.len);
    id->len = text.len;
}

void mx_session_fill(const struct mcpx_session *session, void *bytes, size_t len)
{
    session->config.fill(session->config.context, bytes, len);
}

/*
 * Each envelope under way makes two events more: it arrives, and it is answered or expires. The
 * end of the connection makes one. Room for all of these is made beforehand.
 */
bool mx_session_reserve(struct mcpx_session *session, size_t more)
{
    return mx_events_reserve(&session->events, more + 2 * session->pending.ids.count + 1);
}
