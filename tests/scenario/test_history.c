/*
 * What breaks for whom: a late joiner that acts on an old tool call or sees a gap; one that resumes
 * and silently misses a response; memory that grows without end. Protocol: section 5.
 */
#include "lib/base/scoped.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(history, .fini = world_end);

static void chats(struct world *w, const char *name, int from, int to)
{
    char text[64];

    for (int i = from; i <= to; i++) {
        snprintf(text, sizeof text, "{\"id\":\"m%d\",\"kind\":\"chat\"}", i);
        cr_assert_eq(world_says(w, name, text), MCPX_OK, "%s", text);
    }
}

static struct world *with_messages(const struct hub_config *config, int count)
{
    struct world *w = world_with(config);

    world_joins(w, "alice", "*");
    chats(w, "alice", 1, count);
    world_skip(w);
    return w;
}

Test(history, a_late_joiner_gets_as_much_as_it_asks_for_then_live_traffic)
{
    static const struct {
        int history;
        const char *read;
    } rows[] = {
        {-1, "bob < welcome bob [] with alice; head m3; history 3\n"
             "bob < history m1 m2 m3 complete\n"},
        {0, "bob < welcome bob [] with alice; head m3\n"},
        {1, "bob < welcome bob [] with alice; head m3; history 1\n"
            "bob < history m3 complete\n"},
        {3, "bob < welcome bob [] with alice; head m3; history 3\n"
            "bob < history m1 m2 m3 complete\n"},
        {99, "bob < welcome bob [] with alice; head m3; history 3\n"
             "bob < history m1 m2 m3 complete\n"},
    };
    struct hub_config config = hub_config_default();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *w = with_messages(&config, 3);
        char wanted[512];

        world_arrives(w, "bob", &(struct arrival){.history = rows[i].history});
        chats(w, "alice", 4, 4);
        snprintf(wanted, sizeof wanted,
                 "alice < presence join bob\nalice < chat m4 from alice\n%s"
                 "bob < presence join bob\nbob < chat m4 from alice\n",
                 rows[i].read);
        world_expect(w, wanted);
    }
}

Test(history, the_default_length_is_a_setting)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.replay = 2;
    w = with_messages(&config, 5);
    world_joins(w, "bob", "");
    world_expect(w, "alice < presence join bob\n"
                    "bob < welcome bob [] with alice; head m5; history 2\n"
                    "bob < history m4 m5 complete\n"
                    "bob < presence join bob\n");
}

/* Old presence would tell a newcomer of people who are gone; its welcome tells who is there. */
Test(history, leaves_presence_out_and_what_is_addressed_to_others_in_directed_mode)
{
    struct hub_config config = hub_config_default();
    struct world *w = with_messages(&config, 1);

    world_joins(w, "carol", "");
    world_says(w, "alice", "{\"id\":\"m2\",\"kind\":\"chat\",\"to\":[\"carol\"]}");
    world_says(w, "alice", "{\"id\":\"m3\",\"kind\":\"chat\",\"to\":[\"bob\"]}");
    world_drops(w, "carol");
    world_skip(w);
    world_arrives(w, "bob", &(struct arrival){.routing = ROUTING_DIRECTED, .history = -1});
    world_expect(w, "alice < presence join bob\n"
                    "bob < welcome bob [] with alice; head m3; history 2\n"
                    "bob < history m1 m3 complete\n"
                    "bob < presence join bob\n");
}

Test(history, pages_are_bounded_and_only_the_last_is_complete)
{
    struct hub_config config = hub_config_default();
    struct world *w = world_with(&config);
    char *text = malloc(200100);

    world_joins(w, "alice", "*");
    for (int i = 1; i <= 4; i++) {
        int size = i == 3 ? 199900 : 100000; /* 1+2 fit one page, 3 fills one, 4 follows */
        int head = snprintf(text, 200100,
                            "{\"id\":\"m%d\",\"kind\":\"chat\",\"payload\":{\"x\":\"", i);

        memset(text + head, 'x', (size_t)size);
        memcpy(text + head + size, "\"}}", 4);
        cr_assert_eq(world_says(w, "alice", text), MCPX_OK);
    }
    world_skip(w);
    world_joins(w, "bob", "");
    world_expect(w, "alice < presence join bob\n"
                    "bob < welcome bob [] with alice; head m4; history 4\n"
                    "bob < history m1 m2\n"
                    "bob < history m3\n"
                    "bob < history m4 complete\n"
                    "bob < presence join bob\n");
    free(text);
}

