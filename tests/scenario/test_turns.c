/*
 * What breaks for whom: a router that offers each reader twice does its most frequent work twice.
 * A connection that cannot even be told why it ends, and is then never ended.
 * Protocol: sections 5 and 6.
 */
#include "tests/support/fault_alloc.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(turns, .fini = world_end);

/* Offers until nobody is offered; returns how often a peer was, with nothing to write. */
static int idle_offers(struct hub *hub, int *offers)
{
    struct output output;
    struct peer *peer;
    int idle = 0;

    *offers = 0;
    while ((peer = hub_next_ready(hub))) {
        bool any = false;

        ++*offers;
        while (peer_peek(peer, &output)) {
            peer_pop(peer);
            any = true;
        }
        idle += !any;
    }
    return idle;
}

Test(turns, who_is_offered_has_bytes_to_write_and_is_offered_once)
{
    struct world *w = world_new();
    struct hub *hub = world_hub(w);
    int offers;

    world_joins(w, "alice", "chat");
    world_joins(w, "bob", "");
    world_arrives(w, "carol", &(struct arrival){.routing = ROUTING_DIRECTED});
    idle_offers(hub, &offers);
    world_says(w, "alice", "{\"id\":\"1\",\"kind\":\"chat\"}");
    cr_expect_eq(idle_offers(hub, &offers), 0);
    cr_expect_eq(offers, 3);
    world_says(w, "alice", "{\"id\":\"2\",\"kind\":\"chat\",\"to\":[\"bob\"]}");
    cr_expect_eq(idle_offers(hub, &offers), 0);
    cr_expect_eq(offers, 2, "carol reads only what is for her");
    world_stalls(w, "bob");
    world_reads_on(w, "bob");
    cr_expect_eq(idle_offers(hub, &offers), 0);
    cr_expect_eq(offers, 0);
}

enum { MANY = 8, LONG_BYTES = 1200000 };

/* Who is offered, in order: 'z' for zed, 'm' for one of mallory's. A reader takes all it can. */
static void offers_in_order(struct hub *hub, char *order, size_t size)
{
    struct output output;
    struct peer *peer;
    size_t len = 0;

    while ((peer = hub_next_ready(hub)) && len + 1 < size) {
        order[len++] = peer_id(peer).text[0];
        while (peer_peek(peer, &output))
            peer_pop(peer);
    }
    order[len] = '\0';
}

/* What breaks: with sixty connections one participant makes everybody wait for sixty writes. */
Test(turns, who_has_many_connections_gets_no_more_than_who_has_one)
{
    struct world *w = world_new();
    struct hub *hub = world_hub(w);
    char order[2 * MANY + 2];
    int offers;

    for (unsigned i = 1; i <= MANY; i++)
        world_arrives(w, "mallory", &(struct arrival){.grants = "chat", .instance = i});
    world_joins(w, "zed", "");
    idle_offers(hub, &offers);
    world_says_long(w, "mallory", 1, LONG_BYTES);
    offers_in_order(hub, order, sizeof order);
    cr_expect_str_eq(order, "mzmmmmmmm", "zed waits for one of them, and they for him");
    world_says_long(w, "mallory", 2, 100);
    offers_in_order(hub, order, sizeof order);
    cr_expect_str_eq(order, "mmmmmmmmz", "short ones go to each as it comes");
}

/* Its welcome was so large that its outbox was given back: the close frame needs memory. */
static const char long_grant[] =
    "chat:"
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234"
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
    "8";

Test(turns, whatever_memory_is_missing_a_disconnected_peer_is_closed)
{
    char grants[4 * (sizeof long_grant + 2)] = "";
    size_t nth = 0, silent = 0;
    bool failed;

    for (int i = 0; i < 4; i++)
        strcat(strcat(grants, long_grant), i % 2 ? " " : "x ");
    do {
        struct world *w = world_new();
        struct hub *hub = world_hub(w);
        struct output output = {0};
        struct peer *peer;
        int offers;

        world_joins(w, "alice", grants);
        idle_offers(hub, &offers);
        fault_alloc_arm(++nth);
        world_kicks(w, "alice");
        failed = fault_alloc_disarm();
        peer = hub_next_ready(hub);
        cr_assert(peer && peer_peek(peer, &output), "allocation %zu", nth);
        cr_expect(output.close, "allocation %zu", nth);
        silent += output.len == 0;
        peer_pop(peer);
        cr_expect_not(peer_peek(peer, &output), "allocation %zu", nth);
    } while (failed);
    cr_expect_eq(silent, 1, "only one of those allocations is for the close frame");
}

