/*
 * message.c - messages of participants, live ones and those of a page of history. A message is
 * for us, about an envelope of ours, or neither. Each kind that has a meaning in MCPx has one
 * function; all other kinds are told as MESSAGE. No payload is used before it was compared with
 * its kind.
 */
#include "lib/session/session_state.h"

/* A message while it is sorted. */
struct sorting {
    struct mcpx_session *session;
    struct mx_incoming *in;
    const struct mcpx_envelope *envelope;
    bool is_own;    /* our own echo */
    bool is_for_us; /* to be told: it is addressed to everyone (and is no echo), or names us */
};

static void tell_observed(struct sorting *sorting)
{
    if (sorting->session->config.observe)
        mx_tell(sorting->session, sorting->in, MCPX_EVENT_OBSERVED);
}

/*
 * Compares kind and payload. When they disagree, VIOLATION is told if the message would have
 * been told.
 */
static bool is_true(struct sorting *sorting, bool tell)
{
    struct mcpx_session *session = sorting->session;
    struct mcpx_fault fault = {"", "", 0};
    enum mcpx_violation violation = mx_reader_judge(&session->reader, sorting->in, &fault);

    if (violation && tell)
        mx_tell_violation(session, sorting->in, violation, &fault);
    return !violation;
}

static bool is_told(const struct sorting *sorting)
{
    return sorting->is_for_us || sorting->session->config.observe;
}

/* ---- requests and notifications ---- */

/*
 * The envelope of ours that a notification may be about: a request to its sender, or the
 * proposal that is fulfilled by the request it names. Progress reports of any other sender are
 * ignored.
 */
static struct mx_own *notified_of(const struct sorting *sorting)
{
    const struct mcpx_envelope *envelope = sorting->envelope;
    const struct mx_pending *pending = &sorting->session->pending;
    struct mx_own *own = mx_pending_awaited(pending, envelope->correlation_id);
    struct mx_fulfilment *fulfilment;

    if (own)
        return mx_asked_was_for(own->asked, envelope->from) ? own : NULL;
    fulfilment = mx_pending_fulfilment(pending, envelope->correlation_id);
    if (fulfilment && mx_asked_was_for(fulfilment->asked, envelope->from))
        return fulfilment->proposal;
    return NULL;
}

static void take_notification(struct sorting *sorting)
{
    struct mx_event *event;

    if (!sorting->is_for_us) {
        tell_observed(sorting);
        return;
    }
    event = mx_tell(sorting->session, sorting->in, MCPX_EVENT_NOTIFICATION);
    mx_event_about(event, notified_of(sorting));
}

/* The named proposal: one of ours, or one of another participant that we know. */
static bool names_proposal(const struct sorting *sorting, struct mcpx_slice *proposer)
{
    const struct mcpx_session *session = sorting->session;
    struct mcpx_slice id = sorting->envelope->correlation_id;
    const struct mx_asked *theirs = mx_inbound_find(&session->proposals, id);
    const struct mx_own *ours = mx_pending_awaited(&session->pending, id);

    if (ours && ours->proposal)
        *proposer = mx_id_view(&session->id);
    else if (theirs)
        *proposer = theirs->from;
    return theirs || (ours && ours->proposal);
}

/* The same, if the request has the operation of the proposal. */
static bool fulfils_proposal(const struct sorting *sorting, struct mcpx_slice *proposer)
{
    struct mcpx_session *session = sorting->session;
    struct mcpx_slice id = sorting->envelope->correlation_id;
    const struct mx_asked *theirs = mx_inbound_find(&session->proposals, id);

    if (mx_pending_awaited(&session->pending, id))
        return mx_answer_fulfils(session, sorting->in) && names_proposal(sorting, proposer);
    return theirs && mx_asked_is_operation(theirs, sorting->in->rpc) &&
           names_proposal(sorting, proposer);
}

/* Remembers a request for us, to be answered. */
static enum mcpx_err remember_request(struct sorting *sorting)
{
    struct mcpx_session *session = sorting->session;
    struct mx_asked asked = mx_asked_of(sorting->envelope, sorting->in->rpc);

