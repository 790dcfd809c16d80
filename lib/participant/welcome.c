/*
 * welcome.c - reads our id, our grants and the roster. Everything that can fail is done before
 * anything changes.
 */
#include "lib/participant/welcome.h"

#include "lib/core/decimal.h"
#include "lib/participant/delivery.h"
#include "lib/participant/tell.h"

/*
 * CATCH_UP_MS is how long to wait for the end of the missed messages, because some routers do
 * not mark it. ABSENT_MS is how long to wait for participants that were there before the router
 * was restarted: they would get our message as history only.
 */
enum { CATCH_UP_MS = 5000, ABSENT_MS = 10000 };

/* What is read from a welcome, before anything changes. */
struct welcome {
    struct mx_person *you;
    struct mx_grants grants;
    struct mx_roster others;
};

/* A number of bytes; 0 when it cannot be read. */
static size_t read_size(struct mcpx_slice value)
{
    uint64_t size;

    return mx_decimal_read(value, SIZE_MAX, &size) ? (size_t)size : 0;
}

static bool is_literal(struct mcpx_slice value, const char *literal)
{
    return value.text && mcpx_slice_equal(value, mcpx_slice_of(literal));
}

static void welcome_fini(struct welcome *welcome)
{
    mx_person_free(welcome->you);
    mx_grants_fini(&welcome->grants);
    mx_roster_fini(&welcome->others);
}

static enum mcpx_err read_others(struct mcpx_slice list, struct mx_roster *out)
{
    struct mcpx_json_walk walk;
    enum mcpx_err err = MCPX_OK;

    if (mcpx_json_type(list) != MCPX_JSON_ARRAY)
        return MCPX_EINVALID;
    mcpx_json_walk_start(&walk, list);
    while (!err && mcpx_json_walk_next(&walk)) {
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

    if (!err)
        err = mx_grants_read(you, &out->grants);
    if (!err)
        err = read_others(mcpx_json_get(payload, "participants"), &out->others);
    return err;
}

/* Sets what the outbox has to wait for on this connection. */
static void wait_for_others(struct mcpx_session *session, const struct mx_roster *others,
                            bool resumed)
{
    bool repeats = mx_outbox_is_repeating(&session->outbox);

    session->caught_up = false;
    mx_absent_fini(&session->absent);
    session->absent.until = session->mono_ms + ABSENT_MS;
    if (!resumed)
        repeats |= mx_delivery_renew(session);
    if (repeats)
        mx_outbox_hold(&session->outbox, session->mono_ms + CATCH_UP_MS);
    if (!resumed)
        mx_delivery_note_absent(session, others);
}

/*
 * Notes our id, and the instance to ask for next time. Returns whether the id was another one
 * before.
 */
static bool learn_id(struct mcpx_session *session, const struct mx_person *you)
{
    struct mcpx_slice before = mx_id_view(&session->id);
    bool is_renamed = before.len > 0 && !mcpx_slice_equal(before, you->id);
    const char *number = "1";
    size_t len = 1;

    if (is_renamed)
        mx_id_set(&session->former, before);
    mx_id_set(&session->id, you->id);
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

static void accept_welcome(struct mcpx_session *session, const struct mx_incoming *in,
                           struct welcome *welcome)
{
    struct mcpx_slice payload = in->envelope->payload;
    struct mcpx_slice limit = mcpx_json_get(mcpx_json_get(payload, "limits"), "message_bytes");
    bool resumed = is_literal(mcpx_json_get(payload, "resumed"), "true");
    struct mx_grants grants = session->grants;
    struct mx_roster others;
    bool is_first = mx_connection_move(&session->connection, MX_WELCOME);
    bool is_known = session->id.len > 0;
    bool is_renamed = learn_id(session, welcome->you);
    struct mx_event *event;

    if (!is_known)
        mx_delivery_learn_id(session);
    mx_roster_remove(&welcome->others, welcome->you->id);
    if (is_first)
        wait_for_others(session, &welcome->others, resumed);
    others = session->roster;
    session->grants = welcome->grants;
    session->roster = welcome->others;
    welcome->grants = grants; /* to be freed with it */
    welcome->others = others;
    session->message_max = read_size(limit);
    if (is_first) {
        session->welcome_ms = session->mono_ms;
        if (!resumed)
            mx_place_forget(&session->place); /* a router that tells no place here has none */
    }
    mx_place_told(&session->place, payload);
    event = mx_tell(session, in, is_first ? MCPX_EVENT_JOINED : MCPX_EVENT_GRANTS);
    event->told.resumed = is_first && resumed;
    event->told.renamed = is_renamed;
    if (is_first)
        mx_delivery_refuse_overlong(session);
}

enum mcpx_err mx_welcome_receive(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct welcome welcome = {0};
    enum mcpx_err err = read_welcome(in->envelope->payload, &welcome);

    if (!err)
        accept_welcome(session, in, &welcome);
    else if (err != MCPX_ENOMEM)
        mx_tell_expected(session, in, MCPX_VIOLATION_TEXT, "payload",
                         "expected a welcome with you and participants");
    welcome_fini(&welcome);
    return err == MCPX_ENOMEM ? err : MCPX_OK;
}
