/*
 * What breaks for whom: one participant fills the router's memory, or has all its topics and
 * connections, and everybody else is refused; or histories of others go instead of its own.
 * Protocol: section 5 (bounds), section 7; docs/configuration.md.
 */
#include "lib/base/scoped.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include "router/hub/topic/hub_state.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(shares, .fini = world_end);

enum { MESSAGE = 1000, MIB = 1048576 };

static void joins(struct world *w, const char *name, const char *topic)
{
    struct arrival arrival = {.grants = "chat", .topic = topic, .history = -1};

    cr_assert_eq(world_arrives(w, name, &arrival), MCPX_OK, "%s", name);
}

/* Says so many messages of `size` bytes; returns the first refusal. */
static enum mcpx_err talk(struct world *w, const char *name, int count, size_t size)
{
    static int said;
    char *text = malloc(size + 100);
    enum mcpx_err err = MCPX_OK;

    for (int i = 0; i < count && !err; i++) {
        int head =
            sprintf(text, "{\"id\":\"s%d\",\"kind\":\"chat\",\"payload\":{\"x\":\"", said++);

        memset(text + head, 'x', size);
        memcpy(text + head + size, "\"}}", 4);
        err = world_says(w, name, text);
        if (said % 16 == 0)
            world_skip(w);
    }
    free(text);
    return err;
}

static struct hub_config bounded(size_t log_bytes)
{
    struct hub_config config = hub_config_default();

    config.log_bytes = log_bytes;
    config.history_count = config.messages_per_minute = config.bytes_per_minute = 0;
    config.history_bytes = config.backlog_bytes = 64 * MIB;
    return config;
}

static size_t held(struct world *w, const char *topic)
{
    return topic_memory(hub_topic_find(world_hub(w), mcpx_slice_of(topic)));
}

static size_t retained(struct world *w, const char *topic)
{
    const struct topic *at = hub_topic_find(world_hub(w), mcpx_slice_of(topic));

    return (size_t)(at->log.head - at->log.history);
}

Test(shares, the_largest_give_and_the_small_keep_everything)
{
    struct hub_config config = bounded(8 * MIB);
    struct world *w = world_with(&config);

    joins(w, "small", "small");
    cr_expect_eq(talk(w, "small", 500, MESSAGE), MCPX_OK);
    joins(w, "big", "big");
    joins(w, "huge", "huge");
    for (int i = 0; i < 30; i++) {
        cr_expect_eq(talk(w, "big", 200, MESSAGE), MCPX_OK);
        cr_expect_eq(talk(w, "huge", 1000, MESSAGE), MCPX_OK);
        cr_expect_leq(hub_stats(world_hub(w))->log_bytes, config.log_bytes);
    }
    cr_expect_geq(retained(w, "small"), 500);
    cr_expect_geq(held(w, "big") * 3, held(w, "huge") * 2, "%zu, %zu", held(w, "big"),
                  held(w, "huge"));
    cr_expect_geq(held(w, "big") + held(w, "huge"), 6 * MIB, "%zu, %zu", held(w, "big"),
                  held(w, "huge"));
}

/* Joins a topic as an instance of "crowd", whom the world knows as "crowd~NUMBER" then. */
static void crowds(struct world *w, unsigned number, const char *topic)
{
    struct arrival arrival = {
        .grants = "chat", .topic = topic, .history = -1, .instance = number, .instances = 64};

    cr_assert_eq(world_arrives(w, "crowd", &arrival), MCPX_OK, "%u", number);
}

Test(shares, only_then_its_readers_that_lag_are_taken_off)
{
    struct hub_config config = bounded(8 * MIB);
    struct world *w = world_with(&config);

    crowds(w, 2, "held");
    crowds(w, 3, "other");
    joins(w, "stops", "held");
    joins(w, "small", "small");
    world_skip(w);
    world_stalls(w, "stops");
    cr_expect_eq(talk(w, "small", 1000, MESSAGE), MCPX_OK);
    cr_expect_eq(talk(w, "crowd~3", 4000, MESSAGE), MCPX_OK);
    cr_expect_eq(talk(w, "crowd~2", 4000, MESSAGE), MCPX_OK);
    cr_expect_eq(hub_stats(world_hub(w))->slow, 0, "history went first");
    cr_expect_lt(retained(w, "other"), 4000);
    cr_expect_eq(talk(w, "crowd~2", 10000, MESSAGE), MCPX_OK);
    cr_expect_eq(hub_stats(world_hub(w))->slow, 1);
    cr_expect_geq(retained(w, "small"), 1000, "untouched");
    cr_expect_leq(hub_stats(world_hub(w))->log_bytes, config.log_bytes);
    world_reads_on(w, "stops");
    world_skip(w);
}

/*
 * One participant with ever more topics, and a reader in each that stops or none at all, takes
 * nothing of what others have, be somebody in their topics or nobody.
 */
Test(shares, who_has_most_gives_first)
{
    enum { TOPICS = 24 };
    struct hub_config config = bounded(8 * MIB);
    struct world *w = world_with(&config);
    char topic[16], talker[16], reader[16];

    joins(w, "stays", "peopled");
    joins(w, "leaves", "empty");
    cr_expect_eq(talk(w, "stays", 1000, MESSAGE), MCPX_OK);
    cr_expect_eq(talk(w, "leaves", 1000, MESSAGE), MCPX_OK);
    world_drops(w, "leaves");
    for (int i = 0; i < TOPICS; i++) {
        snprintf(topic, sizeof topic, "t%d", i);
        snprintf(talker, sizeof talker, "crowd~%d", i + 2);
        snprintf(reader, sizeof reader, "reader-%d", i);
        crowds(w, (unsigned)i + 2, topic);
        joins(w, reader, topic);
        world_skip(w);
        if (i % 3 == 1)
            world_stalls(w, reader);
        cr_expect_eq(talk(w, talker, 1500, MESSAGE), MCPX_OK, "%d", i);
        if (i % 3 == 2)
            world_drops(w, talker);
        world_skip(w);
        cr_expect_leq(hub_stats(world_hub(w))->log_bytes, config.log_bytes);
    }
    cr_expect_geq(retained(w, "peopled"), 1000);
    cr_expect_geq(retained(w, "empty"), 1000);
    cr_expect_geq(hub_stats(world_hub(w))->log_bytes, config.log_bytes / 2);
}

