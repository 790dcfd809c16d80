/*
 * presence.c - participants that come, leave or change. Our own presence is not told as an
 * event, but a session waits for it after each welcome.
 */
#include "lib/participant/presence.h"

#include "lib/participant/tell.h"

#include <stdlib.h>

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

/*
 * The outbox waits until all missed messages have come, and until all addressees of our
 * envelopes are there.
 */
static void go_on(struct mcpx_session *session)
{
    if (session->caught_up && session->absent.needed == 0)
        mx_outbox_release(&session->outbox);
}

/* Tells it and changes the roster; `person` is taken. Returns MCPX_OK or MCPX_ENOMEM. */
static enum mcpx_err accept_presence(struct mcpx_session *session,
                                     const struct mx_incoming *in, struct mx_person *person,
                                     enum mcpx_presence presence)
{
    char *words = malloc(person->id.len);
    struct mx_event *event;

    if (!words || !mx_roster_reserve(&session->roster)) {
        free(words);
        mx_person_free(person);
        return MCPX_ENOMEM;
    }
    event = mx_tell(session, in, MCPX_EVENT_PRESENCE);
    memcpy(words, person->id.text, person->id.len);
    event->words = words;
    event->told.participant = (struct mcpx_slice){words, person->id.len};
    event->told.presence = presence;
    if (presence == MCPX_PRESENCE_LEAVE) {
        mx_roster_remove(&session->roster, person->id);
        mx_person_free(person);
    } else {
        if (mx_absent_came(&session->absent, person->id))
            go_on(session);
        mx_roster_put(&session->roster, person);
    }
    return MCPX_OK;
}

/*
 * The welcome tells that we joined, a new welcome that we changed. But our own presence ends
 * the missed messages: an envelope without an echo by now has not arrived, and writing it again
 * is not refused. Protocol: section 5.
 */
static bool is_news(struct mcpx_session *session, const struct mx_person *person,
                    enum mcpx_presence presence)
{
    if (mcpx_slice_equal(person->id, mx_id_view(&session->id))) {
        if (presence == MCPX_PRESENCE_JOIN) {
            session->caught_up = true;
            go_on(session);
        }
        return false;
    }
    return presence != MCPX_PRESENCE_LEAVE || mx_roster_find(&session->roster, person->id);
}

enum mcpx_err mx_presence_receive(struct mcpx_session *session, const struct mx_incoming *in)
{
    struct mcpx_slice payload = in->envelope->payload;
    struct mx_person *person = NULL;
    enum mcpx_presence presence;
    enum mcpx_err err = mx_person_read(mcpx_json_get(payload, "participant"), &person);

    if (err == MCPX_ENOMEM)
        return err;
    if (err || !read_presence(payload, &presence)) {
        mx_person_free(person);
        mx_tell_expected(session, in, MCPX_VIOLATION_TEXT, "payload",
                         "expected a presence with event and participant");
        return MCPX_OK;
    }
    if (is_news(session, person, presence))
        err = accept_presence(session, in, person, presence);
    else
        mx_person_free(person);
    if (!err)
        mx_place_told(&session->place, payload);
    return err;
}