    fulfils_proposal(sorting, &asked.proposer);
    asked.to_count = 0; /* it is for us; its other addressees are not needed */
    return mx_inbound_add(&session->requests, &asked);
}

/* The id is in use: an answer would be for the first request, whose sender still waits. */
static void tell_taken(const struct sorting *sorting)
{
    mx_tell_expected(
        sorting->session, sorting->in, MCPX_VIOLATION_TAKEN, "id",
        "expected another id than that of somebody else's open request or proposal");
}

static void tell_request(struct sorting *sorting)
{
    struct mcpx_slice proposer;
    struct mx_event *event = mx_tell(sorting->session, sorting->in, MCPX_EVENT_REQUEST);

    if (fulfils_proposal(sorting, &proposer))
        event->proposal = MX_PROPOSAL_CORRELATION;
}

/* Once somebody acts on a proposal, we wait for a response and no longer for a decision. */
static void tell_fulfilling(struct sorting *sorting, struct mx_own *own)
{
    struct mcpx_session *session = sorting->session;
    struct mcpx_slice proposed = own->asked->params, params = sorting->in->rpc->params;
    int64_t deadline = sorting->in->now.mono_ms + session->config.request_ms;
    struct mx_event *event = mx_tell(session, sorting->in, MCPX_EVENT_FULFILLING);

    mx_event_about(event, own);
    event->told.same = proposed.text && params.text ? mcpx_json_same(proposed, params)
                                                    : !proposed.text && !params.text;
    if (own->fulfilment_count == 1 && deadline > own->deadline)
        mx_pending_defer(&session->pending, own, deadline);
}

static enum mcpx_err take_fulfilment(struct sorting *sorting, struct mx_own *own, bool *told)
{
    struct mx_asked asked = mx_answer_asks(sorting->in, own);

    if (mx_pending_fulfilment(&sorting->session->pending, asked.id))
        return MCPX_OK;
    if (!mx_pending_fulfil(&sorting->session->pending, own, &asked))
        return MCPX_ENOMEM;
    *told = true;
    tell_fulfilling(sorting, own);
    return MCPX_OK;
}

static enum mcpx_err take_request(struct sorting *sorting)
{
    struct mcpx_session *session = sorting->session;
    bool is_ours = mx_pending_awaited(&session->pending, sorting->envelope->correlation_id);
    enum mcpx_err err = MCPX_OK;
    bool told = false;
    struct mx_own *own;

    if (!is_ours && !is_told(sorting))
        return MCPX_OK;
    if (!is_true(sorting, true))
        return MCPX_OK;
    if (sorting->in->rpc->form != MCPX_RPC_REQUEST) {
        take_notification(sorting);
        return MCPX_OK;
    }
    own = mx_answer_fulfils(session, sorting->in);
    if (sorting->is_for_us)
        err = remember_request(sorting);
    if (err == MCPX_EDUPLICATE) {
        tell_taken(sorting);
        return MCPX_OK;
    }
    if (err)
        return err;
    if (own)
        err = take_fulfilment(sorting, own, &told);
    if (err && sorting->is_for_us)
        mx_inbound_remove(&session->requests, sorting->envelope->id);
    else if (!err && sorting->is_for_us)
        tell_request(sorting);
    else if (!err && !told)
        tell_observed(sorting);
    return err;
}

/* ---- responses ---- */

static void take_response(struct sorting *sorting)
{
    struct mcpx_session *session = sorting->session;
    struct mcpx_slice about = sorting->envelope->correlation_id;
    bool is_ours = mx_pending_awaited(&session->pending, about) ||
                   mx_pending_fulfilment(&session->pending, about);
    struct mcpx_fault fault = {"", "", 0};
    enum mcpx_violation violation;
    struct mx_own *own;

    if (!is_ours && !is_told(sorting))
        return;
    if (!is_true(sorting, true))
        return;
    violation = mx_answer_judge(session, sorting->in, &own, &fault);
    if (violation)
        mx_tell_violation(session, sorting->in, violation, &fault);
    else if (own)
        mx_answer_settle(session, sorting->in, own);
    else
        tell_observed(sorting);
}

