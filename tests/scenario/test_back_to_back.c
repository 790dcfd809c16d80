/*
 * What breaks for whom: an application that trusts its session: every request ends exactly once, in
 * a response to itself; nothing is told twice; nothing is lost while the router still has it,
 * however often and wherever a connection breaks. Protocol: section 5. A failing seed prints
 * itself.
 */
#include "tests/support/frames.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/table.h"

#include "router/hub/hub.h"
#include "router/hub/topic/query.h"
#include <mcpx/session.h>

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void run(bool forgetful, bool hurried, struct table_tally *tally)
{
    uint64_t seed = dice_number_of("MCPX_TABLE_SEED", 0);
    uint64_t seeds = seed ? 1 : dice_number_of("MCPX_TABLE_SEEDS", 60);

    for (uint64_t i = 0; i < seeds; i++) {
        struct table_plan plan = {
            .seed = seed ? seed : i + 1,
            .steps = (size_t)dice_number_of("MCPX_TABLE_STEPS", 6000),
            .forgetful = forgetful,
            .hurried = hurried,
        };

        table_run(&plan, tally);
    }
    printf("%" PRIu64 " sent, %" PRIu64 " accepted, %" PRIu64 " told, %" PRIu64
           " responses (%" PRIu64 " to proposals), %" PRIu64 " expired, %" PRIu64
           " refused, %" PRIu64 " rejected, %" PRIu64 " breaks, %" PRIu64 " resumed, %" PRIu64
           " anew, %" PRIu64 " duplicates, %" PRIu64 " over the rate\n",
           tally->sent, tally->accepted, tally->told, tally->responses, tally->fulfilled,
           tally->expired, tally->refused, tally->rejected, tally->breaks, tally->resumed,
           tally->anew, tally->duplicates, tally->retries);
}

Test(back_to_back, nothing_is_lost_or_told_twice_across_reconnections)
{
    struct table_tally tally = {0};

    run(false, false, &tally);
    cr_expect(tally.responses && tally.fulfilled && tally.expired && tally.rejected &&
              tally.resumed);
    cr_expect_eq(tally.refused, 0);
}

Test(back_to_back, every_request_ends_once_even_when_the_router_forgets)
{
    struct table_tally tally = {0};

    run(true, false, &tally);
    cr_expect(tally.responses && tally.anew > tally.resumed / 10);
}

Test(back_to_back, a_router_in_no_hurry_is_obeyed)
{
    struct table_tally tally = {0};

    run(false, true, &tally);
    cr_expect(tally.refused && tally.retries);
    cr_expect_eq(tally.thrown_out, 0); /* for its haste */
}

/* ---- somebody who uses an id again ---- */

static struct grant *grant_of(const char *name)
{
    struct mcpx_grant all = {.pattern = MCPX_SLICE("*")};
    struct mcpx_capset *capset;
    struct grant *grant;

    cr_assert_eq(mcpx_capset_new(&all, 1, NULL, 0, NULL, NULL, &capset), MCPX_OK);
    grant = grant_new(mcpx_slice_of(name), capset, ROUTING_ALL, 0);
    mcpx_capset_unref(capset);
    cr_assert_not_null(grant);
    return grant;
}

static const struct mcpx_now now = {1000, 1767225600000};

static struct peer *join(struct hub *hub, const char *name, const struct mcpx_place *place)
{
    struct admission admission = {.topic = MCPX_SLICE("table"),
                                  .epoch = place->epoch,
                                  .serial = place->serial,
                                  .after = place->after};
    struct grant *grant = grant_of(name);
    struct peer *peer = NULL;

    cr_assert_eq(hub_admit(hub, grant, &admission, NULL, now, &peer), MCPX_OK);
    grant_unref(grant);
    return peer;
}

/* What a peer has to read goes to its session; returns how many of these events that makes. */
static size_t hear(struct peer *peer, struct mcpx_session *session, enum mcpx_event_type type,
                   bool *resumed)
{
    struct frame_view frame;
    struct mcpx_event event;
    struct output output;
    size_t count = 0;

    while (peer_peek(peer, &output)) {
        struct mcpx_slice stream = {output.bytes, output.len};

        while (frame_cut(&stream, &frame))
            cr_assert_eq(mcpx_session_receive(session, frame.payload, now), MCPX_OK);
        peer_pop(peer);
    }
    while (mcpx_session_event(session, &event)) {
        count += event.type == type;
        if (event.type == MCPX_EVENT_JOINED)
            *resumed = event.resumed;
    }
    return count;
}

static void say(struct hub *hub, struct peer *peer, const char *id)
{
    struct verdict verdict;
    char text[200];

    snprintf(text, sizeof text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"kind\":\"chat\",\"payload\":{}}",
             id);
    hub_route(hub, peer, mcpx_slice_of(text), now, &verdict);
    cr_assert_eq(verdict.err, MCPX_OK, "%s: %s", id, mcpx_strerror(verdict.err));
}

/* `flood` more are said while the desk is away, and then "last" again if that is let pass. */
static void come_back(int flood, bool again, bool should_resume, size_t missed)
{
    static const struct mcpx_place nowhere;
    struct hub_config config = hub_config_default();
    struct dice dice = dice_of_seed(1);
    struct mcpx_session_config wishes = {.fill = dice_fill, .context = &dice};
    struct mcpx_place place = nowhere;
    struct mcpx_session *session;
    struct peer *desk, *mallory;
    bool resumed = true;
    struct hub *hub;
    char id[32];

    config.history_count = 10;
    config.messages_per_minute = 0;
    hub = hub_new(&config, (struct chance){dice_fill, &dice});
    cr_assert(hub && mcpx_session_new(&wishes, &session) == MCPX_OK);
    mallory = join(hub, "mallory", &nowhere);
    desk = join(hub, "desk", &nowhere);
    mcpx_session_connected(session, now);
    say(hub, mallory, "last");
    cr_expect_eq(hear(desk, session, MCPX_EVENT_MESSAGE, &resumed), 1);
    cr_expect_not(resumed);
    hub_leave(hub, desk, MCPX_ECLOSED, now);
    mcpx_session_disconnected(session, 1006, MCPX_SLICE("gone"), now);
    for (int i = 0; i < flood; i++) {
        snprintf(id, sizeof id, "missed%d", i);
        say(hub, mallory, id);
    }
    if (again)
        say(hub, mallory, "last");
    cr_assert(mcpx_session_place(session, &place));
    desk = join(hub, "desk", &place);
    mcpx_session_connected(session, now);
    cr_expect_eq(
        hear(desk, session, should_resume ? MCPX_EVENT_MESSAGE : MCPX_EVENT_HISTORY, &resumed),
        missed, "%d more", flood);
    cr_expect_eq(resumed, should_resume, "%d more", flood);
    mcpx_session_free(session);
    hub_free(hub);
}

Test(back_to_back, who_uses_an_id_again_hides_no_hole)
{
    come_back(0, false, true, 0);
    come_back(5, false, true, 5);
    come_back(300, false, false, 10);
    come_back(300, true, false, 10);
}
