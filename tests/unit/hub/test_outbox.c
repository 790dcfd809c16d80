/*
 * What breaks for whom: a client that finds bytes behind its close frame, or none; a router whose
 * memory a sender fills that never reads its answers. Protocol: section 6, RFC 6455 section 5.5.1.
 */
#include "router/hub/hub.h"
#include "router/hub/topic/query.h"
#include "tests/support/dice.h"
#include "tests/support/fault_alloc.h"
#include "tests/support/frames.h"
#include "tests/support/hub_defaults.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct dice dice;

static struct hub *hub_of(const struct hub_config *config)
{
    struct hub *hub = hub_new(config, (struct chance){dice_fill, &dice});

    cr_assert(hub);
    return hub;
}

static struct mcpx_now at(int64_t ms)
{
    return (struct mcpx_now){ms, ms};
}

/* `count` long patterns, the last of which expires at `expires_ms`. */
static struct grant *grant_of(const char *name, size_t count, int64_t expires_ms)
{
    static char patterns[200][64];
    struct mcpx_grant grants[200] = {0};
    struct mcpx_capset *set = NULL;
    struct grant *grant;

    for (size_t i = 0; i < count; i++) {
        snprintf(patterns[i], sizeof patterns[i], "kind-%03zu-%040d", i, 0);
        grants[i].pattern = mcpx_slice_of(patterns[i]);
    }
    grants[count - 1].expires_ms = expires_ms;
    cr_assert_eq(mcpx_capset_new(grants, count, NULL, 0, NULL, NULL, &set), MCPX_OK);
    grant = grant_new(mcpx_slice_of(name), set, ROUTING_ALL, 0);
    mcpx_capset_unref(set);
    return grant;
}

static struct peer *join(struct hub *hub, struct grant *grant)
{
    struct admission admission = {.topic = MCPX_SLICE("room")};
    struct peer *peer = NULL;

    cr_assert_eq(hub_admit(hub, grant, &admission, NULL, at(1000), &peer), MCPX_OK);
    grant_unref(grant);
    return peer;
}

/* Reads everything; returns the close code, 0 when there was none. Nothing may follow it. */
static int read_all(struct peer *peer, size_t *frames)
{
    struct output output;
    int code = 0;

    while (peer_peek(peer, &output)) {
        struct mcpx_slice stream = {output.bytes, output.len};
        struct frame_view frame;

        while (frame_cut(&stream, &frame)) {
            cr_expect_eq(code, 0, "a frame behind the close frame");
            code = frame.opcode == 8 ? frame.close_code : 0;
            ++*frames;
        }
        cr_expect_eq(output.close, code != 0);
        peer_pop(peer);
    }
    return code;
}

Test(outbox, holds_nothing_behind_a_close_frame)
{
    struct hub_config config = hub_config_default();
    struct hub *hub;
    struct peer *peer;
    size_t frames = 0;

    config.backlog_bytes = 4096;
    config.ping_ms = 1000;
    hub = hub_of(&config);
    peer = join(hub, grant_of("ann", 150, 2000));
    cr_expect_eq(read_all(peer, &frames), 0);
    cr_expect_eq(frames, 2, "a welcome, her join: %zu", frames);
    peer_stall(peer);
    join(hub, grant_of("bob", 1, 0));
    hub_tick(hub, at(1050));
    /* One tick: her grants change, which she has no room for, and she has long been silent. */
    hub_tick(hub, at(3000));
    cr_assert(peer_is_disconnected(peer));
    peer_unstall(peer, at(3000));
    frames = 0;
    cr_expect_eq(read_all(peer, &frames), 4003);
    cr_expect_eq(frames, 2, "an error, a close frame: %zu", frames);
    hub_free(hub);
}

/* As an edge may do it that is told of a kick while it writes. */
Test(outbox, still_closes_a_peer_that_was_disconnected_between_peek_and_pop)
{
    struct hub_config config = hub_config_default();
    struct hub *hub = hub_of(&config);
    struct peer *ann = join(hub, grant_of("ann", 1, 0));
    struct peer *bob = join(hub, grant_of("bob", 1, 0));
    struct peer *cat;
    struct output output;
    size_t frames = 0;

    cr_assert(peer_peek(ann, &output)); /* her welcome */
    hub_disconnect(hub, ann, MCPX_EKICKED, at(1000));
    peer_pop(ann);
    cr_expect_eq(read_all(ann, &frames), 4004);
    cr_assert(peer_peek(bob, &output));
    peer_pop(bob);
    cat = join(hub, grant_of("cat", 1, 0));
    hub_tick(hub, at(1050));
    cr_assert(peer_peek(bob, &output)); /* her join */
    hub_disconnect(hub, bob, MCPX_EKICKED, at(1000));
    peer_pop(bob);
    cr_expect_eq(read_all(bob, &frames), 4004);
    hub_leave(hub, ann, MCPX_ECLOSED, at(1000));
    hub_leave(hub, bob, MCPX_ECLOSED, at(1000));
    hub_leave(hub, cat, MCPX_ECLOSED, at(1000));
    hub_tick(hub, at(10000000));
    cr_expect_eq(hub_stats(hub)->topics, 0);
    hub_free(hub);
}

Test(outbox, does_not_grow_for_who_never_reads)
{
    struct hub_config config = hub_config_default();
    struct hub *hub = hub_of(&config);
    struct peer *peer = join(hub, grant_of("ann", 150, 0));
    static const struct mcpx_slice text = {
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"kind\":\"chat\",\"payload\":{}}", 60};
    struct verdict verdict;
    int64_t now = 1000;

    peer_stall(peer);
    for (int i = 0; i < 100000 && !peer_is_disconnected(peer); i++, now += 1000) {
        peer_heard(peer, at(now)); /* slowly, and alive: no other bound ends it */
        hub_route(hub, peer, text, at(now), &verdict);
        cr_expect_eq(verdict.err, MCPX_ECAPABILITY);
    }
    cr_expect(peer_is_disconnected(peer));
    cr_expect_lt(peer_private_bytes(peer), 1200000, "%zu", peer_private_bytes(peer));
    cr_expect_eq(hub_stats(hub)->closed[MCPX_EFLOOD], 1);
    hub_free(hub);
}

Test(outbox, recovers_from_an_allocation_that_failed)
{
    struct hub_config config = hub_config_default();
    struct hub *hub = hub_of(&config);
    struct peer *peer = join(hub, grant_of("ann", 150, 0));
    struct grant *other = grant_of("ann", 120, 0);
    size_t frames = 0;

    read_all(peer, &frames);
    FAULT_ALLOC_EACH(nth, 1) {
        enum mcpx_err err = hub_update_grants(hub, peer, other, false, at(2000));

        cr_expect(err == MCPX_OK || err == MCPX_ENOMEM);
    }
    frames = 0;
    hub_tick(hub, at(2050));
    cr_expect_eq(read_all(peer, &frames), 0);
    cr_expect_eq(frames, 2, "one welcome, one update: %zu", frames);
    grant_unref(other);
    hub_free(hub);
}