Test(turns, what_is_written_is_counted)
{
    struct world *w = world_new();
    struct hub *hub = world_hub(w);
    struct output output;
    struct peer *peer;
    uint64_t bytes = 0, runs = 0;

    world_joins(w, "alice", "chat");
    world_says(w, "alice", "{\"id\":\"1\",\"kind\":\"chat\"}");
    world_joins(w, "bob", ""); /* welcome, a page of history, a run */
    while ((peer = hub_next_ready(hub)))
        while (peer_peek(peer, &output)) {
            bytes += output.len;
            runs++;
            peer_pop(peer);
        }
    cr_expect_eq(hub_stats(hub)->written_bytes, bytes);
    cr_expect_eq(hub_stats(hub)->runs, runs);
    cr_expect_eq(hub_stats(hub)->written, 3, "alice: her join, a message; bob: his join");
    cr_expect_eq(hub_stats(hub)->replayed, 1);
}

enum { CROWD = 500, CHANGES_PER_TICK = 64, EXPIRES_MS = 10000 };

/* What breaks: everybody else waits while a thousand participants are shown out. */
Test(turns, grants_that_end_at_the_same_time_end_a_few_in_a_turn)
{
    struct world *w = world_new();
    struct hub *hub = world_hub(w);
    const uint64_t *ended = &hub_stats(hub)->closed[MCPX_EEXPIRED];
    struct mcpx_now now;
    size_t ticks = 0;

    for (int i = 0; i < CROWD; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        world_arrives(w, name, &(struct arrival){.expires_ms = EXPIRES_MS});
    }
    world_skip(w);
    now = world_now(w);
    now.mono_ms += EXPIRES_MS;
    now.wall_ms += EXPIRES_MS;
    for (; *ended < CROWD; ticks++) {
        uint64_t before = *ended;

        hub_tick(hub, now);
        cr_assert_gt(*ended, before, "tick %zu", ticks);
        cr_expect_leq(*ended - before, CHANGES_PER_TICK, "tick %zu", ticks);
        now.mono_ms++;
        now.wall_ms++;
    }
    cr_expect_eq(ticks, CROWD / CHANGES_PER_TICK + 1, "nobody waits longer than needed");
    world_skip(w);
}

/*
 * What breaks: all who came in at the same time are pinged at the same time, and everybody else
 * waits. One whose turn is next leaves meanwhile: those behind it are pinged all the same.
 */
Test(turns, those_who_came_together_are_pinged_a_few_in_a_turn)
{
    struct world *w = world_new();
    struct hub *hub = world_hub(w);
    int64_t due_ms = world_now(w).mono_ms + hub_config_default().ping_ms;
    int offers, pinged = 0, ticks = 0;

    for (int i = 0; i < CROWD; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        world_joins(w, name, "");
    }
    world_skip(w);
    world_waits(w, due_ms - 1 - world_now(w).mono_ms);
    for (; pinged < CROWD - 1; ticks++) {
        world_waits(w, hub_due(hub) - world_now(w).mono_ms);
        idle_offers(hub, &offers);
        cr_assert_gt(offers, 0, "tick %d", ticks);
        cr_expect_leq(offers, CHANGES_PER_TICK, "tick %d", ticks);
        pinged += offers;
        if (ticks == 0)
            world_drops(w, "p64");
    }
    cr_expect_eq(pinged, CROWD - 1, "nobody is pinged twice");
    cr_expect_eq(ticks, CROWD / CHANGES_PER_TICK + 1, "nobody waits longer than needed");
}
