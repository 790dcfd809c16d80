/*
 * What breaks for whom: a client that waits for its welcome for ever, one that misses who is there,
 * a newcomer thrown out by the late close of its own old connection, two copies of an agent that
 * throw each other out without end. Protocol: sections 5 (join order, routing) and 7 (takeover).
 */
#include "lib/base/scoped.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(join, .fini = world_end);

Test(join, begins_with_the_welcome_and_goes_on_with_the_own_presence)
{
    struct world *w = world_new();

    world_joins(w, "bob", "mcp/* chat");
    world_expect(w, "bob < welcome bob [mcp/*,chat]; head null\n"
                    "bob < presence join bob\n");
    world_joins(w, "alice", "");
    world_joins(w, "carol", "chat");
    world_expect(w, "alice < welcome alice [] with bob,carol; head null\n"
                    "alice < presence join alice\n"
                    "bob < presence join alice\n"
                    "bob < presence join carol\n"
                    "carol < welcome carol [chat] with alice,bob; head null\n"
                    "carol < presence join carol\n");
    world_drops(w, "alice");
    world_expect(w, "bob < presence leave alice\n"
                    "carol < presence leave alice\n");
}

Test(join, every_message_has_one_order_for_all_and_the_sender_hears_its_echo)
{
    struct world *w = world_new();

    world_joins(w, "alice", "chat");
    world_joins(w, "bob", "chat");
    world_skip(w);
    world_says(w, "alice", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    world_says(w, "bob", "{\"id\":\"m2\",\"kind\":\"chat\",\"to\":[\"alice\"]}");
    world_says(w, "alice", "{\"id\":\"m3\",\"kind\":\"chat\",\"to\":[]}");
    world_expect(w, "alice < chat m1 from alice\n"
                    "alice < chat m2 from bob\n"
                    "alice < chat m3 from alice\n"
                    "bob < chat m1 from alice\n"
                    "bob < chat m2 from bob\n"
                    "bob < chat m3 from alice\n");
}

Test(join, topics_do_not_hear_each_other)
{
    struct world *w = world_new();

    world_joins(w, "alice", "chat");
    world_arrives(w, "bob", &(struct arrival){.grants = "chat", .topic = "attic"});
    world_skip(w);
    world_says(w, "alice", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    world_says(w, "bob", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    world_expect(w, "alice < chat m1 from alice\n"
                    "bob < chat m1 from bob\n");
}

Test(join, directed_readers_are_spared_what_is_addressed_to_others)
{
    static const struct {
        enum routing asked, prefers;
        bool topic_directed, spared;
    } rows[] = {
        {ROUTING_DEFAULT, ROUTING_DEFAULT, false, false},
        {ROUTING_DEFAULT, ROUTING_DEFAULT, true, true},
        {ROUTING_DEFAULT, ROUTING_DIRECTED, false, true},
        {ROUTING_DEFAULT, ROUTING_ALL, true, false},
        {ROUTING_ALL, ROUTING_DIRECTED, true, false},
        {ROUTING_DIRECTED, ROUTING_ALL, false, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hub_config config = hub_config_default();
        struct arrival bob = {
            .routing = rows[i].asked, .prefers = rows[i].prefers, .history = -1};
        struct world *w;

        config.directed = rows[i].topic_directed;
        w = world_with(&config);
        world_arrives(w, "alice", &(struct arrival){.grants = "chat", .routing = ROUTING_ALL});
        world_arrives(w, "bob", &bob);
        world_skip(w);
        world_says(w, "alice",
                   "{\"id\":\"m1\",\"kind\":\"chat\",\"to\":[\"carol\",\"dave\"]}");
        world_says(w, "alice", "{\"id\":\"m2\",\"kind\":\"chat\",\"to\":[\"carol\",\"bob\"]}");
        world_says(w, "alice", "{\"id\":\"m3\",\"kind\":\"chat\"}");
        world_says(w, "alice", "{\"id\":\"m4\",\"kind\":\"chat\",\"to\":[\"bobby\"]}");
        world_expect(w, rows[i].spared ? "alice < chat m1 from alice\n"
                                         "alice < chat m2 from alice\n"
                                         "alice < chat m3 from alice\n"
                                         "alice < chat m4 from alice\n"
                                         "bob < chat m2 from alice\n"
                                         "bob < chat m3 from alice\n"
                                       : "alice < chat m1 from alice\n"
                                         "alice < chat m2 from alice\n"
                                         "alice < chat m3 from alice\n"
                                         "alice < chat m4 from alice\n"
                                         "bob < chat m1 from alice\n"
                                         "bob < chat m2 from alice\n"
                                         "bob < chat m3 from alice\n"
                                         "bob < chat m4 from alice\n");
    }
}

/* The old connection closes late: the one that replaced it must not go with it. */
Test(join, a_takeover_closes_the_old_connection_and_keeps_the_new)
{
    struct world *w = world_new();

    world_joins(w, "bob", "chat");
    world_joins(w, "alice", "chat");
    world_skip(w);
    world_joins(w, "bob", "chat");
    world_expect(w, "alice < presence join bob (takeover)\n"
                    "bob < close 4001\n"
                    "bob < welcome bob [chat] with alice; head null\n"
                    "bob < presence join bob (takeover)\n");
    world_drops(w, "bob"); /* finds the first of that name: the old one */
    world_says(w, "bob", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    world_expect(w, "alice < chat m1 from bob\n"
                    "bob < chat m1 from bob\n");
    world_drops(w, "bob");
    world_expect(w, "alice < presence leave bob\n");
}

Test(join, the_fourth_takeover_within_a_minute_is_refused)
{
    struct world *w = world_new();
    struct arrival again = {.history = -1};

    world_joins(w, "bob", "");
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(world_arrives(w, "bob", &again), MCPX_OK, "takeover %d", i + 1);
        world_waits(w, 1000);
    }
    cr_expect_eq(world_arrives(w, "bob", &again), MCPX_EFLAPPING);
    world_waits(w, 56999);
    cr_expect_eq(world_arrives(w, "bob", &again), MCPX_EFLAPPING, "59.999 s after the first");
    world_waits(w, 1);
    cr_expect_eq(world_arrives(w, "bob", &again), MCPX_OK, "a minute after the first");
}

/* Leaving first is no way round it, and every instance counts. */
Test(join, coming_and_going_is_damped_for_one_and_nobody_else)
{
    struct hub_config config = hub_config_default();
    struct arrival again = {.history = -1};
    struct arrival window = {.history = -1, .instance = INSTANCE_AUTO};
    struct world *w;

    config.joins_per_minute = 12;
    w = world_with(&config);
    world_joins(w, "alice", "");
    for (int i = 0; i < 12; i++) {
        world_joins(w, "bob", "");
        world_drops(w, "bob");
    }
    cr_expect_eq(world_arrives(w, "bob", &again), MCPX_EFLAPPING);
    cr_expect_eq(world_arrives(w, "bob", &window), MCPX_EFLAPPING, "as another instance");
    cr_expect_eq(world_arrives(w, "carol", &again), MCPX_OK);
    world_waits(w, 4999);
    cr_expect_eq(world_arrives(w, "bob", &again), MCPX_EFLAPPING);
    world_waits(w, 1);
    cr_expect_eq(world_arrives(w, "bob", &again), MCPX_OK, "one every five seconds");
    cr_expect_eq(world_arrives(w, "bob", &again), MCPX_EFLAPPING, "a takeover counts as well");
}

Test(join, a_second_connection_is_refused_where_takeover_is_off)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.takeover = false;
    w = world_with(&config);
    world_joins(w, "bob", "");
    cr_expect_eq(world_arrives(w, "bob", &(struct arrival){.history = -1}), MCPX_EPRESENT);
    world_skip(w);
    world_drops(w, "bob");
    cr_expect_eq(world_arrives(w, "bob", &(struct arrival){.history = -1}), MCPX_OK);
}

Test(join, full_houses_say_so_but_a_takeover_needs_no_new_place)
{
    struct hub_config config = hub_config_default();
    struct arrival in = {.history = -1}, elsewhere = {.topic = "attic", .history = -1};
    struct arrival third = {.topic = "cellar", .history = -1};
    struct world *w;

    config.participants_max = 2;
    config.topics_max = 2;
    config.connections_max = 3;
    w = world_with(&config);
    cr_expect_eq(world_arrives(w, "a", &in), MCPX_OK);
    cr_expect_eq(world_arrives(w, "b", &in), MCPX_OK);
    cr_expect_eq(world_arrives(w, "c", &in), MCPX_EFULL, "participants of a topic");
    cr_expect_eq(world_arrives(w, "c", &elsewhere), MCPX_OK);
    cr_expect_eq(world_arrives(w, "d", &elsewhere), MCPX_EFULL, "connections");
    cr_expect_eq(world_arrives(w, "a", &in), MCPX_OK, "takeover");
    world_drops(w, "a");
    world_drops(w, "a");
    cr_expect_eq(world_arrives(w, "d", &third), MCPX_EFULL, "topics");
}

Test(join, no_topic_comes_to_be_where_that_is_forbidden)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.create = false;
    w = world_with(&config);
    cr_expect_eq(world_arrives(w, "a", &(struct arrival){.history = -1}), MCPX_ENOTOPIC);
    cr_expect_eq(hub_stats(world_hub(w))->topics, 0);
}

Test(join, conditional_grants_are_shown_as_patterns_and_whole)
{
    struct world *w = world_new();
    const struct name_page all = {.limit = SIZE_MAX};
    mx_scoped_text text = {0};

    world_joins(w, "alice", "chat mcp/request:tools/call:rm to=bob expires=5000");
    topic_write_participants(hub_topic_find(world_hub(w), MCPX_SLICE("room")), &all, SIZE_MAX,
                             &text);
    cr_expect_str_eq(
        text.text,
        "[{\"id\":\"alice\",\"capabilities\":[\"chat\",\"mcp/request:tools/call:rm\"],"
        "\"grants\":[\"chat\",{\"kind\":\"mcp/request:tools/call:rm\",\"to\":[\"bob\"],"
        "\"expires\":\"2026-01-01T00:00:05.000Z\"}]}]");
}

Test(join, limits_that_are_none_read_null)
{
    struct hub_config config = hub_config_default();
    const uint64_t limits[] = {0, 10};

    for (size_t i = 0; i < 2; i++) {
        struct world *w;
        struct output output;
        struct peer *peer;
        char text[1024];

        config.messages_per_minute = limits[i];
        config.message_bytes = (size_t)limits[i];
        config.bytes_per_minute = limits[i];
        w = world_with(&config);
        world_joins(w, "alice", "");
        peer = hub_next_ready(world_hub(w));
        cr_assert(peer && peer_peek(peer, &output));
        snprintf(text, sizeof text, "%.*s", (int)output.len - 4,
                 output.bytes + 4); /* behind the frame head */
        cr_expect_not_null(
            strstr(text, i ? "{\"message_bytes\":10,\"messages_per_minute\":10,"
                             "\"bytes_per_minute\":10}"
                           : "{\"message_bytes\":null,\"messages_per_minute\":null,"
                             "\"bytes_per_minute\":null}"),
            "%s", text);
    }
}