Test(history, forgets_by_count_by_bytes_and_by_age)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.history_count = 2;
    w = with_messages(&config, 5);
    world_joins(w, "bob", "");
    world_expect(w, "alice < presence join bob\n"
                    "bob < welcome bob [] with alice; head m5; history 2\n"
                    "bob < history m4 m5 complete\n"
                    "bob < presence join bob\n");

    config = hub_config_default();
    config.history_bytes = 420; /* a frame of these is 123 bytes, bob's join 220 */
    w = with_messages(&config, 5);
    world_joins(w, "bob", "");
    world_expect(w, "alice < presence join bob\n"
                    "bob < welcome bob [] with alice; head m5; history 3\n"
                    "bob < history m3 m4 m5 complete\n"
                    "bob < presence join bob\n");

    config = hub_config_default();
    config.history_age_ms = 10000;
    w = with_messages(&config, 1);
    world_waits(w, 6000);
    chats(w, "alice", 2, 2);
    world_waits(w, 5000);
    world_skip(w);
    world_joins(w, "bob", "");
    world_expect(w, "alice < presence join bob\n"
                    "bob < welcome bob [] with alice; head m2; history 1\n"
                    "bob < history m2 complete\n"
                    "bob < presence join bob\n");
    world_waits(w, 6000);
    world_joins(w, "carol", "");
    world_expect(w, "alice < presence join carol\n"
                    "bob < presence join carol\n"
                    "carol < welcome carol [] with alice,bob; head null\n"
                    "carol < presence join carol\n");
}

/* Bob saw m1 and m2 as history; m3 and m4 were said while he was away. */
Test(history, a_resumed_connection_gets_exactly_what_it_missed)
{
    static const struct {
        const char *epoch, *after; /* NULL = as told; none */
        int ahead;                 /* of the serial that was told */
        const char *read;
    } rows[] = {
        {NULL, NULL, 0,
         "head m4; resumed\nbob < chat m3 from alice\nbob < chat m4 from alice\n"},
        {NULL, "m3", 0, "head m4; resumed\nbob < chat m4 from alice\n"},
        {NULL, "m4", 0, "head m4; resumed\n"},
        /* never a silent hole: anything else is no place */
        {NULL, "m1", 0, NULL}, /* retained, but not after the serial */
        {NULL, "gone", 0, NULL},
        {NULL, NULL, 1000, NULL},
        {"", NULL, 0, NULL},
        {"", "m3", 0, NULL}, /* an id alone */
        {"00000000000000000000000000000000", NULL, 0, NULL},
        {"0", "m3", 0, NULL},
    };
    struct hub_config config = hub_config_default();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *w = with_messages(&config, 2);
        struct reader_place place;
        char wanted[512];

        world_joins(w, "bob", "");
        world_skip(w);
        world_drops(w, "bob");
        chats(w, "alice", 3, 4);
        world_skip(w);
        place = world_place(w, "bob");
        cr_expect_str_eq(place.after, "");
        place.serial += (uint64_t)rows[i].ahead;
        if (rows[i].epoch)
            snprintf(place.epoch, sizeof place.epoch, "%s", rows[i].epoch);
        if (rows[i].after)
            snprintf(place.after, sizeof place.after, "%s", rows[i].after);
        world_arrives(w, "bob", &(struct arrival){.place = &place, .history = -1});
        snprintf(wanted, sizeof wanted,
                 "alice < presence join bob\nbob < welcome bob [] with alice; %s"
                 "bob < presence join bob\n",
                 rows[i].read ? rows[i].read
                              : "head m4; history 4\nbob < history m1 m2 m3 m4 complete\n");
        world_expect(w, wanted);
    }
}

/* Whoever breaks again while it is told what it missed goes on where that was. */
Test(history, a_resumed_connection_that_breaks_goes_on_where_it_was)
{
    struct hub_config config = hub_config_default();
    struct world *w = with_messages(&config, 2);
    struct reader_place place;

    world_joins(w, "bob", "");
    world_skip(w);
    world_drops(w, "bob");
    chats(w, "alice", 3, 4);
    place = world_place(w, "bob");
    world_arrives(w, "bob", &(struct arrival){.place = &place, .history = -1});
    world_reads_once(w, "bob"); /* the welcome */
    world_drops(w, "bob");
    world_skip(w);
    place = world_place(w, "bob");
    world_arrives(w, "bob", &(struct arrival){.place = &place, .history = -1});
    world_expect(w, "alice < presence join bob\n"
                    "bob < welcome bob [] with alice; head m4; resumed\n"
                    "bob < chat m3 from alice\n"
                    "bob < chat m4 from alice\n"
                    "bob < presence join bob\n");
}

