/*
 * system.c - the router's messages by kind. A system message from any other sender is a
 * violation.
 */
#include "lib/participant/system.h"

#include "lib/participant/history.h"
#include "lib/participant/presence.h"
#include "lib/participant/refusal.h"
#include "lib/participant/tell.h"
#include "lib/participant/welcome.h"

static bool is_kind(const struct mcpx_envelope *envelope, const char *kind)
{
    return mcpx_slice_equal(envelope->kind.text, mcpx_slice_of(kind));
}

enum mcpx_err mx_system_receive(struct mcpx_session *session, const struct mx_incoming *in)
{
    const struct mcpx_envelope *envelope = in->envelope;

    if (!mcpx_slice_equal(envelope->from, MCPX_SLICE("system:gateway"))) {
        mx_tell_expected(session, in, MCPX_VIOLATION_ROUTER, "from",
                         "expected it from system:gateway");
        return MCPX_OK;
    }
    if (is_kind(envelope, "system/welcome"))
        return mx_welcome_receive(session, in);
    if (is_kind(envelope, "system/error"))
        return mx_refusal_receive(session, in);
    if (!mx_connection_is_joined(session->connection)) {
        mx_tell_expected(session, in, MCPX_VIOLATION_ROUTER, "kind",
                         "expected system/welcome first");
        return MCPX_OK;
    }
    if (is_kind(envelope, "system/presence"))
        return mx_presence_receive(session, in);
    if (is_kind(envelope, "system/history"))
        return mx_history_receive(session, in);
    if (is_kind(envelope, "system/position")) {
        mx_place_told(&session->place, envelope->payload);
        return MCPX_OK;
    }
    mx_tell(session, in, MCPX_EVENT_MESSAGE);
    return MCPX_OK;
}
