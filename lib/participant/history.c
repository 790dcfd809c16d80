/*
 * history.c - a page of envelopes from before we joined. Nothing in it is executed. But after a
 * reconnection that could not resume, it may hold answers that we still wait for, and echoes
 * that show which envelopes of ours have arrived. Its proposals are remembered, so that later
 * messages about them are understood.
 */
#include "lib/participant/history.h"

#include "lib/participant/answer.h"
#include "lib/participant/delivery.h"
#include "lib/participant/tell.h"

/* Reads every envelope once, so that reading them again cannot fail, and makes room. */
static enum mcpx_err prepare(struct mcpx_session *session, const struct mx_incoming *in,
                             struct mcpx_slice list)
{
    struct mcpx_json_walk walk;
    struct mcpx_fault fault;
    size_t count = 0;

    mcpx_json_walk_start(&walk, list);
    while (mcpx_json_walk_next(&walk)) {
        count++;
        if (mx_reader_read(&session->reader, in->block, walk.value, &fault) == MCPX_ENOMEM)
            return MCPX_ENOMEM;
    }
    return mx_session_reserve(session, count) ? MCPX_OK : MCPX_ENOMEM;
}

static bool is_type(const struct mx_incoming *in, const char *type)
{
    return mcpx_slice_equal(in->envelope->kind.type, mcpx_slice_of(type));
}

static bool is_mcp(const struct mx_incoming *in)
{
    return is_type(in, "mcp/request") || is_type(in, "mcp/response") ||
           is_type(in, "mcp/proposal");
}

/* Leaves out what memory does not allow: a page must not fail half way. */
static void note_context(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct mx_asked asked = mx_asked_of(in->envelope, in->rpc);
    struct mx_own *own;

    if (is_type(in, "mcp/request")) {
        own = mx_answer_fulfils(session, in);
        if (!own || mx_pending_fulfilment(&session->pending, asked.id))
            return;
        asked = mx_answer_asks(in, own);
        mx_pending_fulfil(&session->pending, own, &asked);
        if (own->kept)
            mx_outbox_remove(&session->outbox, own); /* somebody acts on it */
    } else if (is_type(in, "mcp/proposal") &&
               !mcpx_slice_equal(asked.from, mx_id_view(&session->id))) {
        asked.to_count = 0;
        mx_inbound_add(&session->proposals, &asked);
    }
}

/* Envelopes that we wrote before the connection broke may have arrived. */
static void note_echo(struct mcpx_session *session, const struct mcpx_envelope *envelope)
{
    struct mx_own *own = mx_pending_find(&session->pending, envelope->id);

    if (own && mx_delivery_is_ours(session, envelope))
        mx_delivery_arrived(session, own);
}

/* Returns true when it was an answer that we waited for. */
static bool settles(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct mcpx_fault fault;
    struct mx_own *own;

    if (!is_type(in, "mcp/response") || mx_answer_judge(session, in, &own, &fault) || !own)
        return false;
    mx_answer_settle(session, in, own);
    return true;
}

static void take_one(struct mcpx_session *session, struct mx_incoming *in)
{
    struct mcpx_fault fault;
    struct mx_event *event;

    if (mx_reader_open(&session->reader, in, &fault)) {
        mx_tell_violation(session, in, MCPX_VIOLATION_TEXT, &fault);
        return;
    }
    if (is_mcp(in) && !mx_reader_judge(&session->reader, in, &fault))
        note_context(session, in);
    note_echo(session, in->envelope);
    if (in->rpc && settles(session, in))
        return;
    event = mx_tell(session, in, MCPX_EVENT_HISTORY);
    event->told.repeated =
        mx_recent_has(&session->recent, mx_recent_digest(&session->recent, in->envelope));
}

enum mcpx_err mx_history_receive(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct mcpx_slice list = mcpx_json_get(in->envelope->payload, "envelopes");
    struct mx_incoming one = *in;
    struct mcpx_json_walk walk;

    if (mcpx_json_type(list) != MCPX_JSON_ARRAY) {
        mx_tell_expected(session, in, MCPX_VIOLATION_TEXT, "payload",
                         "expected a page with envelopes");
        return MCPX_OK;
    }
    if (prepare(session, in, list))
        return MCPX_ENOMEM;
    mcpx_json_walk_start(&walk, list); /* in the text, which stays */
    while (mcpx_json_walk_next(&walk)) {
        one.span = walk.value;
        take_one(session, &one);
    }
    return MCPX_OK;
}
