/*
 * session.c - a participant's state machine as its transport sees it: connected, received,
 * ticked, disconnected. The other files of this folder hold the state; this one decides the
 * order of steps. A session never calls back: it queues events, so no code of the application
 * runs while the session changes.
 */
#include "lib/base/digits.h"
#include "lib/session/session_state.h"

/* Most events that one live message makes: DELIVERED, FULFILLING, REQUEST. */
enum { EVENTS_PER_MESSAGE = 3 };

/* ---- the connection ---- */

void mcpx_session_connected(struct mcpx_session *session, struct mcpx_now now)
{
    if (session->connection == MX_ENDED)
        return;
    session->connection = MX_CONNECTED;
    session->starved = false;
    session->mono_ms = now.mono_ms;
    mx_outbox_rewind(&session->outbox);
}

static void expire(struct mcpx_session *session, struct mx_own *own)
{
    mx_tell(session, MCPX_EVENT_EXPIRED, NULL, own);
    mx_delivery_drop(session, own);
}

/* Nothing will be answered any more. */
void mcpx_session_end(struct mcpx_session *session)
{
    struct mx_own *own;
    size_t at = 0;

    session->connection = MX_ENDED;
    while ((own = mx_pending_any(&session->pending, &at)))
        expire(session, own);
}

static void tell_left(struct mcpx_session *session, int code, struct mcpx_slice reason,
                      int64_t retry_ms)
{
    struct mx_event *event;

    if (!mx_session_reserve(session, 0) &&
        session->events.count + 2 * session->pending.ids.count >= session->events.size)
        return; /* the slot reserved for LEFT is taken: an earlier LEFT was not fetched */
    event = mx_tell(session, MCPX_EVENT_LEFT, NULL, NULL);
    event->told.code = code;
    event->told.retry_ms = retry_ms;
    event->words = mx_block_new(reason);
    if (event->words)
        event->told.reason = mx_block_text(event->words);
}

/* The pause that a closing router asks for in the reason of its close frame: at most
 * MX_BACKOFF_MAX_MS, so that no client waits for ever. 0 when there is none. Protocol: section
 * 6. */
static int64_t told_pause(struct mcpx_slice reason)
{
    static const char words[] = "; retry_after_ms=";
    size_t len = sizeof words - 1;
    uint64_t told;

    for (size_t at = reason.len; at >= len; at--) {
        struct mcpx_slice number = {reason.text + at, reason.len - at};

        if (memcmp(number.text - len, words, len) == 0)
            return mx_decimal_clamp(number, MX_BACKOFF_MAX_MS, &told) ? (int64_t)told : 0;
    }
    return 0;
}

/* True when no other attempt is to be made, because it would end like this one. */
static bool is_final_code(const struct mcpx_session *session, int code)
{
    enum mcpx_again again = mcpx_error_again(code);

    return again == MCPX_AGAIN_NO ||
           (again == MCPX_AGAIN_TOKEN && !session->config.renews_token) ||
           (again == MCPX_AGAIN_INSTANCE && !session->config.instance);
}

void mcpx_session_disconnected(struct mcpx_session *session, int code,
                               struct mcpx_slice reason, struct mcpx_now now)
{
    bool is_final = is_final_code(session, code);
    bool was_joined = mcpx_session_is_joined(session);
    int64_t pause = -1, told;

    if (session->connection == MX_ENDED)
        return;
    session->connection = MX_OFFLINE;
    mx_outbox_rewind(&session->outbox);
    if (was_joined && now.mono_ms - session->welcome_ms >= MX_BACKOFF_STEADY_MS)
        session->failures = 0;
    session->wants_token =
        mcpx_error_again(code) == MCPX_AGAIN_TOKEN && (was_joined || session->failures == 0);
    if (!is_final) {
        pause = mx_session_pause(session, &session->failures);
        told = told_pause(reason);
        if (told > pause)
            pause = told;
        session->connect_at = now.mono_ms + pause;
    }
    tell_left(session, code, reason, pause);
    if (is_final)
        mcpx_session_end(session);
}

int64_t mcpx_session_connect_at(const struct mcpx_session *session)
{
    return session->connection == MX_OFFLINE ? session->connect_at : -1;
}

static struct mcpx_slice text_or_absent(const char *text)
{
    return *text ? mcpx_slice_of(text) : (struct mcpx_slice){0};
}

struct mcpx_slice mcpx_session_instance(const struct mcpx_session *session)
{
    return text_or_absent(session->instance);
}

struct mcpx_slice mcpx_session_instance_key(const struct mcpx_session *session)
{
    return text_or_absent(session->instance_key);
}

void mcpx_session_renews_token(struct mcpx_session *session, bool renews)
{
    session->config.renews_token = renews;
    if (renews && session->wants_token)
        session->connect_at = session->mono_ms;
}

