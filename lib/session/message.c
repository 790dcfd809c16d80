/*
 * message.c - messages of participants, live ones and those of a page of history. A message is for
 * us, about an envelope of ours, or neither. Each kind that has a meaning in MCPx has one function;
 * all other kinds are told as MESSAGE. No payload is used before it was compared with its kind.
 */
#include "lib/session/session_state.h"

static void tell_observed(struct mcpx_session *session, const struct mx_incoming *in)
{
    if (session->config.observe)
        mx_tell(session, MCPX_EVENT_OBSERVED, in, NULL);
}

/* Compares kind and payload. When they disagree, VIOLATION is told if the message would have been
 * told. */
static bool is_true(struct mcpx_session *session, struct mx_incoming *in, bool tell)
{
    enum mcpx_violation violation = mx_reader_judge(&session->reader, in);

    if (violation && tell)
        mx_tell_violation(session, in, violation, in->fault);
    return !violation;
}

static bool is_told(const struct mcpx_session *session, const struct mx_incoming *in)
{
    return in->is_for_us || session->config.observe;
}

/* ---- requests and notifications ---- */

/* Our envelope that a notification may be about: a request to its sender, or the proposal fulfilled
 * by the request it names. Progress reports of any other sender are ignored. */
static struct mx_own *notified_of(const struct mx_pending *pending,
                                  const struct mcpx_envelope *envelope)
{
    struct mx_own *own = mx_pending_awaited(pending, envelope->correlation_id);
    struct mx_fulfilment *fulfilment =
        mx_pending_fulfilment(pending, envelope->correlation_id);

    if (own)
        return mx_asked_was_for(own->asked, envelope->from) ? own : NULL;
    return fulfilment && mx_asked_was_for(&fulfilment->asked, envelope->from)
               ? fulfilment->proposal
               : NULL;
}

/*
 * The author of the proposal that a request fulfils; absent when no known one is fulfilled.
 *
 * own   the proposal, if it is ours
 */
static struct mcpx_slice proposer_of(const struct mcpx_session *session,
                                     const struct mx_incoming *in, const struct mx_own *own)
{
    struct mcpx_slice id = in->envelope->correlation_id;
    const struct mx_asked *theirs = mx_inbound_find(&session->proposals, id);

    if (own)
        return mcpx_session_id(session);
    if (mx_pending_awaited(&session->pending, id) || !theirs ||
        !mx_asked_is_operation(theirs, in->rpc))
        return (struct mcpx_slice){0};
    return theirs->from;
}

/* Remembers a request for us, to be answered. `words` is filled with its proposer, if any. */
static enum mcpx_err remember_request(struct mcpx_session *session,
                                      const struct mx_incoming *in, struct mcpx_slice proposer,
                                      struct mx_block **words)
{
    struct mx_asked asked = mx_asked_of(in->envelope, in->rpc);

    if (proposer.text && !(*words = mx_block_new(proposer)))
        return MCPX_ENOMEM;
    asked.proposer = proposer;
    asked.to_count = 0; /* it is for us; its other addressees are not needed */
    return mx_inbound_add(&session->requests, &asked);
}

/* Takes `words`. */
static void tell_request(struct mcpx_session *session, const struct mx_incoming *in,
                         struct mx_block *words)
{
    struct mx_event *event = mx_tell(session, MCPX_EVENT_REQUEST, in, NULL);

    event->names_proposal = words;
    event->words = words;
    if (words)
        event->told.proposer = mx_block_text(words);
}

/* The id is in use: an answer would be for the first request, whose sender still waits. */
static void tell_taken(struct mcpx_session *session, const struct mx_incoming *in)
{
    mx_tell_expected(
        session, in, MCPX_VIOLATION_TAKEN, "id",
        "expected another id than that of another participant's open request or proposal");
}

/* Once a participant fulfils a proposal, we wait for a response and no longer for a decision. */
static enum mcpx_err take_fulfilment(struct mcpx_session *session,
                                     const struct mx_incoming *in, struct mx_own *own,
                                     bool *told)
{
    struct mcpx_slice proposed = own->asked->params, params = in->rpc->params;
    struct mx_asked asked = mx_answer_asks(in, own);
    int64_t deadline = in->now.mono_ms + session->config.request_ms;

    if (mx_pending_fulfilment(&session->pending, asked.id))
        return MCPX_OK;
    if (!mx_pending_fulfil(&session->pending, own, &asked))
        return MCPX_ENOMEM;
    *told = true;
    mx_tell(session, MCPX_EVENT_FULFILLING, in, own)->told.same =
        proposed.text && params.text ? mcpx_json_same(proposed, params)
                                     : !proposed.text && !params.text;
    if (own->fulfilment_count == 1 && deadline > own->deadline)
        mx_pending_defer(&session->pending, own, deadline);
    return MCPX_OK;
}

