/*
 * refusal.c - system/error: finds the envelope of ours that it is about, and whether it really
 * refuses it. "duplicate_id" for an envelope that was written twice says that the first attempt had
 * arrived.
 */
#include "lib/participant/refusal.h"

#include "lib/core/decimal.h"
#include "lib/participant/delivery.h"
#include "lib/participant/tell.h"

#include <stdlib.h>

/*
 * The router ends a connection with more than 600 refusals a minute. After a pause of half a second
 * a window of four can bring 480. Protocol: section 6.
 */
enum { PAUSE_MIN_MS = 500, PAUSE_MAX_MS = 3600000 };

/* How long we try to have something stored, when nothing of ours is. */
enum { STORING_MS = 600000 };

/* What the router says about it. */
struct refusal {
    enum mcpx_err err;
    int64_t retry_ms;
    struct mcpx_text words;
    size_t reason_len;
    bool has_alternative;
};

/* Several rows share a name on the wire; the first is the one that a router answers with. */
static enum mcpx_err err_of(struct mcpx_slice name)
{
    for (enum mcpx_err err = MCPX_OK + 1; err < MCPX_ERR_COUNT; err++)
        if (mcpx_json_equals(name, mcpx_slice_of(mcpx_error_wire(err))))
            return err;
    return MCPX_EREQUEST;
}

/* How long to pause. A value that is no whole number asks for the shortest pause. */
static int64_t read_pause(struct mcpx_slice value)
{
    uint64_t number;

    if (!mx_decimal_clamp(value, PAUSE_MAX_MS, &number) || number < PAUSE_MIN_MS)
        return PAUSE_MIN_MS;
    return (int64_t)number;
}

static enum mcpx_err read_refusal(struct mcpx_slice payload, struct refusal *out)
{
    struct mcpx_slice name = mcpx_json_get(payload, "error");

    out->err = name.text ? err_of(name) : MCPX_EREQUEST;
    out->retry_ms = read_pause(mcpx_json_get(payload, "retry_after_ms"));
    mcpx_text_puts(&out->words, "");
    mcpx_json_add_unescaped(&out->words, mcpx_json_get(payload, "message"));
    out->reason_len = out->words.len;
    out->has_alternative =
        mcpx_json_add_unescaped(&out->words, mcpx_json_get(payload, "alternative"));
    return out->words.failed ? MCPX_ENOMEM : MCPX_OK;
}

static void tell_refused(struct mcpx_session *session, const struct mx_incoming *in,
                         struct refusal *refusal, struct mx_own *own)
{
    struct mx_event *event = mx_tell(session, in, MCPX_EVENT_REFUSED);
    const char *words = refusal->words.text;
    size_t rest = refusal->words.len - refusal->reason_len;

    event->told.err = refusal->err;
    event->told.reason = (struct mcpx_slice){words, refusal->reason_len};
    if (refusal->has_alternative)
        event->told.alternative = (struct mcpx_slice){words + refusal->reason_len, rest};
    event->words = refusal->words.text;
    refusal->words = (struct mcpx_text){0};
    event->own_is_correlation = !own;
    mx_event_about(event, own);
    if (own)
        mx_delivery_drop(session, own);
}

/*
 * Whether an envelope that was refused as too fast is kept and written again after the pause.
 * An envelope that was written before is kept: the router checks rates before ids, so it may
 * have arrived. An answer is kept: somebody waits for it, and the application cannot give it
 * twice.
 */
static bool is_kept(const struct mx_own *own)
{
    return own->rewritten || own->is_answer;
}

/*
 * The router cannot store. Everything that was under way comes back one by one: the first of it
 * makes the pause, which grows from time to time as between connections; the others are part of it.
 */
static void wait_for_store(struct mcpx_session *session, int64_t mono_ms, int64_t asked_ms)
{
    int64_t pause = asked_ms;
    uint32_t chance;

    if (session->storing.failures == 0)
        session->stuck_since = mono_ms;
    if (session->storing.failures == 0 || session->outbox.paused_until == INT64_MIN) {
        mx_session_fill(session, &chance, sizeof chance);
        pause = mx_backoff_next(&session->storing, chance);
    }
    if (pause < asked_ms)
        pause = asked_ms;
    if (pause > MX_BACKOFF_MAX_MS)
        pause = MX_BACKOFF_MAX_MS;
    mx_outbox_probe(&session->outbox, mono_ms + pause);
}

/* Whether we go on trying to have what we sent stored. */
static bool is_patient(const struct mcpx_session *session, int64_t mono_ms)
{
    return mono_ms - session->stuck_since < STORING_MS;
}

/* Whether an envelope that was refused, and has not arrived otherwise, is written again. */
static bool is_retried(const struct mcpx_session *session, const struct refusal *refusal,
                       const struct mx_own *own, int64_t mono_ms)
{
    if (!own || !own->text)
        return false;
    return refusal->err == MCPX_ERATE
               ? is_kept(own)
               : refusal->err == MCPX_EUNAVAILABLE && is_patient(session, mono_ms);
}

enum mcpx_err mx_refusal_receive(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct mcpx_slice about = in->envelope->correlation_id;
    struct mx_own *own = about.text ? mx_pending_find(&session->pending, about) : NULL;
    struct refusal refusal = {0};
    enum mcpx_err err = read_refusal(in->envelope->payload, &refusal);

    if (err) {
        mcpx_text_fini(&refusal.words);
        return err;
    }
    if (refusal.err == MCPX_ERATE)
        mx_outbox_slow_down(&session->outbox, in->now.mono_ms + refusal.retry_ms);
    if (refusal.err == MCPX_EUNAVAILABLE)
        wait_for_store(session, in->now.mono_ms, refusal.retry_ms);
    if (!about.text) {
        mx_tell(session, in, MCPX_EVENT_MESSAGE);
    } else if (refusal.err == MCPX_EDUPLICATE) {
        if (own)
            mx_delivery_arrived(session, own);
    } else if (is_retried(session, &refusal, own, in->now.mono_ms)) {
        mx_outbox_retry(&session->outbox, own);
    } else if (own ? own->text || own->has_no_echo : session->config.directed) {
        /* otherwise it has arrived, and a later attempt to write it again was refused */
        tell_refused(session, in, &refusal, own);
    }
    mcpx_text_fini(&refusal.words);
    return MCPX_OK;
}
