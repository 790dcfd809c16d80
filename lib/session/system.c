/*
 * system.c - the router's messages: a welcome with our id, our grants and the roster;
 * participants that come, leave or change; how far we have read. Each function returns MCPX_OK,
 * or MCPX_ENOMEM with nothing changed: everything that can fail is done before. A system message
 * from any other sender is a violation. Protocol: section 5.
 *
 * An id alone was refused as a place to go on: an id may be used again once its envelope is
 * forgotten, and the router would then continue after the wrong envelope. Serials cannot be
 * forged, since only the router counts them. The epoch names the log in which they are counted.
 */
#include "lib/base/digits.h"
#include "lib/session/session_state.h"

/* Reads the place from the member `topic`. When there is none, or it cannot be read, nothing
 * changes. */
static void read_place(struct mx_place *place, struct mcpx_slice payload)
{
    struct mcpx_slice topic = mcpx_json_get(payload, "topic");
    struct mcpx_slice epoch = mcpx_json_get(topic, "epoch");
    uint64_t serial;

    if (mcpx_json_type(epoch) != MCPX_JSON_STRING || epoch.len < 3 ||
        epoch.len > MX_EPOCH_MAX + 2 || memchr(epoch.text, '\\', epoch.len) ||
        !mx_decimal_read(mcpx_json_get(topic, "serial"), UINT64_MAX, &serial))
        return;
    place->epoch_len = epoch.len - 2; /* without its quotes */
    memcpy(place->epoch, epoch.text + 1, place->epoch_len);
    place->serial = serial;
    place->seen_len = 0;
}

/* ---- welcome ---- */

/* CATCH_UP_MS is how long to wait for the end of the missed messages, because some routers do not
 * mark it. ABSENT_MS is how long to wait for participants that were there before the router was
 * restarted: they would get our message as history only. */
enum { CATCH_UP_MS = 5000, ABSENT_MS = 10000 };

/* The content of a welcome, read before anything changes. */
struct welcome {
    struct mx_person *you;
    struct mx_roster others;
};

static enum mcpx_err read_others(struct mcpx_slice list, struct mx_roster *out)
{
    enum mcpx_err err = MCPX_OK;

    if (mcpx_json_type(list) != MCPX_JSON_ARRAY)
        return MCPX_EINVALID;
    MCPX_JSON_EACH_WHILE(!err, walk, list) {
        struct mx_person *person;

        if (!mx_roster_reserve(out))
            return MCPX_ENOMEM;
        err = mx_person_read(walk.value, &person);
        if (!err)
            mx_roster_put(out, person);
    }
    return err;
}

static enum mcpx_err read_welcome(struct mcpx_slice payload, struct welcome *out)
{
    struct mcpx_slice you = mcpx_json_get(payload, "you");
    enum mcpx_err err = mx_person_read(you, &out->you);

    if (!err && !mx_person_take_grants(out->you, you))
        err = MCPX_ENOMEM;
    if (!err)
        err = read_others(mcpx_json_get(payload, "participants"), &out->others);
    return err;
}

/* Marks open proposals of ours to be written again, because the router may have lost them
 * (protocol, section 9), and returns whether there are any. A proposal that is fulfilled already is
 * not: its answer will come, and it must not be fulfilled twice. */
static bool renew(struct mcpx_session *session)
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

/* Reads the envelopes in the outbox again. Our id is known now, so the envelopes without an echo
 * are, too. Unless we resumed, their absent addressees are needed. Without memory to read an
 * envelope, its addressees are not waited for. */
static void read_outbox(struct mcpx_session *session, bool was_known, bool resumed)
{
    struct mcpx_slice us = mcpx_session_id(session);
    struct mcpx_envelope envelope;
    struct mcpx_fault fault;

    mcpx_envelope_init(&envelope);
    for (struct mx_own *own = session->outbox.first; own; own = own->next) {
        if ((resumed && (was_known || !own->has_no_echo)) ||
            mcpx_envelope_parse(mx_block_text(own->text), MX_DEPTH_MAX, &envelope, &fault))
            continue;
        if (!was_known && own->has_no_echo)
            own->has_no_echo = !mx_id_is_among(us, envelope.to, envelope.to_count);
        if (!resumed)
            mx_absent_need(session, envelope.to, envelope.to_count);
    }
    mcpx_envelope_fini(&envelope);
}

/* Sets the participants that the outbox must wait for on this connection. A participant in the
 * roster, which is taken, is absent when `others` does not have it. */