/* A request in the sense of JSON-RPC, which agrees with its kind. */
static enum mcpx_err take_asking(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct mx_own *own = mx_answer_fulfils(session, in);
    struct mcpx_slice proposer = proposer_of(session, in, own);
    struct mx_block *words = NULL;
    enum mcpx_err err =
        in->is_for_us ? remember_request(session, in, proposer, &words) : MCPX_OK;
    bool told = false, is_taken = err == MCPX_EDUPLICATE;

    if (is_taken)
        tell_taken(session, in);
    else if (!err && own && (err = take_fulfilment(session, in, own, &told)) && in->is_for_us)
        mx_inbound_remove(&session->requests, in->envelope->id);
    if (err)
        mx_block_unref(words);
    else if (in->is_for_us)
        tell_request(session, in, words);
    else if (!told)
        tell_observed(session, in);
    return is_taken ? MCPX_OK : err;
}

static enum mcpx_err take_request(struct mcpx_session *session, struct mx_incoming *in)
{
    bool is_ours = mx_pending_awaited(&session->pending, in->envelope->correlation_id);

    if ((!is_ours && !is_told(session, in)) || !is_true(session, in, true))
        return MCPX_OK;
    if (in->rpc->form == MCPX_RPC_REQUEST)
        return take_asking(session, in);
    if (in->is_for_us)
        mx_tell(session, MCPX_EVENT_NOTIFICATION, in,
                notified_of(&session->pending, in->envelope));
    else
        tell_observed(session, in);
    return MCPX_OK;
}

/* ---- responses ---- */

static void take_response(struct mcpx_session *session, struct mx_incoming *in)
{
    struct mcpx_slice about = in->envelope->correlation_id;
    bool is_ours = mx_pending_awaited(&session->pending, about) ||
                   mx_pending_fulfilment(&session->pending, about);
    enum mcpx_violation violation;
    struct mx_own *own;

    if ((!is_ours && !is_told(session, in)) || !is_true(session, in, true))
        return;
    violation = mx_answer_judge(session, in, &own);
    if (violation)
        mx_tell_violation(session, in, violation, in->fault);
    else if (own)
        mx_answer_settle(session, in, own);
    else
        tell_observed(session, in);
}

/* ---- proposals ---- */

/* It is remembered even when others are addressed: we may get the request that fulfils it, and
 * answer the proposer as well. */
static enum mcpx_err take_proposal(struct mcpx_session *session, struct mx_incoming *in)
{
    struct mx_asked asked;
    enum mcpx_err err;

    if (!is_true(session, in, is_told(session, in)))
        return MCPX_OK;
    asked = mx_asked_of(in->envelope, in->rpc);
    asked.to_count = 0;
    err = mx_inbound_add(&session->proposals, &asked);
    if (err == MCPX_ENOMEM)
        return err;
    if (err)
        tell_taken(session, in);
    else if (in->is_for_us)
        mx_tell(session, MCPX_EVENT_PROPOSAL, in, NULL);
    else
        tell_observed(session, in);
    return MCPX_OK;
}

static void take_withdrawal(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct mcpx_slice about = in->envelope->correlation_id;
    const struct mx_own *ours = mx_pending_awaited(&session->pending, about);
    const struct mx_asked *theirs = mx_inbound_find(&session->proposals, about);
    struct mcpx_slice proposer = theirs ? theirs->from : (struct mcpx_slice){0};

    if (ours && ours->proposal)
        proposer = mcpx_session_id(session);
    if (!proposer.text) {
        tell_observed(session, in);
        return;
    }
    /* Any instance of the proposer may take it back, since a participant may come back with another
     * number. */
    if (!mcpx_slice_equal(mcpx_identity_of(proposer), mcpx_identity_of(in->envelope->from))) {
        mx_tell_expected(session, in, MCPX_VIOLATION_PROPOSER, "from",
                         "expected it from who made the proposal");
        return;
    }
    if (in->is_for_us)
        mx_tell(session, MCPX_EVENT_WITHDRAWN, in, NULL)->names_proposal = true;
    else
        tell_observed(session, in);
    mx_inbound_remove(&session->proposals, about);
}

/* Grants decide who may reject, as they decide who may fulfil. Once our proposal is fulfilled, a
 * rejection is too late: a response will come. */
static void take_rejection(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct mcpx_slice about = in->envelope->correlation_id;
    struct mx_own *own = mx_pending_awaited(&session->pending, about);
    bool is_ours = own && own->proposal;
    struct mx_event *event;

    if (is_ours ? own->fulfilments != NULL
                : !in->is_for_us || !mx_inbound_find(&session->proposals, about)) {
        tell_observed(session, in);
        return;
    }
    event = mx_tell(session, MCPX_EVENT_REJECTED, in, is_ours ? own : NULL);
    event->names_proposal = !is_ours;
    if (is_ours) {
        event->told.proposal = own->id;
        mx_delivery_drop(session, own);
    }
}

