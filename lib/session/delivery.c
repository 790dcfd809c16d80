/*
 * delivery.c - what becomes of an envelope of ours. Outbox and pending do not know each other:
 * the functions that change both are here. An answer must come from an addressee of the request,
 * a fulfilment from a participant that may act on the proposal. A refusal names an envelope of ours
 * without always refusing it: "duplicate_id" for one written twice means that the first attempt
 * arrived.
 */
#include "lib/session/session_state.h"

#include "lib/base/digits.h"
#include "lib/base/fault.h"
#include "lib/base/scoped.h"
#include "lib/json/decisive.h"

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
        mx_tell(session, MCPX_EVENT_DELIVERED, NULL, own);
    if (!own->has_no_echo) {
        session->storing = 0;
        mx_outbox_arrived(&session->outbox);
    }
    mx_pending_keep_open(&session->pending, own);
    mx_outbox_remove(&session->outbox, own);
    mx_pending_release(&session->pending, own);
}

bool mx_delivery_is_ours(const struct mcpx_session *session,
                         const struct mcpx_envelope *envelope)
{
    if (mcpx_slice_equal(envelope->from, mcpx_session_id(session)))
        return true;
    return session->former && mcpx_slice_equal(envelope->from, session->former->id) &&
           mx_pending_find(&session->pending, envelope->id);
}

/* ---- answers ---- */

/* An addressee of the proposal may fulfil it with any request; an approver, for example, asks
 * another participant. Any other participant may only send the request to the proposal's
 * addressees. Otherwise it could name itself as the one that answers. */
static bool may_fulfil(const struct mcpx_session *session,
                       const struct mcpx_envelope *envelope, const struct mx_asked *proposal)
{
    size_t asked = 0;

    if (mx_asked_was_for(proposal, envelope->from))
        return true;
    for (size_t i = 0; i < envelope->to_count; i++) {
        if (mx_asked_was_for(proposal, envelope->to[i]))
            asked++;
        else if (!mcpx_slice_equal(envelope->to[i], mcpx_session_id(session)) &&
                 !mcpx_slice_equal(envelope->to[i], mx_id_of(session->former)))
            return false;
    }
    return asked > 0 || envelope->to_count == 0;
}

struct mx_own *mx_answer_fulfils(const struct mcpx_session *session,
                                 const struct mx_incoming *in)
{
    const struct mcpx_envelope *envelope = in->envelope;
    struct mx_own *own = mx_pending_awaited(&session->pending, envelope->correlation_id);

    if (!own || !own->proposal || in->rpc->form != MCPX_RPC_REQUEST ||
        mcpx_slice_equal(envelope->from, mcpx_session_id(session)))
        return NULL;
    if (!mx_asked_is_operation(own->asked, in->rpc) ||
        !may_fulfil(session, envelope, own->asked))
        return NULL;
    return own;
}

struct mx_asked mx_answer_asks(const struct mx_incoming *in, const struct mx_own *own)
{
    struct mx_asked asked = mx_asked_of(in->envelope, in->rpc);

    if (asked.to_count == 0) {
        asked.to = own->asked->to;
        asked.to_count = own->asked->to_count;
    }
    return asked;
}

static enum mcpx_violation violates(struct mx_incoming *in, enum mcpx_violation violation,
                                    const char *field, const char *reason)
{
    mx_fault_set(&in->fault, reason, field, 0);
    return violation;
}

/* Judges a response as an answer to that request. Its payload agrees with its kind. */
static enum mcpx_violation judge_response(const struct mx_asked *asked, struct mx_incoming *in)
{
    const struct mcpx_kind *kind = &in->envelope->kind;

    if (!mx_asked_was_for(asked, in->envelope->from))
        return violates(in, MCPX_VIOLATION_SENDER, "from",
                        "expected an answer from an addressee of the request");
    if (!mcpx_slice_equal(kind->method, asked->method))
        return violates(in, MCPX_VIOLATION_OPERATION, "method",
                        "expected the method of the request");
    if (kind->context.text && !mcpx_slice_equal(kind->context, asked->context))
        return violates(in, MCPX_VIOLATION_OPERATION, "context",
                        "expected the context of the request or none");
    if (!asked->rpc_id.text || !mcpx_json_same(in->rpc->id, asked->rpc_id))
        return violates(in, MCPX_VIOLATION_ID, "id",
                        "expected the JSON-RPC id of the request");
    return MCPX_VIOLATION_NONE;
}

/* False for a message that is addressed to others only. The answer to a request that we sent under
 * our former id is addressed to the former id. */
static bool may_concern(const struct mcpx_session *session,
                        const struct mcpx_envelope *envelope)
{
    return envelope->to_count == 0 ||
           mx_id_is_among(mcpx_session_id(session), envelope->to, envelope->to_count) ||
           mx_id_is_among(mx_id_of(session->former), envelope->to, envelope->to_count);
}

enum mcpx_violation mx_answer_judge(const struct mcpx_session *session, struct mx_incoming *in,
                                    struct mx_own **own)
{
    struct mcpx_slice about = in->envelope->correlation_id;
    struct mx_own *asked = mx_pending_awaited(&session->pending, about);
    struct mx_fulfilment *fulfilment = mx_pending_fulfilment(&session->pending, about);

    *own = NULL;
    if (asked && !asked->proposal && !may_concern(session, in->envelope))
        return MCPX_VIOLATION_NONE;
    if (asked && !asked->proposal) {
        *own = asked;
        return judge_response(asked->asked, in);
    }
    if (!fulfilment)
        return MCPX_VIOLATION_NONE;
    *own = fulfilment->proposal;
    return judge_response(&fulfilment->asked, in);
}

