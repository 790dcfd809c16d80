/*
 * What breaks for whom: a person with two windows, of which the second ends the first; a window
 * that comes back after a break and ends another one; everybody else, should ten windows get ten
 * times the rates. Protocol: sections 1, 5, 7 and 8.
 */
#include "lib/base/scoped.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(instances, .fini = world_end);

static enum mcpx_err opens(struct world *w, const char *who, unsigned instance,
                           const char *key)
{
    return world_arrives(
        w, who,
        &(struct arrival){.grants = "chat", .history = -1, .instance = instance, .key = key});
}

static void expect_participants(struct world *w, const char *expected)
{
    mx_scoped_text text = {0};

    topic_write_participants(hub_topic_find(world_hub(w), MCPX_SLICE("room")),
                             &(struct name_page){.limit = SIZE_MAX}, SIZE_MAX, &text);
    cr_expect_str_eq(text.text, expected);
}

Test(instances, two_connections_with_one_token_both_stay)
{
    struct world *w = world_new();

    world_joins(w, "alice", "chat");
    cr_assert_eq(opens(w, "desk", INSTANCE_AUTO, NULL), MCPX_OK);
    world_skip(w);
    cr_assert_eq(opens(w, "desk", INSTANCE_AUTO, NULL), MCPX_OK);
    world_waits(w, 50);
    world_expect(w, "alice < presence join desk~2\n"
                    "desk < presence join desk~2\n"
                    "desk~2 < welcome desk~2 [chat] with alice,desk; head null\n"
                    "desk~2 < presence join desk~2\n");
    world_says(w, "desk", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    world_says(w, "desk~2", "{\"id\":\"m2\",\"kind\":\"chat\",\"from\":\"desk~2\"}");
    world_expect(w, "alice < chat m1 from desk\n"
                    "alice < chat m2 from desk~2\n"
                    "desk < chat m1 from desk\n"
                    "desk < chat m2 from desk~2\n"
                    "desk~2 < chat m1 from desk\n"
                    "desk~2 < chat m2 from desk~2\n");
    cr_expect_eq(
        world_says(w, "desk~2", "{\"id\":\"m3\",\"kind\":\"chat\",\"from\":\"desk\"}"),
        MCPX_EAUTH, "an instance does not speak for another");
    cr_expect_eq(
        world_says(w, "desk", "{\"id\":\"m3\",\"kind\":\"chat\",\"from\":\"desk~2\"}"),
        MCPX_EAUTH);
    world_skip(w);
}

Test(instances, are_shown_with_whose_they_are)
{
    struct world *w = world_new();

    opens(w, "desk", INSTANCE_AUTO, NULL);
    opens(w, "desk", INSTANCE_AUTO, NULL);
    expect_participants(
        w, "[{\"id\":\"desk\",\"capabilities\":[\"chat\"]},"
           "{\"id\":\"desk~2\",\"identity\":\"desk\",\"capabilities\":[\"chat\"]}]");
    world_regrants(w, "desk~2", "chat note");
    expect_participants(
        w, "[{\"id\":\"desk\",\"capabilities\":[\"chat\"]},"
           "{\"id\":\"desk~2\",\"identity\":\"desk\",\"capabilities\":[\"chat\",\"note\"]}]");
    world_skip(w);
}

/* Each row: what is asked for, with which key, and who that is; dash = nobody new. */
Test(instances, get_the_lowest_free_number_or_their_own_again)
{
    static const struct {
        const char *drops; /* before */
        unsigned instance;
        const char *key;
        enum mcpx_err err;
        const char *id;  /* who it is */
        bool takes_over; /* a connection that was there */
        const char *why;
    } rows[] = {
        {NULL, INSTANCE_AUTO, "a", MCPX_OK, "desk", false, "the first"},
        {NULL, INSTANCE_AUTO, "b", MCPX_OK, "desk~2", false, "the second"},
        {NULL, INSTANCE_AUTO, "c", MCPX_OK, "desk~3", false, "the third"},
        {"desk~2", INSTANCE_AUTO, "d", MCPX_OK, "desk~2", false, "a gap is filled"},
        {NULL, 2, "d", MCPX_OK, "desk~2", true, "its own old connection makes way"},
        {NULL, 2, "b", MCPX_OK, "desk~4", false, "another's is left alone"},
        {NULL, 2, NULL, MCPX_OK, "desk~5", false, "without a key nothing is its own"},
        {NULL, 2, NULL, MCPX_OK, "desk~6", false, "nor are two without"},
        {"desk", 6, NULL, MCPX_OK, "desk", false, "the lowest free one instead"},
        {"desk~3", 3, "c", MCPX_OK, "desk~3", false, "its number is still free"},
        {NULL, INSTANCE_AUTO, NULL, MCPX_OK, "desk~7", false, "one more"},
        {NULL, 8, NULL, MCPX_OK, "desk~8", false, "a number nobody had"},
        {NULL, INSTANCE_AUTO, NULL, MCPX_EINSTANCES, "", false, "eight are enough"},
        {NULL, 9, "i", MCPX_EINSTANCES, "", false, "beyond the limit"},
        {NULL, 2, "d", MCPX_OK, "desk~2", true, "its own, even so"},
        {NULL, INSTANCE_AUTO, "d", MCPX_OK, "desk~2", true, "who never heard its number"},
        {NULL, 7, "c", MCPX_OK, "desk~3", true, "or heard a wrong one"},
        {"desk~5", 9, "i", MCPX_OK, "desk~5", false, "beyond the limit, but one is free"},
    };
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t takeovers = hub_stats(world_hub(w))->takeovers;

        world_skip(w);
        if (rows[i].drops)
            world_drops(w, rows[i].drops);
        cr_expect_eq(opens(w, "desk", rows[i].instance, rows[i].key), rows[i].err, "%s",
                     rows[i].why);
        cr_expect_eq(hub_stats(world_hub(w))->takeovers - takeovers, rows[i].takes_over, "%s",
                     rows[i].why);
        cr_expect(!*rows[i].id || topic_peer(hub_topic_find(world_hub(w), MCPX_SLICE("room")),
                                             mcpx_slice_of(rows[i].id)),
                  "%s", rows[i].why);
        world_skip(w);
        if (rows[i].takes_over)
            world_drops(w, rows[i].id); /* finds the old one */
    }
}