bool mcpx_session_place(const struct mcpx_session *session, struct mcpx_place *out)
{
    const struct mx_place *place = &session->place;

    if (place->epoch_len == 0)
        return false;
    *out =
        (struct mcpx_place){.epoch = {place->epoch, place->epoch_len},
                            .serial = place->serial,
                            .after = {place->seen_len ? place->seen : NULL, place->seen_len}};
    return true;
}

/* ---- time ---- */

void mcpx_session_tick(struct mcpx_session *session, struct mcpx_now now)
{
    struct mx_own *own;

    session->mono_ms = now.mono_ms;
    mx_outbox_end_pauses(&session->outbox, now.mono_ms);
    while ((own = mx_pending_first(&session->pending)) && own->deadline <= now.mono_ms)
        expire(session, own);
}

int64_t mcpx_session_deadline(const struct mcpx_session *session)
{
    const struct mx_own *own = mx_pending_first(&session->pending);
    int64_t deadline = own ? own->deadline : INT64_MAX;
    int64_t pause_end =
        mcpx_session_is_joined(session) ? mx_outbox_deadline(&session->outbox) : INT64_MAX;

    return pause_end < deadline ? pause_end : deadline;
}

/* ---- receiving ---- */

static enum mcpx_err take(struct mcpx_session *session, struct mx_incoming *in)
{
    enum mcpx_err err = mx_reader_open(&session->reader, in);

    if (err == MCPX_ENOMEM)
        return err;
    if (err)
        return mx_tell_violation(session, in, MCPX_VIOLATION_TEXT, in->fault);
    if (mcpx_kind_is_reserved(&in->envelope->kind))
        return mx_system_receive(session, in);
    if (!mcpx_session_is_joined(session)) {
        return mx_tell_expected(session, in, MCPX_VIOLATION_ROUTER, "kind",
                                "expected system/welcome first");
    }
    err = mx_message_receive(session, in);
    if (!err) {
        session->failures = 0;
        memcpy(session->place.seen, in->envelope->id.text, in->envelope->id.len);
        session->place.seen_len = in->envelope->id.len;
    }
    return err;
}

enum mcpx_err mcpx_session_receive(struct mcpx_session *session, struct mcpx_slice text,
                                   struct mcpx_now now)
{
    struct mx_incoming in = {.now = now, .fault = {"", "", 0}};
    enum mcpx_err err = MCPX_ENOMEM;

    if (session->connection == MX_OFFLINE || session->connection == MX_ENDED)
        return MCPX_OK;
    if (session->starved)
        return MCPX_ENOMEM;
    session->mono_ms = now.mono_ms;
    mx_outbox_end_pauses(&session->outbox, now.mono_ms);
    in.block = mx_block_new(text);
    if (in.block && mx_session_reserve(session, EVENTS_PER_MESSAGE)) {
        in.span = mx_block_text(in.block);
        err = take(session, &in);
    }
    mx_block_unref(in.block);
    session->starved = err == MCPX_ENOMEM;
    return err;
}

/* ---- writing ---- */

bool mcpx_session_output(struct mcpx_session *session, struct mcpx_slice *text)
{
    return mcpx_session_is_joined(session) && mx_outbox_peek(&session->outbox, text);
}

size_t mcpx_session_unsent_count(const struct mcpx_session *session)
{
    return session->outbox.count;
}

size_t mcpx_session_unsent_bytes(const struct mcpx_session *session)
{
    return session->outbox.bytes;
}

void mcpx_session_written(struct mcpx_session *session)
{
    struct mx_own *own = mx_outbox_written(&session->outbox, session->mono_ms);

    if (own && own->has_no_echo)
        mx_delivery_arrived(session, own);
    mx_own_unref(own);
}

/* ---- what is known ---- */

bool mcpx_session_may(const struct mcpx_session *session, const struct mcpx_question *question)
{
    return !session->us || !session->us->capset ||
           mcpx_capset_allows(session->us->capset, question);
}

size_t mcpx_session_message_max(const struct mcpx_session *session)
{
    return session->message_max;
}

size_t mcpx_session_participant_count(const struct mcpx_session *session)
{
    return session->roster.count;
}

void mcpx_session_participant(const struct mcpx_session *session, size_t index,
                              struct mcpx_participant *out)
{
    const struct mx_person *person = session->roster.people[index];

    out->id = person->id;
    out->identity = (struct mcpx_slice){person->id.text, person->identity_len};
    out->capabilities = person->strings.items + 1;
    out->capability_count = person->strings.count - 1;
}

void mcpx_session_capabilities(const struct mcpx_session *session,
                               const struct mcpx_slice **out, size_t *count)
{
    *out = session->us ? session->us->strings.items + 1 : NULL;
    *count = session->us ? session->us->strings.count - 1 : 0;
}

size_t mcpx_session_pending_count(const struct mcpx_session *session)
{
    return session->pending.awaited;
}