void mx_answer_settle(struct mcpx_session *session, const struct mx_incoming *in,
                      struct mx_own *own)
{
    struct mx_event *event = mx_tell(session, MCPX_EVENT_RESPONSE, in, own);

    if (own->proposal)
        event->told.proposal = own->id;
    mx_delivery_drop(session, own);
}

/* ---- refusals ---- */

/* The router ends a connection with more than 600 refusals a minute. After a pause of half a second
 * a window of four can bring 480. Protocol: section 6. */
enum { PAUSE_MIN_MS = 500, PAUSE_MAX_MS = 3600000 };

/* How long we try to have something stored, when nothing of ours is. */
enum { STORING_MS = 600000 };

struct refusal {
    enum mcpx_err err;
    int64_t retry_ms;
    struct mx_block *words; /* the reason, and behind it the alternative */
    size_t reason_len;
    bool has_alternative;
};

/* Returns the pause in ms. Any value except a whole number asks for the shortest pause. */
static int64_t read_pause(struct mcpx_slice value)
{
    uint64_t number;

    if (!mx_decimal_clamp(value, PAUSE_MAX_MS, &number) || number < PAUSE_MIN_MS)
        return PAUSE_MIN_MS;
    return (int64_t)number;
}

static void read_refusal(struct mcpx_slice payload, struct refusal *out)
{
    enum mcpx_err err = mx_error_named(mcpx_json_get(payload, "error"));
    mx_scoped_text words = {0};

    out->err = err ? err : MCPX_EREQUEST;
    out->retry_ms = read_pause(mcpx_json_get(payload, "retry_after_ms"));
    mcpx_json_add_unescaped(&words, mcpx_json_get(payload, "message"));
    out->reason_len = words.len;
    out->has_alternative =
        mcpx_json_add_unescaped(&words, mcpx_json_get(payload, "alternative"));
    if (!words.failed)
        out->words = mx_block_new(mcpx_text_view(&words));
}

static void tell_refused(struct mcpx_session *session, const struct mx_incoming *in,
                         const struct refusal *refusal, struct mx_own *own)
{
    struct mx_event *event = mx_tell(session, MCPX_EVENT_REFUSED, in, own);

    event->told.err = refusal->err;
    event->words = mx_block_ref(refusal->words);
    event->told.reason = (struct mcpx_slice){refusal->words->text, refusal->reason_len};
    if (refusal->has_alternative)
        event->told.alternative =
            mx_behind(mx_block_text(refusal->words), refusal->reason_len);
    if (own)
        mx_delivery_drop(session, own);
}

/* The router cannot store. All envelopes under way come back one by one. The first makes the pause,
 * which grows each time as between connections; the others are part of it. */
static void wait_for_store(struct mcpx_session *session, int64_t mono_ms, int64_t asked_ms)
{
    int64_t pause = asked_ms;

    if (session->storing == 0)
        session->stuck_since = mono_ms;
    if (session->storing == 0 || session->outbox.paused_until == INT64_MIN)
        pause = mx_session_pause(session, &session->storing);
    if (pause < asked_ms)
        pause = asked_ms;
    if (pause > MX_BACKOFF_MAX_MS)
        pause = MX_BACKOFF_MAX_MS;
    mx_outbox_slow_down(&session->outbox, MX_WINDOW_ALONE, mono_ms + pause);
}

/* True when a refused envelope without any other sign of arrival is written again after the pause.
 * Of those above the rate limit, one written before is: the router checks rates before ids, so it
 * may have arrived. So is an answer: another participant waits for it, and the application cannot
 * give it twice. */
static bool is_retried(const struct mcpx_session *session, const struct refusal *refusal,
                       const struct mx_own *own, int64_t mono_ms)
{
    if (!own || !own->text)
        return false;
    if (refusal->err == MCPX_ERATE)
        return own->writes > 1 || own->is_answer;
    return refusal->err == MCPX_EUNAVAILABLE && mono_ms - session->stuck_since < STORING_MS;
}

enum mcpx_err mx_refusal_receive(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct mcpx_slice about = in->envelope->correlation_id;
    struct mx_own *own = about.text ? mx_pending_find(&session->pending, about) : NULL;
    struct refusal refusal = {0};

    read_refusal(in->envelope->payload, &refusal);
    if (!refusal.words)
        return MCPX_ENOMEM;
    if (refusal.err == MCPX_ERATE)
        mx_outbox_slow_down(&session->outbox, MX_WINDOW_SLOW,
                            in->now.mono_ms + refusal.retry_ms);
    if (refusal.err == MCPX_EUNAVAILABLE)
        wait_for_store(session, in->now.mono_ms, refusal.retry_ms);
    if (!about.text) {
        mx_tell(session, MCPX_EVENT_MESSAGE, in, NULL);
    } else if (refusal.err == MCPX_EDUPLICATE) {
        if (own)
            mx_delivery_arrived(session, own);
    } else if (is_retried(session, &refusal, own, in->now.mono_ms)) {
        mx_outbox_retry(&session->outbox, own);
    } else if (own ? own->text || own->has_no_echo : session->config.directed) {
        /* otherwise it has arrived, and a later attempt to write it again was refused */
        tell_refused(session, in, &refusal, own);
    }
    mx_block_unref(refusal.words);
    return MCPX_OK;
}