Test(instances, of_a_token_are_counted_by_its_own_number)
{
    static const unsigned limits[] = {1, 2, 5};

    for (size_t i = 0; i < 3; i++) {
        struct arrival in = {.history = -1, .instance = INSTANCE_AUTO, .instances = limits[i]};
        struct world *w = world_new();

        for (unsigned n = 0; n < limits[i]; n++)
            cr_expect_eq(world_arrives(w, "desk", &in), MCPX_OK);
        cr_expect_eq(world_arrives(w, "desk", &in), MCPX_EINSTANCES, "%u", limits[i]);
        in.topic = "attic";
        cr_expect_eq(world_arrives(w, "desk", &in), MCPX_OK, "another topic counts apart");
        world_skip(w);
    }
}

/* The plain connection is as it was; so is who asks for none of this. */
Test(instances, without_one_the_plain_id_is_taken_over_or_refused_as_ever)
{
    for (int takeover = 0; takeover < 2; takeover++) {
        struct hub_config config = hub_config_default();
        struct world *w;

        config.takeover = takeover;
        w = world_with(&config);
        opens(w, "desk", INSTANCE_AUTO, "a");
        opens(w, "desk", INSTANCE_AUTO, "b");
        world_skip(w);
        cr_expect_eq(opens(w, "desk", 0, NULL), takeover ? MCPX_OK : MCPX_EPRESENT);
        world_expect(w, takeover ? "desk < close 4001\n"
                                   "desk < welcome desk [chat] with desk~2; head null\n"
                                   "desk < presence join desk (takeover)\n"
                                   "desk~2 < presence join desk (takeover)\n"
                                 : "");
        cr_expect_eq(opens(w, "desk", 2, "b"), MCPX_OK, "its own, whatever the setting");
        world_expect(w, "desk < presence join desk~2 (takeover)\n"
                        "desk~2 < close 4001\n"
                        "desk~2 < welcome desk~2 [chat] with desk; head null\n"
                        "desk~2 < presence join desk~2 (takeover)\n");
        cr_expect_eq(opens(w, "desk", INSTANCE_AUTO, NULL), MCPX_OK);
        world_skip(w);
    }
}

