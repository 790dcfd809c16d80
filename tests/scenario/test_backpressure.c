/*
 * What breaks for whom: one reader that stops and takes the others' time, messages or memory with
 * it; a reader that loses messages and is not told. Protocol: section 5 (bounds), section 6
 * (slow_consumer, 4003).
 */
#include "lib/base/scoped.h"
#include "router/hub/topic/hub_state.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(backpressure, .fini = world_end);

enum { MESSAGE = 1000 };

/* Says `count` messages of about MESSAGE bytes, each with an id of its own. */
static void talk(struct world *w, const char *name, int count)
{
    static int said;
    char text[MESSAGE + 200];

    for (int i = 0; i < count; i++) {
        int head = snprintf(text, sizeof text,
                            "{\"id\":\"t%d\",\"kind\":\"chat\",\"payload\":{\"x\":\"", said++);

        memset(text + head, 'x', MESSAGE);
        memcpy(text + head + MESSAGE, "\"}}", 4);
        cr_assert_eq(world_says(w, name, text), MCPX_OK);
    }
}

static struct hub_config small(void)
{
    struct hub_config config = hub_config_default();

    config.history_bytes = 65536;
    config.backlog_bytes = 262144;
    config.messages_per_minute = 0;
    return config;
}

/* Lines of a transcript that belong to one participant. */
static int lines_of(const struct mcpx_text *transcript, const char *begin)
{
    int count = 0;

    for (const char *at = transcript->text; (at = strstr(at, begin)); at++)
        count += at == transcript->text || at[-1] == '\n';
    return count;
}

Test(backpressure, who_stops_reading_loses_the_connection_and_nobody_else_loses_anything)
{
    struct hub_config config = small();
    struct world *w = world_with(&config);
    mx_scoped_text read = {0};
    uint64_t most = 0;

    world_joins(w, "alice", "chat");
    world_joins(w, "bob", "chat");
    world_joins(w, "slow", "chat");
    world_skip(w);
    world_stalls(w, "slow");
    for (int i = 0; i < 2000; i++) {
        talk(w, "alice", 1);
        world_read(w, &read);
        if (hub_stats(world_hub(w))->log_bytes > most)
            most = hub_stats(world_hub(w))->log_bytes;
    }
    cr_expect_eq(lines_of(&read, "bob < chat"), 2000);
    cr_expect_eq(lines_of(&read, "alice < chat"), 2000);
    cr_expect_eq(lines_of(&read, "bob < presence leave slow (slow_consumer)"), 1);
    cr_expect_lt(most, config.backlog_bytes + 2 * 262144, "the log grew to %llu bytes",
                 (unsigned long long)most);
    cr_expect_eq(hub_stats(world_hub(w))->slow, 1);
    mcpx_text_reset(&read);
    world_reads_on(w, "slow");
    world_read(w, &read);
    cr_expect_not_null(strstr(read.text, "slow < error slow_consumer missed="), "%s",
                       read.text);
    cr_expect_not_null(strstr(read.text, "slow < close 4003\n"), "%s", read.text);
    cr_expect_eq(lines_of(&read, "slow < chat"), 0, "nothing from behind the hole");
}

Test(backpressure, who_only_pauses_gets_everything_in_order)
{
    struct hub_config config = small();
    struct world *w = world_with(&config);
    mx_scoped_text read = {0};

    world_joins(w, "alice", "chat");
    world_joins(w, "slow", "chat");
    world_skip(w);
    world_stalls(w, "slow");
    talk(w, "alice", 200); /* 200 KB: less than the backlog, more than the history */
    world_reads_on(w, "slow");
    world_read(w, &read);
    cr_expect_eq(lines_of(&read, "slow < chat"), 200);
    cr_expect_eq(hub_stats(world_hub(w))->slow, 0);
}

Test(backpressure, memory_is_given_back_once_everybody_has_read)
{
    struct hub_config config = small();
    struct world *w = world_with(&config);

    config.history_bytes = 65536;
    world_joins(w, "alice", "chat");
    world_joins(w, "slow", "chat");
    world_skip(w);
    world_stalls(w, "slow");
    talk(w, "alice", 200);
    cr_expect_gt(hub_stats(world_hub(w))->log_bytes, 200000u);
    world_reads_on(w, "slow");
    world_skip(w);
    talk(w, "alice", 300);
    world_skip(w);
    talk(w, "alice", 300);
    world_skip(w);
    talk(w, "alice", 1);
    cr_expect_leq(hub_stats(world_hub(w))->log_bytes, 65536u + 2 * 262144 + 4096,
                  "%llu bytes held", (unsigned long long)hub_stats(world_hub(w))->log_bytes);
}

/* Leaving is told to the others, which may push the next one off: all fall, none hangs. */
Test(backpressure, many_readers_may_fall_at_once)
{
    struct hub_config config = small();
    struct world *w = world_with(&config);
    char name[16];

    world_joins(w, "alice", "chat");
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "slow%d", i);
        world_joins(w, name, "");
        world_skip(w);
        world_stalls(w, name);
    }
    talk(w, "alice", 1000);
    world_skip(w);
    cr_expect_eq(hub_stats(world_hub(w))->slow, 40);
    cr_expect_eq(hub_topic_find(world_hub(w), MCPX_SLICE("room"))->peer_count, 1);
}

Test(backpressure, the_edge_is_asked_to_write_before_waiting_readers_fall)
{
    struct hub_config config = small();
    struct world *w = world_with(&config);

    world_joins(w, "alice", "chat");
    world_joins(w, "bob", "");
    world_skip(w);
    for (int i = 0; i < 3000; i++) {
        talk(w, "alice", 1);
        if (hub_is_pressed(world_hub(w)))
            world_skip(w);
    }
    cr_expect_eq(hub_stats(world_hub(w))->slow, 0);
}

