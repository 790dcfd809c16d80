/*
 * tell.c - makes events and tells them to the application. When something happens, the event
 * notes its message; when the event is told, the message is read again. The event told last
 * keeps everything that it lends.
 */
#include "lib/participant/tell.h"

void mx_event_about(struct mx_event *event, struct mx_own *own)
{
    if (own)
        event->own = mx_own_ref(own);
}

struct mx_event *mx_tell(struct mcpx_session *session, const struct mx_incoming *in,
                         enum mcpx_event_type type)
{
    struct mx_event *event = mx_events_push(&session->events, type);

    if (!in->envelope)
        return event;
    event->block = mx_block_ref(in->block);
    event->envelope = in->span;
    event->has_rpc = in->rpc != NULL;
    return event;
}

void mx_tell_violation(struct mcpx_session *session, const struct mx_incoming *in,
                       enum mcpx_violation violation, const struct mcpx_fault *fault)
{
    struct mx_event *event = mx_tell(session, in, MCPX_EVENT_VIOLATION);

    event->told.violation = violation;
    event->told.fault = *fault;
}

void mx_tell_expected(struct mcpx_session *session, const struct mx_incoming *in,
                      enum mcpx_violation violation, const char *field, const char *expected)
{
    struct mcpx_fault fault = {expected, field, 0};

    mx_tell_violation(session, in, violation, &fault);
}

struct mx_event *mx_tell_own(struct mcpx_session *session, enum mcpx_event_type type,
                             struct mx_own *own)
{
    struct mx_event *event = mx_events_push(&session->events, type);

    mx_event_about(event, own);
    return event;
}

/* Both were read before, by the same reader: neither can fail. */
static void read_again(struct mcpx_session *session, struct mx_event *event)
{
    struct mcpx_fault fault;

    if (mx_reader_read(&session->reader, event->block, event->envelope, &fault))
        return;
    event->told.envelope = &session->reader.envelope;
    if (event->has_rpc)
        event->told.rpc = mx_reader_rpc(&session->reader);
}

static void name_own(struct mx_event *event)
{
    struct mcpx_event *told = &event->told;

    if (event->own) {
        told->own = mx_own_id(event->own);
        told->tag = event->own->tag;
    } else if (event->own_is_correlation && told->envelope) {
        told->own = told->envelope->correlation_id;
    }
    if (event->proposal == MX_PROPOSAL_OWN)
        told->proposal = told->own;
    else if (event->proposal == MX_PROPOSAL_CORRELATION && told->envelope)
        told->proposal = told->envelope->correlation_id;
}

bool mcpx_session_event(struct mcpx_session *session, struct mcpx_event *event)
{
    struct mx_event next;

    if (!mx_events_pop(&session->events, &next))
        return false;
    mx_event_fini(&session->told);
    session->told = next;
    if (next.block)
        read_again(session, &session->told);
    name_own(&session->told);
    *event = session->told.told;
    return true;
}