/* Eight windows that wake up together all come back; one that flaps does not. */
Test(instances, are_counted_apart_when_they_flap)
{
    static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct world *w = world_new();

    for (unsigned i = 0; i < 8; i++)
        cr_expect_eq(opens(w, "desk", INSTANCE_AUTO, keys[i]), MCPX_OK);
    for (unsigned i = 0; i < 8; i++)
        cr_expect_eq(opens(w, "desk", i + 1, keys[i]), MCPX_OK, "number %u", i + 1);
    for (int i = 0; i < 2; i++)
        cr_expect_eq(opens(w, "desk", 3, "c"), MCPX_OK);
    cr_expect_eq(opens(w, "desk", 3, "c"), MCPX_EFLAPPING);
    cr_expect_eq(opens(w, "desk", 4, "d"), MCPX_OK);
    world_skip(w);
}

Test(instances, share_one_participants_rate_and_its_debts)
{
    struct hub_config config = hub_config_default();
    struct rate_state rate;
    struct world *w;
    char text[64];

    config.messages_per_minute = 10;
    w = world_with(&config);
    opens(w, "desk", INSTANCE_AUTO, NULL);
    opens(w, "desk", INSTANCE_AUTO, NULL);
    world_joins(w, "alice", "chat");
    for (int i = 0; i < 10; i++) {
        snprintf(text, sizeof text, "{\"id\":\"m%d\",\"kind\":\"chat\"}", i);
        cr_expect_eq(world_says(w, i % 2 ? "desk" : "desk~2", text), MCPX_OK);
    }
    cr_expect_eq(world_says(w, "desk", "{\"id\":\"n1\",\"kind\":\"chat\"}"), MCPX_ERATE);
    cr_expect_eq(world_says(w, "desk~2", "{\"id\":\"n2\",\"kind\":\"chat\"}"), MCPX_ERATE);
    cr_expect_eq(world_says(w, "alice", "{\"id\":\"n3\",\"kind\":\"chat\"}"), MCPX_OK);
    cr_assert(topic_rate(hub_topic_find(world_hub(w), MCPX_SLICE("room")), MCPX_SLICE("desk"),
                         world_now(w), &rate));
    cr_expect_eq(rate.messages, 0);
    world_skip(w);
    world_drops(w, "desk");
    cr_expect_eq(opens(w, "desk", INSTANCE_AUTO, NULL), MCPX_OK);
    cr_expect_eq(world_says(w, "desk", "{\"id\":\"n4\",\"kind\":\"chat\"}"), MCPX_ERATE,
                 "while one is there");
    world_skip(w);
    world_drops(w, "desk");
    world_drops(w, "desk~2");
    cr_expect_not(topic_rate(hub_topic_find(world_hub(w), MCPX_SLICE("room")),
                             MCPX_SLICE("desk"), world_now(w), &rate));
    opens(w, "desk", 5, NULL);
    cr_expect_eq(world_says(w, "desk~5", "{\"id\":\"n5\",\"kind\":\"chat\"}"), MCPX_ERATE,
                 "when all had left");
    world_waits(w, 60000);
    cr_expect_eq(world_says(w, "desk~5", "{\"id\":\"n6\",\"kind\":\"chat\"}"), MCPX_OK);
    world_skip(w);
}