static void wait_for_others(struct mcpx_session *session, const struct mx_roster *others,
                            bool was_known, bool resumed)
{
    const struct mx_own *first = session->outbox.first;
    bool repeats = first && first->writes;

    session->caught_up = false;
    mx_absent_fini(&session->absent);
    session->absent.until = session->mono_ms + ABSENT_MS;
    if (!resumed)
        repeats |= renew(session);
    if (repeats)
        session->outbox.held_until = session->mono_ms + CATCH_UP_MS;
    if (!resumed)
        mx_absent_note(&session->absent, &session->roster, others);
    read_outbox(session, was_known, resumed);
}

/* Takes who we are, and notes the instance to ask for next time. Returns whether the id was another
 * one before. */
static bool learn_id(struct mcpx_session *session, struct mx_person *you)
{
    bool is_renamed = session->us && !mcpx_slice_equal(session->us->id, you->id);
    struct mx_person **gone = is_renamed ? &session->former : &session->us;
    const char *number = "1";
    size_t len = 1;

    mx_person_free(*gone);
    if (is_renamed)
        session->former = session->us;
    session->us = you;
    if (you->identity_len < you->id.len) { /* behind the `~` */
        number = you->id.text + you->identity_len + 1;
        len = you->id.len - you->identity_len - 1;
    }
    if (session->config.instance && len <= MX_INSTANCE_LEN) {
        memcpy(session->instance, number, len);
        session->instance[len] = '\0';
    }
    return is_renamed;
}

/* Refuses envelopes that are longer than this limit: writing them would end the connection. */
static void refuse_overlong(struct mcpx_session *session)
{
    struct mx_own *next, *own = session->outbox.first;

    for (; own; own = next) {
        struct mx_event *event;

        next = own->next;
        if (!session->message_max || own->text->len <= session->message_max)
            continue;
        event = mx_tell(session, MCPX_EVENT_REFUSED, NULL, own);
        event->told.err = MCPX_ETOOBIG;
        event->told.reason = mcpx_slice_of(mcpx_strerror(MCPX_ETOOBIG));
        mx_delivery_drop(session, own);
    }
}

static void accept_welcome(struct mcpx_session *session, const struct mx_incoming *in,
                           struct welcome *welcome)
{
    struct mcpx_slice payload = in->envelope->payload;
    struct mcpx_slice limit = mcpx_json_get(mcpx_json_get(payload, "limits"), "message_bytes");
    bool resumed = mcpx_slice_equal(mcpx_json_get(payload, "resumed"), MCPX_SLICE("true"));
    struct mx_roster others;
    uint64_t message_max = 0; /* when it cannot be read */
    bool is_first = session->connection == MX_CONNECTED;
    bool was_known = session->us;
    bool is_renamed = learn_id(session, welcome->you);
    struct mx_event *event;

    welcome->you = NULL; /* taken */
    session->connection = MX_JOINED;
    mx_roster_remove(&welcome->others, session->us->id);
    if (is_first)
        wait_for_others(session, &welcome->others, was_known, resumed);
    others = session->roster;
    session->roster = welcome->others;
    welcome->others = others; /* to be freed with it */
    (void)mx_decimal_read(limit, SIZE_MAX, &message_max);
    session->message_max = (size_t)message_max;
    if (is_first) {
        session->welcome_ms = session->mono_ms;
        if (!resumed) /* a router that tells no place here has none */
            session->place.epoch_len = session->place.seen_len = 0;
    }
    read_place(&session->place, payload);
    event = mx_tell(session, is_first ? MCPX_EVENT_JOINED : MCPX_EVENT_GRANTS, in, NULL);
    event->told.resumed = is_first && resumed;
    event->told.renamed = is_renamed;
    if (is_first)
        refuse_overlong(session);
}

/* Tells JOINED, or GRANTS when we had joined already. */
static enum mcpx_err take_welcome(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct welcome welcome = {0};
    enum mcpx_err err = read_welcome(in->envelope->payload, &welcome);

    if (!err)
        accept_welcome(session, in, &welcome);
    else if (err != MCPX_ENOMEM)
        mx_tell_expected(session, in, MCPX_VIOLATION_TEXT, "payload",
                         "expected a welcome with you and participants");
    mx_person_free(welcome.you);
    mx_roster_fini(&welcome.others);
    return err == MCPX_ENOMEM ? err : MCPX_OK;
}

/* ---- presence ---- */

