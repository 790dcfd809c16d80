/*
 * What breaks for whom: somebody comes in while memory is short, and is thrown out for reading
 * slowly before a byte was written to it; or its welcome promises history that is gone, or that it
 * missed nothing. Protocol: section 5 (history, resume, bounds).
 */
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(welcome, .fini = world_end);

enum { MESSAGE = 1000, MIB = 1048576 };

/* The memory of all logs is `log_bytes`; that of one log is bounded by nothing else. */
static struct hub_config bounded(size_t log_bytes)
{
    struct hub_config config = hub_config_default();

    config.log_bytes = log_bytes;
    config.replay = SIZE_MAX;
    config.history_count = config.messages_per_minute = config.bytes_per_minute = 0;
    config.history_bytes = config.backlog_bytes = 64 * MIB;
    return config;
}

/* Says messages with the ids `NAME1`, `NAME2` ... and returns how many were accepted. */
static int talk(struct world *w, const char *name, int from, int to)
{
    char text[MESSAGE + 100];
    int accepted = 0;

    for (int i = from; i <= to; i++) {
        snprintf(text, sizeof text,
                 "{\"id\":\"%s%d\",\"kind\":\"chat\",\"payload\":{\"x\":\"%0*d\"}}", name, i,
                 MESSAGE, 0);
        accepted += world_says(w, name, text) == MCPX_OK;
        if (i % 16 == 0)
            world_skip(w);
    }
    world_skip(w);
    return accepted;
}

static void joins(struct world *w, const char *name, const char *topic,
                  const struct reader_place *place)
{
    struct arrival arrival = {.grants = "chat", .topic = topic, .history = -1, .place = place};

    cr_assert_eq(world_arrives(w, name, &arrival), MCPX_OK, "%s", name);
}

/* What bob read of what ann said. */
struct reading {
    int promised; /* of history */
    bool resumed;
    int history, live; /* envelopes */
    int first, last;   /* numbers of the first and the last one */
};

/* Reads the numbers of ann's messages in a line, each the one after that before it. */
static int read_numbers(const char *line, struct reading *reading)
{
    int count = 0;
    const char *end = strchr(line, '\n');

    for (const char *at = line; (at = strstr(at, " ann")) && at < end; at += 4) {
        int number = atoi(at + 4);

        if (number == 0) /* "from ann" */
            continue;
        cr_expect(reading->last == 0 || number == reading->last + 1, "%d behind %d", number,
                  reading->last);
        reading->first = reading->first ? reading->first : number;
        reading->last = number;
        count++;
    }
    return count;
}

/* Bob's welcome is no longer held back: he reads all there is, in order and without a gap. */
static struct reading reads_on(struct world *w)
{
    struct mcpx_text read = {0};
    struct reading reading = {0};
    const char *history;

    world_reads_on(w, "bob");
    world_read(w, &read);
    for (const char *line = read.text; line && *line; line = strchr(line, '\n') + 1) {
        if (strncmp(line, "bob < welcome", 13) == 0) {
            history = strstr(line, "; history ");
            reading.promised =
                history && history < strchr(line, '\n') ? atoi(history + 10) : 0;
            reading.resumed = strstr(line, "; resumed") != NULL &&
                              strstr(line, "; resumed") < strchr(line, '\n');
        } else if (strncmp(line, "bob < history", 13) == 0) {
            reading.history += read_numbers(line, &reading);
        } else if (strncmp(line, "bob < chat", 10) == 0) {
            reading.live += read_numbers(line, &reading);
        }
    }
    mcpx_text_fini(&read);
    return reading;
}

/* The history that a joiner is going to get is the first thing that goes. */
Test(welcome, says_what_is_left_of_history_when_it_is_written)
{
    static const struct {
        const char *what;
        void (*waits)(struct world *, const char *);
    } rows[] = {{"held back", world_holds_back}, {"its socket is full", world_stalls}};
    struct hub_config config = bounded(2 * MIB);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *w = world_with(&config);
        struct reading bob;

        joins(w, "ann", "room", NULL);
        cr_expect_eq(talk(w, "ann", 1, 1200), 1200);
        joins(w, "bob", "room", NULL);
        rows[i].waits(w, "bob");
        cr_expect_eq(talk(w, "ann", 1201, 2400), 1200);
        cr_expect_eq(hub_stats(world_hub(w))->slow, 0, "%s", rows[i].what);
        bob = reads_on(w);
        cr_expect(0 < bob.history && bob.history < 1200, "%d", bob.history);
        cr_expect_eq(bob.promised, bob.history, "%d, %d", bob.promised, bob.history);
        cr_expect_eq(bob.live, 1200, "%d", bob.live);
        cr_expect_eq(bob.last, 2400, "%d", bob.last);
    }
}

