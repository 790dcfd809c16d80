/*
 * What breaks for whom: late joiners that find no history, because somebody without any right to
 * speak has come and gone often enough; readers that are told of others out of order, late, or in a
 * thousand writes; a router that is busy or out of memory whenever many come or change at once.
 * Protocol: section 5.
 */
#include "tests/support/fault_alloc.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(presence, .fini = world_end);

Test(presence, who_may_say_nothing_pushes_nothing_out_of_history)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.history_bytes = 4096;
    config.history_count = 3;
    w = world_with(&config);
    world_joins(w, "alice", "chat");
    for (int i = 1; i <= 3; i++) {
        char text[64];

        snprintf(text, sizeof text, "{\"id\":\"m%d\",\"kind\":\"chat\"}", i);
        cr_assert_eq(world_says(w, "alice", text), MCPX_OK);
    }
    for (int i = 0; i < 30; i++) { /* 12 KB of presence */
        world_joins(w, "mallory", "");
        world_skip(w);
        world_drops(w, "mallory");
        world_waits(w, 1000);
    }
    world_skip(w);
    world_joins(w, "bob", "");
    world_expect(w, "alice < presence join bob\n"
                    "bob < welcome bob [] with alice; head m3; history 3\n"
                    "bob < history m1 m2 m3 complete\n"
                    "bob < presence join bob\n");
}