/* ---- all of them ---- */

/* Our own echo is a message to us only when it is addressed to us. */
static bool take_echo(struct mcpx_session *session, struct mx_incoming *in)
{
    struct mx_own *own = mx_pending_find(&session->pending, in->envelope->id);

    if (own)
        mx_delivery_arrived(session, own);
    if (!in->is_for_us && session->config.observe) {
        is_true(session, in, false);
        tell_observed(session, in);
    }
    return !in->is_for_us;
}

static bool is_type(const struct mx_incoming *in, const char *type)
{
    return mcpx_slice_equal(in->envelope->kind.type, mcpx_slice_of(type));
}

static enum mcpx_err take_by_kind(struct mcpx_session *session, struct mx_incoming *in)
{
    if (is_type(in, "mcp/request"))
        return take_request(session, in);
    if (is_type(in, "mcp/proposal"))
        return take_proposal(session, in);
    if (is_type(in, "mcp/response"))
        take_response(session, in);
    else if (is_type(in, "mcp/withdraw"))
        take_withdrawal(session, in);
    else if (is_type(in, "mcp/reject"))
        take_rejection(session, in);
    else if (in->is_for_us)
        mx_tell(session, MCPX_EVENT_MESSAGE, in, NULL);
    else
        tell_observed(session, in);
    return MCPX_OK;
}

enum mcpx_err mx_message_receive(struct mcpx_session *session, struct mx_incoming *in)
{
    const struct mcpx_envelope *envelope = in->envelope;
    bool is_own = mx_delivery_is_ours(session, envelope);
    uint64_t digest;
    enum mcpx_err err;

    in->is_for_us = (envelope->to_count == 0 && !is_own) ||
                    mx_id_is_among(mcpx_session_id(session), envelope->to, envelope->to_count);
    if (is_own && take_echo(session, in))
        return MCPX_OK;
    if (!mx_recent_reserve(&session->recent))
        return MCPX_ENOMEM;
    digest = mx_recent_digest(&session->recent, envelope);
    if (mx_recent_has(&session->recent, digest)) {
        if (session->config.observe) {
            is_true(session, in, false);
            mx_tell(session, MCPX_EVENT_OBSERVED, in, NULL)->told.repeated = true;
        }
        return MCPX_OK;
    }
    err = take_by_kind(session, in);
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
            mx_outbox_remove(&session->outbox, own); /* it is fulfilled */
    } else if (is_type(in, "mcp/proposal") &&
               !mcpx_slice_equal(asked.from, mcpx_session_id(session))) {
        asked.to_count = 0;
        mx_inbound_add(&session->proposals, &asked);
    }
}

/* Returns true when it was an answer that we waited for. */
static bool settles(struct mcpx_session *session, struct mx_incoming *in)
{
    struct mx_own *own;

    if (!is_type(in, "mcp/response") || mx_answer_judge(session, in, &own) || !own)
        return false;
    mx_answer_settle(session, in, own);
    return true;
}

static void take_one(struct mcpx_session *session, struct mx_incoming *in)
{
    struct mx_own *own;

    if (mx_reader_open(&session->reader, in)) {
        mx_tell_violation(session, in, MCPX_VIOLATION_TEXT, in->fault);
        return;
    }
    if (is_mcp(in) && !mx_reader_judge(&session->reader, in))
        note_context(session, in);
    own = mx_pending_find(&session->pending, in->envelope->id);
    if (own && mx_delivery_is_ours(session, in->envelope))
        mx_delivery_arrived(session, own); /* written before the connection broke */
    if (in->rpc && settles(session, in))
        return;
    mx_tell(session, MCPX_EVENT_HISTORY, in, NULL)->told.repeated =
        mx_recent_has(&session->recent, mx_recent_digest(&session->recent, in->envelope));
}

/* A page is never executed. But after a reconnection without resuming, it may hold answers to our
 * requests, and echoes: they show that envelopes of ours arrived. Its proposals are remembered, so
 * that later messages about them are understood. */
enum mcpx_err mx_history_receive(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct mcpx_slice list = mcpx_json_get(in->envelope->payload, "envelopes");
    struct mx_incoming one = *in;

    if (mcpx_json_type(list) != MCPX_JSON_ARRAY)
        return mx_tell_expected(session, in, MCPX_VIOLATION_TEXT, "payload",
                                "expected a page with envelopes");
    if (prepare(session, in, list))
        return MCPX_ENOMEM;
    MCPX_JSON_EACH(walk, list) { /* in the text, which stays */
        one.span = walk.value;
        take_one(session, &one);
    }
    return MCPX_OK;
}