Test(instances, are_addressed_by_their_own_id_and_granted_by_their_participants)
{
    struct world *w = world_new();

    world_arrives(w, "alice", &(struct arrival){.grants = "note to=desk", .history = -1});
    for (int i = 0; i < 2; i++)
        world_arrives(w, "desk",
                      &(struct arrival){.routing = ROUTING_DIRECTED,
                                        .history = -1,
                                        .instance = INSTANCE_AUTO});
    world_skip(w);
    cr_expect_eq(
        world_says(w, "alice", "{\"id\":\"m1\",\"kind\":\"note\",\"to\":[\"desk~2\"]}"),
        MCPX_OK);
    cr_expect_eq(world_says(w, "alice", "{\"id\":\"m2\",\"kind\":\"note\",\"to\":[\"desk\"]}"),
                 MCPX_OK);
    cr_expect_eq(
        world_says(w, "alice", "{\"id\":\"m3\",\"kind\":\"note\",\"to\":[\"desks~2\"]}"),
        MCPX_ECAPABILITY);
    cr_expect_eq(
        world_says(w, "alice", "{\"id\":\"m4\",\"kind\":\"note\",\"to\":[\"desk~\"]}"),
        MCPX_ECAPABILITY);
    cr_expect_eq(world_says(w, "alice", "{\"id\":\"m5\",\"kind\":\"note\"}"),
                 MCPX_ECAPABILITY);
    world_drops(w, "alice");
    world_expect(w, "desk < note m2 from alice\n"
                    "desk < presence leave alice\n"
                    "desk~2 < note m1 from alice\n"
                    "desk~2 < presence leave alice\n");
}

/* What was sent to an instance while it was away waits for it, not for its neighbour. */
Test(instances, resume_under_their_own_number)
{
    struct world *w = world_new();
    struct arrival back = {
        .routing = ROUTING_DIRECTED, .history = -1, .instance = 2, .key = "b"};
    struct reader_place place;
    struct arrival in = {
        .routing = ROUTING_DIRECTED, .history = -1, .instance = INSTANCE_AUTO};

    world_joins(w, "alice", "chat");
    world_arrives(w, "desk", &in);
    in.key = "b";
    world_arrives(w, "desk", &in);
    world_says(w, "alice", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    world_skip(w);
    world_drops(w, "desk~2");
    world_says(w, "alice", "{\"id\":\"m2\",\"kind\":\"chat\",\"to\":[\"desk\"]}");
    world_says(w, "alice", "{\"id\":\"m3\",\"kind\":\"chat\",\"to\":[\"desk~2\"]}");
    world_skip(w);
    place = world_place(w, "desk~2");
    back.place = &place;
    cr_expect_eq(world_arrives(w, "desk", &back), MCPX_OK);
    world_drops(w, "alice");
    world_drops(w, "desk");
    world_expect(w, "desk~2 < welcome desk~2 []; head m3; resumed\n"
                    "desk~2 < chat m3 from alice\n"
                    "desk~2 < presence join desk~2\n");
}

Test(instances, do_not_fit_behind_an_identity_that_fills_an_id)
{
    char name[MCPX_ID_MAX + 1];
    struct grant *grant;
    struct mcpx_capset *set;
    struct admission admission = {.topic = MCPX_SLICE("room"), .instance = INSTANCE_AUTO};
    struct world *w = world_new();

    cr_assert_eq(mcpx_capset_new(NULL, 0, NULL, 0, NULL, NULL, &set), MCPX_OK);
    for (size_t len = MCPX_ID_MAX - 3; len <= MCPX_ID_MAX; len++) {
        struct peer *first = NULL, *second = NULL;

        memset(name, 'x', len);
        grant = grant_new((struct mcpx_slice){name, len}, set, ROUTING_ALL, 0);
        cr_expect_eq(hub_admit(world_hub(w), grant, &admission, NULL, world_now(w), &first),
                     MCPX_OK);
        cr_expect_eq(hub_admit(world_hub(w), grant, &admission, NULL, world_now(w), &second),
                     len == MCPX_ID_MAX - 3 ? MCPX_OK : MCPX_EINSTANCES, "%zu bytes", len);
        if (second)
            hub_leave(world_hub(w), second, MCPX_ECLOSED, world_now(w));
        hub_leave(world_hub(w), first, MCPX_ECLOSED, world_now(w));
        grant_unref(grant);
    }
    mcpx_capset_unref(set);
}
