/*
 * delivery.c - outbox and pending do not know each other: the functions that change both are
 * here. The addressees of an envelope are read again from its text, because they are needed at
 * most once per connection.
 */
#include "lib/participant/delivery.h"

#include "lib/participant/tell.h"

void mx_delivery_drop(struct mcpx_session *session, struct mx_own *own)
{
    mx_outbox_remove(&session->outbox, own);
    mx_pending_settle(&session->pending, own);
    mx_pending_release(&session->pending, own);
}

void mx_delivery_arrived(struct mcpx_session *session, struct mx_own *own)
{
    if (!own->text)
        return;
    if (!own->kept)
        mx_tell_own(session, MCPX_EVENT_DELIVERED, own);
    if (!own->has_no_echo) {
        session->storing.failures = 0;
        mx_outbox_arrived(&session->outbox);
    }
    mx_pending_keep_open(&session->pending, own);
    mx_outbox_remove(&session->outbox, own);
    mx_pending_release(&session->pending, own);
}

bool mx_delivery_is_ours(const struct mcpx_session *session,
                         const struct mcpx_envelope *envelope)
{
    struct mcpx_slice former = mx_id_view(&session->former);

    if (mcpx_slice_equal(envelope->from, mx_id_view(&session->id)))
        return true;
    return former.len > 0 && mcpx_slice_equal(envelope->from, former) &&
           mx_pending_find(&session->pending, envelope->id);
}

/*
 * When somebody acts on a proposal already, its answer will come. It is not written again, so
 * that nobody else acts on it too.
 */
bool mx_delivery_renew(struct mcpx_session *session)
{
    bool any = false;

    for (struct mx_own *own = session->pending.open_first; own; own = own->open_next) {
        if (own->text || own->fulfilments)
            continue;
        own->text = mx_block_ref(own->kept);
        mx_outbox_add(&session->outbox, own);
        any = true;
    }
    return any;
}

void mx_delivery_refuse_overlong(struct mcpx_session *session)
{
    struct mx_own *next, *own = session->outbox.first;

    for (; own; own = next) {
        struct mx_event *event;

        next = own->next;
        if (!session->message_max || own->text->len <= session->message_max)
            continue;
        event = mx_tell_own(session, MCPX_EVENT_REFUSED, own);
        event->told.err = MCPX_ETOOBIG;
        event->told.reason = mcpx_slice_of(mcpx_strerror(MCPX_ETOOBIG));
        mx_delivery_drop(session, own);
    }
}

void mx_delivery_learn_id(struct mcpx_session *session)
{
    struct mcpx_slice us = mx_id_view(&session->id);
    struct mcpx_envelope envelope;
    struct mcpx_fault fault;

    mcpx_envelope_init(&envelope);
    for (struct mx_own *own = session->outbox.first; own; own = own->next) {
        if (!own->has_no_echo ||
            mcpx_envelope_parse(mx_block_text(own->text), MX_DEPTH_MAX, &envelope, &fault))
            continue;
        own->has_no_echo = !mx_id_is_among(us, envelope.to, envelope.to_count);
    }
    mcpx_envelope_fini(&envelope);
}

void mx_delivery_need(struct mcpx_session *session, const struct mcpx_slice *to, size_t count)
{
    if (mx_absent_need(&session->absent, to, count, session->mono_ms))
        mx_outbox_hold(&session->outbox, session->absent.until);
}

/* When there is no memory to read an envelope, its addressees are not waited for. */
void mx_delivery_note_absent(struct mcpx_session *session, const struct mx_roster *others)
{
    struct mcpx_envelope envelope;
    struct mcpx_fault fault;

    mx_absent_note(&session->absent, &session->roster, others);
    mcpx_envelope_init(&envelope);
    for (struct mx_own *own = session->outbox.first; own; own = own->next)
        if (!mcpx_envelope_parse(mx_block_text(own->text), MX_DEPTH_MAX, &envelope, &fault))
            mx_delivery_need(session, envelope.to, envelope.to_count);
    mcpx_envelope_fini(&envelope);
}