/* Who resumes is told when it does not: what it gets then is history, not to be acted on. */
Test(welcome, says_resumed_only_when_nothing_of_what_was_missed_is_gone)
{
    static const struct {
        int later; /* said while the welcome waits */
        bool resumed;
    } rows[] = {{100, true}, {1200, false}};
    struct hub_config config = bounded(2 * MIB);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *w = world_with(&config);
        struct reader_place place;
        struct reading bob;

        joins(w, "ann", "room", NULL);
        joins(w, "bob", "room", NULL);
        cr_expect_eq(talk(w, "ann", 1, 10), 10);
        place = world_place(w, "bob");
        world_drops(w, "bob");
        cr_expect_eq(talk(w, "ann", 11, 1200), 1190);
        joins(w, "bob", "room", &place);
        world_holds_back(w, "bob");
        cr_expect_eq(talk(w, "ann", 1201, 1200 + rows[i].later), rows[i].later);
        cr_expect_eq(hub_stats(world_hub(w))->slow, 0);
        bob = reads_on(w);
        cr_expect_eq(bob.resumed, rows[i].resumed, "after %d", rows[i].later);
        cr_expect_eq(bob.promised, bob.history, "%d, %d", bob.promised, bob.history);
        cr_expect_eq(bob.live, rows[i].later + (bob.resumed ? 1190 : 0), "%d", bob.live);
        cr_expect(bob.resumed ? bob.first == 11 : bob.history > 0, "%d", bob.first);
        cr_expect_eq(bob.last, 1200 + rows[i].later, "%d", bob.last);
        cr_expect_eq(hub_stats(world_hub(w))->resumed, rows[i].resumed);
    }
}

/* What is said after it came is for it, and may be a question to it: it cannot do without that. */
Test(welcome, that_is_held_back_costs_nobody_its_live_traffic)
{
    struct hub_config config = bounded(2 * MIB);
    struct world *w = world_with(&config);
    struct reading bob;
    int accepted;

    joins(w, "ann", "room", NULL);
    joins(w, "bob", "room", NULL);
    world_holds_back(w, "bob");
    accepted = talk(w, "ann", 1, 2100);
    cr_expect(1500 < accepted && accepted < 2100, "then messages are refused: %d", accepted);
    cr_expect_eq(hub_stats(world_hub(w))->slow, 0);
    bob = reads_on(w);
    cr_expect_eq(bob.live, accepted, "%d of %d", bob.live, accepted);
    cr_expect_eq(talk(w, "ann", 4001, 4100), 100, "and are so no longer");
}

/* A full socket may stay full: who is behind with live traffic is slow, welcomed or not. */
Test(welcome, that_no_socket_takes_holds_up_nobody_for_long)
{
    struct hub_config config = bounded(2 * MIB);
    struct world *w = world_with(&config);

    joins(w, "ann", "room", NULL);
    joins(w, "bob", "room", NULL);
    world_stalls(w, "bob");
    cr_expect_eq(talk(w, "ann", 1, 4000), 4000);
    cr_expect_eq(hub_stats(world_hub(w))->slow, 1);
    world_reads_on(w, "bob");
    world_skip(w);
}

/* One piece of memory with one message in it has to go whole. */
Test(welcome, of_whom_all_history_was_taken_promises_none)
{
    struct hub_config config = bounded(MIB);
    struct world *w = world_with(&config);

    joins(w, "ann", "room", NULL);
    world_says_long(w, "ann", 1, 500000);
    world_skip(w);
    joins(w, "bob", "room", NULL);
    world_holds_back(w, "bob");
    world_says_long(w, "ann", 2, 600000);
    world_reads_on(w, "bob");
    world_expect(w, "ann < presence join bob\n"
                    "ann < chat long-2 from ann\n"
                    "bob < welcome bob [chat] with ann; head null\n"
                    "bob < presence join bob\n"
                    "bob < chat long-2 from ann\n");
}

/* The bound of one topic: history goes that has left the window
   and is kept for the joiner alone. */
Test(welcome, waits_while_one_topic_has_more_said_than_its_backlog_holds)
{
    struct hub_config config = hub_config_default();
    struct world *w;
    struct reading bob;

    config.replay = 1000;
    config.messages_per_minute = 0;
    config.history_bytes = 65536;
    config.backlog_bytes = 262144;
    w = world_with(&config);
    joins(w, "ann", "room", NULL);
    cr_expect_eq(talk(w, "ann", 1, 60), 60);
    joins(w, "bob", "room", NULL);
    world_holds_back(w, "bob");
    cr_expect_eq(talk(w, "ann", 61, 460), 400);
    cr_expect_eq(hub_stats(world_hub(w))->slow, 0);
    bob = reads_on(w);
    cr_expect_lt(bob.history, 50, "%d", bob.history);
    cr_expect_eq(bob.promised, bob.history, "%d, %d", bob.promised, bob.history);
    cr_expect_eq(bob.live, 400, "%d", bob.live);
}