/* ---- proposals ---- */

/*
 * It is remembered even when others are addressed: we may get the request that fulfils it, and
 * answer the proposer as well.
 */
static enum mcpx_err take_proposal(struct sorting *sorting)
{
    struct mcpx_session *session = sorting->session;
    struct mx_asked asked;
    enum mcpx_err err;

    if (!is_true(sorting, is_told(sorting)))
        return MCPX_OK;
    asked = mx_asked_of(sorting->envelope, sorting->in->rpc);
    asked.to_count = 0;
    err = mx_inbound_add(&session->proposals, &asked);
    if (err == MCPX_ENOMEM)
        return err;
    if (err)
        tell_taken(sorting);
    else if (sorting->is_for_us)
        mx_tell(session, sorting->in, MCPX_EVENT_PROPOSAL);
    else
        tell_observed(sorting);
    return MCPX_OK;
}

static void take_withdrawal(struct sorting *sorting)
{
    struct mcpx_session *session = sorting->session;
    const struct mcpx_envelope *envelope = sorting->envelope;
    struct mcpx_slice proposer = {NULL, 0};

    if (!names_proposal(sorting, &proposer)) {
        tell_observed(sorting);
        return;
    }
    /*
     * Any instance of the proposer may take it back, since a participant may come back with
     * another number.
     */
    if (!mcpx_slice_equal(mcpx_identity_of(proposer), mcpx_identity_of(envelope->from))) {
        mx_tell_expected(session, sorting->in, MCPX_VIOLATION_PROPOSER, "from",
                         "expected it from who made the proposal");
        return;
    }
    if (sorting->is_for_us)
        mx_tell(session, sorting->in, MCPX_EVENT_WITHDRAWN)->proposal =
            MX_PROPOSAL_CORRELATION;
    else
        tell_observed(sorting);
    mx_inbound_remove(&session->proposals, envelope->correlation_id);
}

/*
 * Grants decide who may reject, as they decide who may fulfil. Once somebody acts on our
 * proposal, a rejection is too late: a response will come.
 */
static void take_own_rejection(struct sorting *sorting, struct mx_own *own)
{
    struct mcpx_session *session = sorting->session;
    struct mx_event *event;

    if (own->fulfilments) {
        tell_observed(sorting);
        return;
    }
    event = mx_tell(session, sorting->in, MCPX_EVENT_REJECTED);
    mx_event_about(event, own);
    event->proposal = MX_PROPOSAL_OWN;
    mx_delivery_drop(session, own);
}

static void take_rejection(struct sorting *sorting)
{
    struct mcpx_session *session = sorting->session;
    struct mcpx_slice about = sorting->envelope->correlation_id;
    struct mx_own *own = mx_pending_awaited(&session->pending, about);

    if (own && own->proposal)
        take_own_rejection(sorting, own);
    else if (sorting->is_for_us && mx_inbound_find(&session->proposals, about))
        mx_tell(session, sorting->in, MCPX_EVENT_REJECTED)->proposal = MX_PROPOSAL_CORRELATION;
    else
        tell_observed(sorting);
}

/* ---- all of them ---- */

/* Our own echo is no message to us, unless it is addressed to us. */
static bool take_echo(struct sorting *sorting)
{
    struct mcpx_session *session = sorting->session;
    struct mx_own *own = mx_pending_find(&session->pending, sorting->envelope->id);

    if (own)
        mx_delivery_arrived(session, own);
    if (sorting->is_for_us)
        return false;
    if (session->config.observe) {
        is_true(sorting, false);
        tell_observed(sorting);
    }
    return true;
}

static enum mcpx_err take_by_kind(struct sorting *sorting)
{
    struct mcpx_slice type = sorting->envelope->kind.type;