/* Nobody stalls, and nobody has had a turn yet: nothing can be given back. */
Test(shares, only_then_messages_are_refused_and_not_for_long)
{
    struct hub_config config = bounded(MIB);
    struct world *w = world_with(&config);
    static char text[400000];
    enum mcpx_err err = MCPX_OK;
    int passed = 0;

    joins(w, "talks", "room");
    joins(w, "reads", "room");
    world_skip(w);
    memset(text, 'x', sizeof text - 4);
    while (!err && passed < 10) {
        int head =
            sprintf(text, "{\"id\":\"b%d\",\"kind\":\"chat\",\"payload\":{\"x\":\"", passed);

        text[head] = 'x';
        memcpy(text + sizeof text - 4, "\"}}", 4);
        err = world_says(w, "talks", text);
        passed += !err;
    }
    cr_expect_eq(err, MCPX_ESPACE, "%s", mcpx_strerror(err));
    cr_expect_eq(passed, 2, "%d", passed);
    cr_expect(hub_is_pressed(world_hub(w)), "the edge writes before it reads on");
    world_skip(w);
    cr_expect_eq(world_says(w, "talks", text), MCPX_OK, "they have been read");
    world_skip(w);
    cr_expect_leq(hub_stats(world_hub(w))->log_bytes, config.log_bytes);
}

/* Who comes back is never told that nothing is missing. */
Test(shares, what_was_given_back_is_no_longer_retained)
{
    struct hub_config config = bounded(2 * MIB);
    struct world *w = world_with(&config);
    struct arrival arrival = {.grants = "chat", .topic = "room", .history = -1};
    struct reader_place place;
    mx_scoped_text read = {0};

    joins(w, "ann", "room");
    cr_expect_eq(world_says(w, "ann", "{\"id\":\"here\",\"kind\":\"chat\"}"), MCPX_OK);
    world_skip(w);
    place = world_place(w, "ann");
    arrival.place = &place;
    world_drops(w, "ann");
    joins(w, "loud", "room");
    cr_expect_eq(talk(w, "loud", 2500, MESSAGE), MCPX_OK);
    cr_expect_lt(retained(w, "room"), 2500);
    world_skip(w);
    cr_expect_eq(world_arrives(w, "ann", &arrival), MCPX_OK);
    world_read(w, &read);
    cr_expect_null(strstr(read.text, "; resumed"), "%s", read.text);
    cr_expect_eq(world_says(w, "ann", "{\"id\":\"new\",\"kind\":\"chat\"}"), MCPX_OK);
    world_skip(w);
}

Test(shares, one_participant_makes_no_more_than_its_topics)
{
    struct hub_config config = hub_config_default();
    struct arrival arrival = {.grants = "chat", .history = -1};
    struct world *w;

    config.topics_each = 3;
    config.linger_ms = 10000;
    w = world_with(&config);
    for (int i = 0; i < 5; i++) {
        char topic[16];

        snprintf(topic, sizeof topic, "t%d", i);
        arrival.topic = topic;
        cr_expect_eq(world_arrives(w, "ann", &arrival), i < 3 ? MCPX_OK : MCPX_ESHARE, "%d",
                     i);
        world_skip(w);
        if (i < 3)
            world_drops(w, "ann");
    }
    arrival.topic = "t9";
    cr_expect_eq(world_arrives(w, "bob", &arrival), MCPX_OK, "others make theirs");
    cr_expect_eq(world_arrives(w, "ann", &arrival), MCPX_OK, "and let it in");
    world_drops(w, "ann");
    world_waits(w, 11000); /* the topics are gone */
    arrival.topic = "t4";
    cr_expect_eq(world_arrives(w, "ann", &arrival), MCPX_OK);
    world_skip(w);
}

Test(shares, one_participant_has_no_more_than_its_connections)
{
    struct hub_config config = hub_config_default();
    struct arrival arrival = {.grants = "chat", .history = -1, .instance = INSTANCE_AUTO};
    struct world *w;

    config.connections_each = 3;
    w = world_with(&config);
    cr_expect_eq(world_arrives(w, "ann", &arrival), MCPX_OK);
    cr_expect_eq(world_arrives(w, "ann", &arrival), MCPX_OK);
    arrival.topic = "another";
    arrival.instance = 5; /* the world knows everybody by one name */
    cr_expect_eq(world_arrives(w, "ann", &arrival), MCPX_OK, "topics count together");
    arrival.topic = "third";
    arrival.instance = 6;
    cr_expect_eq(world_arrives(w, "ann", &arrival), MCPX_ESHARE);
    arrival.instance = 0;
    cr_expect_eq(world_arrives(w, "bob", &arrival), MCPX_OK, "others have theirs");
    world_skip(w);
    world_drops(w, "ann~2");
    arrival.instance = 6;
    cr_expect_eq(world_arrives(w, "ann", &arrival), MCPX_OK, "who leaves makes room");
    world_skip(w);
}