Test(presence, stands_where_it_happened_between_the_messages)
{
    struct world *w = world_new();

    world_joins(w, "alice", "chat");
    world_arrives(w, "bob", &(struct arrival){.grants = "", .routing = ROUTING_DIRECTED});
    world_skip(w);
    world_says(w, "alice", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    world_joins(w, "carol", "chat");
    world_says(w, "carol", "{\"id\":\"m2\",\"kind\":\"chat\",\"to\":[\"alice\"]}");
    world_joins(w, "dave", "");
    world_says(w, "carol", "{\"id\":\"m3\",\"kind\":\"chat\"}");
    world_drops(w, "carol");
    world_says(w, "alice", "{\"id\":\"m4\",\"kind\":\"chat\"}");
    world_expect(w, "alice < chat m1 from alice\n"
                    "alice < presence join carol\n"
                    "alice < chat m2 from carol\n"
                    "alice < presence join dave\n"
                    "alice < chat m3 from carol\n"
                    "alice < presence leave carol\n"
                    "alice < chat m4 from alice\n"
                    "bob < chat m1 from alice\n"
                    "bob < presence join carol\n"
                    "bob < presence join dave\n"
                    "bob < chat m3 from carol\n"
                    "bob < presence leave carol\n"
                    "bob < chat m4 from alice\n"
                    "dave < welcome dave [] with alice,bob; head m2; history 2\n"
                    "dave < history m1 m2 complete\n"
                    "dave < presence join dave\n"
                    "dave < chat m3 from carol\n"
                    "dave < chat m4 from alice\n");
}

/* ---- together ---- */

/* Reads what is ready now; returns the number of writes that takes. */
static size_t writes(struct hub *hub)
{
    uint64_t before = hub_stats(hub)->runs;
    struct output output;
    struct peer *peer;

    while ((peer = hub_next_ready(hub)))
        while (peer_peek(peer, &output))
            peer_pop(peer);
    return (size_t)(hub_stats(hub)->runs - before);
}

static void crowd(struct world *w, int from, int to)
{
    char name[16];

    for (int i = from; i < to; i++) {
        snprintf(name, sizeof name, "c%d", i);
        world_joins(w, name, "");
    }
}

Test(presence, of_a_crowd_is_told_in_one_write_after_50_ms)
{
    struct world *w = world_new();
    struct hub *hub = world_hub(w);
    struct mcpx_now now = world_now(w);

    world_joins(w, "alice", "");
    world_skip(w);
    now = world_now(w);
    crowd(w, 0, 20);
    cr_expect_eq(writes(hub), 20, "each joiner has its welcome and its join at once, in one");
    cr_expect_eq(hub_due(hub), now.mono_ms + 50);
    now.mono_ms += 49;
    hub_tick(hub, now);
    cr_expect_eq(writes(hub), 0);
    now.mono_ms += 1;
    hub_tick(hub, now);
    cr_expect_eq(writes(hub), 1,
                 "all twenty to alice; the others found them in their welcome");
}

Test(presence, goes_with_the_next_message_if_that_is_sooner)
{
    struct world *w = world_new();
    struct hub *hub = world_hub(w);
    uint64_t written;

    world_joins(w, "alice", "chat");
    world_skip(w);
    crowd(w, 0, 20);
    writes(hub);
    written = hub_stats(hub)->written;
    world_says(w, "alice", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    cr_expect_eq(writes(hub), 21);
    cr_expect_eq(hub_stats(hub)->written - written, 20 + 21, "twenty joins, a message each");
    cr_expect_gt(hub_due(hub), world_now(w).mono_ms + 50, "nothing is left to be told");
}

/* The welcome of one who reads late tells of all until then; they are not told again. */
Test(presence, begins_where_the_welcome_ends)
{
    struct world *w = world_new();

    world_joins(w, "alice", "");
    world_joins(w, "late", "");
    world_stalls(w, "late");
    world_joins(w, "bob", "");
    world_skip(w);
    world_drops(w, "alice");
    world_joins(w, "carol", "");
    world_reads_on(w, "late");
    world_skip(w);
    world_drops(w, "bob");
    world_drops(w, "carol");
    world_expect(w, "late < presence leave bob\n"
                    "late < presence leave carol\n");
}

Test(presence, changes_until_it_reads_are_one_welcome)
{
    struct world *w = world_new();

    world_joins(w, "alice", "");
    world_joins(w, "bob", "chat");
    world_skip(w);
    world_stalls(w, "bob");
    world_regrants(w, "bob", "mcp/*");
    world_regrants(w, "bob", "chat mcp/*");
    world_reads_on(w, "bob");
    world_expect(w, "alice < presence update bob\n"
                    "alice < presence update bob\n"
                    "bob < welcome again bob [chat,mcp/*] with alice; head null\n"
                    "bob < presence update bob\n"
                    "bob < presence update bob\n");
}

/* ---- many at once ---- */

enum { MANY = 1500, PER_TICK = 64, EXPIRES_MS = 5000 };

static void fill(void *context, void *bytes, size_t len)
{
    static unsigned state = 1;

    (void)context;
    for (size_t i = 0; i < len; i++)
        ((unsigned char *)bytes)[i] =
            (unsigned char)((state = state * 1103515245 + 12345) >> 16);
}

static void enter(struct hub *hub, const char *topic, struct mcpx_capset *set, int number,
                  struct mcpx_now now)
{
    struct admission admission = {.topic = mcpx_slice_of(topic)};
    struct grant *grant;
    struct peer *peer;
    char name[16];

    snprintf(name, sizeof name, "p%05d", number);
    grant = grant_new(mcpx_slice_of(name), set, ROUTING_ALL, 0);
    cr_assert_eq(hub_admit(hub, grant, &admission, NULL, now, &peer), MCPX_OK);
    grant_unref(grant);
}

/* 1,500 welcomes of 1,500 names were 150 MB of text, and as much again to make it grow. */
Test(presence, grants_that_expire_together_are_told_without_filling_the_memory)
{
    struct mcpx_grant grants[] = {{.pattern = {"chat", 4}},
                                  {.pattern = {"mcp/*", 5}, .expires_ms = EXPIRES_MS}};
    struct hub_config config = hub_config_default();
    struct hub *hub = hub_new(&config, (struct chance){fill, NULL});
    struct mcpx_now now = {EXPIRES_MS, EXPIRES_MS};
    const struct stats *stats = hub_stats(hub);
    struct mcpx_capset *set;
    uint64_t written;
    size_t runs;

    cr_assert_eq(mcpx_capset_new(grants, 2, NULL, 0, NULL, NULL, &set), MCPX_OK);
    for (int i = 0; i < MANY; i++)
        enter(hub, "room", set, i, (struct mcpx_now){1000, 1000});
    writes(hub);
    hub_tick(hub, (struct mcpx_now){2000, 2000});
    writes(hub);
    written = stats->written;
    fault_alloc_arm(0);
    for (int told = 0; told < MANY; told += PER_TICK, now.mono_ms++)
        hub_tick(hub, now);
    cr_expect_lt(fault_alloc_count(), MANY * 8u, "%zu allocations", fault_alloc_count());
    cr_expect_eq(stats->outbox_bytes, 0);
    cr_expect_lt(stats->log_bytes, MANY * 700u, "%d bytes", (int)stats->log_bytes);
    runs = writes(hub);
    now.mono_ms += MANY / 10;
    hub_tick(hub, now);
    runs += writes(hub);
    cr_expect_leq(runs, MANY * 3u, "a welcome and two runs of updates each: %zu", runs);
    cr_expect_eq(stats->written - written, (uint64_t)MANY * MANY);
    hub_tick(hub, (struct mcpx_now){9000, 9000});
    cr_expect_eq(stats->log_bytes, 0, "what everybody has read is kept by nobody: %d",
                 (int)stats->log_bytes);
    mcpx_capset_unref(set);
    hub_free(hub);
}

/*
 * Telling a crowd costs a write for each: ten thousand that are told of every newcomer within
 * 50 ms would leave the loop no time for what they say. A small topic does not wait for them.
 */
Test(presence, waits_longer_the_larger_the_crowd)
{
    static const struct {
        int crowd;
        int64_t delay;
    } rows[] = {{20, 50}, {500, 50}, {601, 60}, {2001, 200}, {11001, 1000}};
    struct mcpx_grant grant = {.pattern = {"chat", 4}};
    struct hub_config config = hub_config_default();
    struct mcpx_now now = {1000, 1000};
    struct mcpx_capset *set;
    struct hub *hub;
    int there = 0;

    config.participants_max = 20000;
    hub = hub_new(&config, (struct chance){fill, NULL});
    cr_assert_eq(mcpx_capset_new(&grant, 1, NULL, 0, NULL, NULL, &set), MCPX_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        while (there < rows[i].crowd - 1)
            enter(hub, "room", set, there++, now);
        now.mono_ms += 1000;
        hub_tick(hub, now);
        writes(hub);
        enter(hub, "room", set, there++, now);
        cr_expect_eq(writes(hub), 1, "its welcome");
        now.mono_ms += rows[i].delay - 1;
        hub_tick(hub, now);
        cr_expect_eq(writes(hub), 0, "%d are told too soon", there);
        now.mono_ms++;
        hub_tick(hub, now);
        cr_expect_eq(writes(hub), (size_t)there - 1, "%d are told too late", there);
    }
    enter(hub, "room", set, there++, now);
    enter(hub, "elsewhere", set, there++, now);
    writes(hub);
    enter(hub, "elsewhere", set, there, now);
    writes(hub);
    now.mono_ms += 50;
    hub_tick(hub, now);
    cr_expect_eq(writes(hub), 1, "the small topic does not wait for the crowd");
    mcpx_capset_unref(set);
    hub_free(hub);
}