    if (mcpx_slice_equal(type, MCPX_SLICE("mcp/request")))
        return take_request(sorting);
    if (mcpx_slice_equal(type, MCPX_SLICE("mcp/proposal")))
        return take_proposal(sorting);
    if (mcpx_slice_equal(type, MCPX_SLICE("mcp/response")))
        take_response(sorting);
    else if (mcpx_slice_equal(type, MCPX_SLICE("mcp/withdraw")))
        take_withdrawal(sorting);
    else if (mcpx_slice_equal(type, MCPX_SLICE("mcp/reject")))
        take_rejection(sorting);
    else if (sorting->is_for_us)
        mx_tell(sorting->session, sorting->in, MCPX_EVENT_MESSAGE);
    else
        tell_observed(sorting);
    return MCPX_OK;
}

enum mcpx_err mx_message_receive(struct mcpx_session *session, struct mx_incoming *in)
{
    const struct mcpx_envelope *envelope = in->envelope;
    struct mcpx_slice us = mx_id_view(&session->id);
    bool is_named_us = mx_id_is_among(us, envelope->to, envelope->to_count);
    struct sorting sorting = {
        .session = session,
        .in = in,
        .envelope = envelope,
        .is_own = mx_delivery_is_ours(session, envelope),
    };
    uint64_t digest;
    enum mcpx_err err;

    sorting.is_for_us = is_named_us || (envelope->to_count == 0 && !sorting.is_own);
    if (sorting.is_own && take_echo(&sorting))
        return MCPX_OK;
    if (!mx_recent_reserve(&session->recent))
        return MCPX_ENOMEM;
    digest = mx_recent_digest(&session->recent, envelope);
    if (mx_recent_has(&session->recent, digest)) {
        if (session->config.observe)
            mx_tell(session, in, MCPX_EVENT_OBSERVED)->told.repeated = true;
        return MCPX_OK;
    }
    err = take_by_kind(&sorting);
    if (!err)
        mx_recent_note(&session->recent, digest);
    return err;
}

/* ---- history ---- */

/* Reads every envelope once, so that reading them again cannot fail, and makes room. */
static enum mcpx_err prepare(struct mcpx_session *session, const struct mx_incoming *in,
                             struct mcpx_slice list)
{
    struct mcpx_fault fault;
    size_t count = 0;

    MCPX_JSON_EACH(walk, list) {
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
    struct mx_own *own;

    if (mx_reader_open(&session->reader, in, &fault)) {
        mx_tell_violation(session, in, MCPX_VIOLATION_TEXT, &fault);
        return;
    }
    if (is_mcp(in) && !mx_reader_judge(&session->reader, in, &fault))
        note_context(session, in);
    own = mx_pending_find(&session->pending, in->envelope->id);
    if (own && mx_delivery_is_ours(session, in->envelope))
        mx_delivery_arrived(session, own); /* written before the connection broke */
    if (in->rpc && settles(session, in))
        return;
    event = mx_tell(session, in, MCPX_EVENT_HISTORY);
    event->told.repeated =
        mx_recent_has(&session->recent, mx_recent_digest(&session->recent, in->envelope));
}

/*
 * Nothing in a page is executed. But after a reconnection that could not resume, it may hold
 * answers that we still wait for, and echoes that show which envelopes of ours have arrived. Its
 * proposals are remembered, so that later messages about them are understood.
 */
enum mcpx_err mx_history_receive(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct mcpx_slice list = mcpx_json_get(in->envelope->payload, "envelopes");
    struct mx_incoming one = *in;

    if (mcpx_json_type(list) != MCPX_JSON_ARRAY) {
        mx_tell_expected(session, in, MCPX_VIOLATION_TEXT, "payload",
                         "expected a page with envelopes");
        return MCPX_OK;
    }
    if (prepare(session, in, list))
        return MCPX_ENOMEM;
    MCPX_JSON_EACH(walk, list) { /* in the text, which stays */
        one.span = walk.value;
        take_one(session, &one);
    }
    return MCPX_OK;
}