Test(backpressure, a_message_larger_than_everything_still_reaches_who_reads)
{
    struct hub_config config = small();
    struct world *w = world_with(&config);
    size_t size = 600000;
    char *text = malloc(size + 200);
    int head = snprintf(text, 200, "{\"id\":\"big\",\"kind\":\"chat\",\"payload\":{\"x\":\"");

    memset(text + head, 'x', size);
    memcpy(text + head + size, "\"}}", 4);
    world_joins(w, "alice", "chat");
    world_joins(w, "bob", "");
    world_skip(w);
    cr_expect_eq(world_says(w, "alice", text), MCPX_OK);
    world_expect(w, "alice < chat big from alice\n"
                    "bob < chat big from alice\n");
    world_joins(w, "carol", ""); /* it is more than the history may hold */
    world_expect(w, "alice < presence join carol\n"
                    "bob < presence join carol\n"
                    "carol < welcome carol [] with alice,bob; head null\n"
                    "carol < presence join carol\n");
    free(text);
}

/* The most a log holds while somebody says `count` messages to `to` addressees each. */
static uint64_t most_held(const struct hub_config *config, int count, size_t size, int to)
{
    struct world *w = world_with(config);
    char *text = malloc(size + 100000);
    uint64_t most = 0;

    world_joins(w, "alice", "chat");
    for (int i = 0; i < count; i++) {
        int len = sprintf(text, "{\"id\":\"00000000-0000-0000-0000-%012d\",\"to\":[", i);

        for (int j = 0; j < to; j++)
            len += sprintf(text + len, "%s\"%0200d\"", j ? "," : "", j);
        len += sprintf(text + len, "],\"kind\":\"chat\",\"payload\":{\"x\":\"");
        memset(text + len, 'x', size);
        memcpy(text + len + size, "\"}}", 4);
        cr_assert_eq(world_says(w, "alice", text), MCPX_OK);
        if (i % 10 == 0)
            world_skip(w);
        if (hub_stats(world_hub(w))->log_bytes > most)
            most = hub_stats(world_hub(w))->log_bytes;
    }
    free(text);
    return most;
}

/* Notes on tiny messages, notes on many addressees, and messages that leave room unused. */
Test(backpressure, a_log_keeps_its_bound_whatever_its_messages_look_like)
{
    static const struct {
        int count;
        size_t size;
        int to;
    } rows[] = {
        {20000, 1, 0}, {150, 1, 256}, {60, 140000, 0}, {60, 70000, 0}, {40, 300000, 0}};
    struct hub_config config = hub_config_default();

    config.history_count = config.messages_per_minute = config.bytes_per_minute = 0;
    config.history_bytes = 2097152;
    config.backlog_bytes = 1048576;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t most = most_held(&config, rows[i].count, rows[i].size, rows[i].to);
        size_t segment = rows[i].size > 262144 ? rows[i].size + 1024 : 262144;

        cr_expect_leq(most,
                      config.history_bytes + config.history_bytes / 4 + 2 * segment +
                          150 * (size_t)rows[i].count,
                      "%d messages of %zu bytes to %d: %llu held", rows[i].count, rows[i].size,
                      rows[i].to, (unsigned long long)most);
    }
}

/* Welcomes name everybody in the topic: for joiners that never read none may be kept. */
Test(backpressure, who_does_not_read_fills_no_memory_and_keeps_nobody_out)
{
    struct hub_config config = hub_config_default();
    struct world *w = world_with(&config);
    struct arrival wordy = {.grants = "chat", .history = -1};
    char grants[16][MCPX_KIND_MAX], all[40000] = "", name[16];

    for (int i = 0; i < 15; i++) {
        memset(grants[i], 'a' + i, sizeof grants[i]);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%.*s ", MCPX_KIND_MAX,
                 grants[i]);
    }
    wordy.grants = all; /* 30 KB in everybody's welcome */
    for (int joined = 0; joined < 62; joined++) {
        snprintf(name, sizeof name, "w%d", joined);
        cr_assert_eq(world_arrives(w, name, &wordy), MCPX_OK);
        world_stalls(w, name);
    }
    cr_expect_lt(hub_stats(world_hub(w))->outbox_bytes, 62u * 70000,
                 "each keeps its own join: %d bytes",
                 (int)hub_stats(world_hub(w))->outbox_bytes);
    for (int i = 0; i < 62; i++) {
        snprintf(name, sizeof name, "w%d", i);
        world_reads_on(w, name);
    }
    world_skip(w);
    cr_expect_eq(hub_stats(world_hub(w))->outbox_bytes, 0);
}

/* Presence is read as envelopes are: who stops reading it has to go. */
Test(backpressure, who_does_not_read_presence_falls_off_as_well)
{
    struct hub_config config = small();
    struct world *w = world_with(&config);
    mx_scoped_text read = {0};

    world_joins(w, "alice", "");
    world_joins(w, "slow", "");
    world_skip(w);
    world_stalls(w, "slow");
    for (int i = 0; i < 20; i++) { /* 32 KB of presence: less than a quarter of the backlog */
        world_regrants(w, "alice", i % 2 ? "chat" : "mcp/*");
        world_read(w, &read);
    }
    cr_expect_eq(hub_stats(world_hub(w))->slow, 0);
    for (int i = 0; i < 1000; i++) {
        world_regrants(w, "alice", i % 2 ? "chat" : "mcp/*");
        world_read(w, &read);
    }
    cr_expect_eq(hub_stats(world_hub(w))->slow, 1);
    cr_expect_eq(lines_of(&read, "alice < presence update alice"), 1020);
    cr_expect_eq(lines_of(&read, "alice < presence leave slow (slow_consumer)"), 1);
}