Test(history, a_lone_client_that_comes_back_finds_its_topic_for_a_while)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.linger_ms = 10000;
    w = with_messages(&config, 1);
    world_drops(w, "alice");
    world_waits(w, 9000);
    world_joins(w, "alice", "chat");
    world_expect(w, "alice < welcome alice [chat]; head m1; history 1\n"
                    "alice < history m1 complete\n"
                    "alice < presence join alice\n");
    world_drops(w, "alice");
    world_waits(w, 11000);
    cr_expect_eq(hub_stats(world_hub(w))->topics, 0);
    cr_expect_eq(hub_stats(world_hub(w))->log_bytes, 0);
    world_joins(w, "alice", "chat");
    world_expect(w, "alice < welcome alice [chat]; head null\n"
                    "alice < presence join alice\n");
}

Test(history, the_api_shows_newest_first_between_two_ids)
{
    static const struct {
        size_t limit;
        const char *before, *after, *read;
    } rows[] = {
        {9, NULL, NULL, "m5 m4 m3 m2 m1"},
        {2, NULL, NULL, "m5 m4"},
        {9, "m3", NULL, "m2 m1"},
        {1, "m3", NULL, "m2"},
        {9, "m1", NULL, ""},
        {9, NULL, "m3", "m5 m4"},
        {9, "m5", "m2", "m4 m3"},
        {9, "m2", "m5", ""},
        {0, NULL, NULL, ""},
    };
    struct hub_config config = hub_config_default();
    struct world *w = with_messages(&config, 5);
    const struct topic *topic = hub_topic_find(world_hub(w), MCPX_SLICE("room"));
    mx_scoped_text out = {0};
    struct page_end end;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct page page = {rows[i].limit, mcpx_slice_of(rows[i].before),
                            mcpx_slice_of(rows[i].after)};
        char ids[64] = "";

        mcpx_text_reset(&out);
        cr_expect_eq(topic_write_history(topic, &page, 1 << 20, &out, &end), MCPX_OK);
        for (char *at = out.text; (at = strstr(at, "\"id\":\""));) {
            at += 6;
            snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%s%.2s", *ids ? " " : "",
                     at);
        }
        cr_expect_str_eq(ids, rows[i].read);
    }
    mcpx_text_reset(&out);
    cr_expect_eq(topic_write_history(topic,
                                     &(struct page){9, MCPX_SLICE("unknown"), {NULL, 0}},
                                     1 << 20, &out, &end),
                 MCPX_ENOTFOUND);
    cr_expect_eq(out.len, 0);
}

/* What no page has room for costs nobody anything: copying it would be paid by all others. */
Test(history, a_page_does_not_touch_an_envelope_that_does_not_fit)
{
    enum { LARGE = 8000000, PAGE = 128 * 1024 };
    struct hub_config config = hub_config_default();
    struct page page = {.limit = 1000};
    mx_scoped_text out = {0};
    const struct topic *topic;
    struct page_end end;
    struct world *w;

    config.message_bytes = 0;
    w = with_messages(&config, 0);
    world_says_long(w, "alice", 1, LARGE);
    world_says_long(w, "alice", 2, 100000);
    topic = hub_topic_find(world_hub(w), MCPX_SLICE("room"));
    cr_assert_eq(topic_write_history(topic, &page, PAGE, &out, &end), MCPX_OK);
    cr_expect_eq(end.count, 1);
    cr_expect(end.more);
    cr_expect_leq(out.size, 2 * PAGE, "%zu bytes were touched", out.size);
    mcpx_text_reset(&out);
    page.before = end.last;
    cr_assert_eq(topic_write_history(topic, &page, PAGE, &out, &end), MCPX_OK);
    cr_expect_eq(end.count, 1, "the first one comes whatever its size");
    cr_expect_gt(out.len, LARGE);
    cr_expect_not(end.more);
}