static bool read_presence(struct mcpx_slice payload, enum mcpx_presence *out)
{
    static const char *const names[] = {"join", "leave", "update"};
    struct mcpx_slice event = mcpx_json_get(payload, "event");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (event.text && mcpx_json_equals(event, mcpx_slice_of(names[i]))) {
            *out = (enum mcpx_presence)i;
            return true;
        }
    return false;
}

/* The outbox waits until all missed messages have come, and until all addressees of our envelopes
 * are there. */
static void go_on(struct mcpx_session *session)
{
    if (session->caught_up && session->absent.needed == 0)
        session->outbox.held_until = INT64_MIN;
}

/* Tells it and changes the roster; `person` is taken. Returns MCPX_OK or MCPX_ENOMEM. */
static enum mcpx_err accept_presence(struct mcpx_session *session,
                                     const struct mx_incoming *in, struct mx_person *person,
                                     enum mcpx_presence presence)
{
    struct mx_block *words = mx_block_new(person->id);
    struct mx_event *event;

    if (!words || !mx_roster_reserve(&session->roster)) {
        mx_block_unref(words);
        mx_person_free(person);
        return MCPX_ENOMEM;
    }
    event = mx_tell(session, MCPX_EVENT_PRESENCE, in, NULL);
    event->words = words;
    event->told.participant = mx_block_text(words);
    event->told.presence = presence;
    if (presence == MCPX_PRESENCE_LEAVE) {
        mx_roster_remove(&session->roster, person->id);
        mx_person_free(person);
    } else {
        mx_absent_came(&session->absent, person->id);
        go_on(session);
        mx_roster_put(&session->roster, person);
    }
    return MCPX_OK;
}

/* The welcome tells that we joined, a new welcome that we changed. But our own presence ends the
 * missed messages: an envelope still without an echo has not arrived. It can be written again
 * without a refusal. Protocol: section 5. */
static bool is_news(struct mcpx_session *session, const struct mx_person *person,
                    enum mcpx_presence presence)
{
    if (mcpx_slice_equal(person->id, mcpx_session_id(session))) {
        if (presence == MCPX_PRESENCE_JOIN) {
            session->caught_up = true;
            go_on(session);
        }
        return false;
    }
    return presence != MCPX_PRESENCE_LEAVE || mx_roster_find(&session->roster, person->id);
}

/* Our own presence is not told as an event, but a session waits for it after each welcome. */
static enum mcpx_err take_presence(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct mcpx_slice payload = in->envelope->payload;
    struct mx_person *person = NULL;
    enum mcpx_presence presence;
    enum mcpx_err err = mx_person_read(mcpx_json_get(payload, "participant"), &person);

    if (err == MCPX_ENOMEM)
        return err;
    if (err || !read_presence(payload, &presence)) {
        mx_person_free(person);
        return mx_tell_expected(session, in, MCPX_VIOLATION_TEXT, "payload",
                                "expected a presence with event and participant");
    }
    if (is_news(session, person, presence))
        err = accept_presence(session, in, person, presence);
    else
        mx_person_free(person);
    if (!err)
        read_place(&session->place, payload);
    return err;
}

/* ---- all of them ---- */

static bool is_kind(const struct mcpx_envelope *envelope, const char *kind)
{
    return mcpx_slice_equal(envelope->kind.text, mcpx_slice_of(kind));
}

enum mcpx_err mx_system_receive(struct mcpx_session *session, const struct mx_incoming *in)
{
    const struct mcpx_envelope *envelope = in->envelope;

    if (!mcpx_slice_equal(envelope->from, MCPX_SLICE("system:gateway")))
        return mx_tell_expected(session, in, MCPX_VIOLATION_ROUTER, "from",
                                "expected it from system:gateway");
    if (is_kind(envelope, "system/welcome"))
        return take_welcome(session, in);
    if (is_kind(envelope, "system/error"))
        return mx_refusal_receive(session, in);
    if (!mcpx_session_is_joined(session))
        return mx_tell_expected(session, in, MCPX_VIOLATION_ROUTER, "kind",
                                "expected system/welcome first");
    if (is_kind(envelope, "system/presence"))
        return take_presence(session, in);
    if (is_kind(envelope, "system/history"))
        return mx_history_receive(session, in);
    if (is_kind(envelope, "system/position")) {
        read_place(&session->place, envelope->payload);
        return MCPX_OK;
    }
    mx_tell(session, MCPX_EVENT_MESSAGE, in, NULL);
    return MCPX_OK;
}
