/*
 * What breaks for whom: dead connections that count as participants for ever; tokens and grants
 * that outlive their date; clients left hanging when the router goes.
 * Protocol: sections 5, 6 (close codes), 7 (pings), 10 (changed grants).
 */
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>

TestSuite(time, .fini = world_end);

Test(time, who_answers_neither_of_two_pings_has_left)
{
    struct world *w = world_new();

    world_joins(w, "alice", "");
    world_joins(w, "bob", "");
    world_skip(w);
    world_waits(w, 24000);
    world_expect(w, "");
    world_waits(w, 1000);
    world_expect(w, "alice < ping\nbob < ping\n");
    peer_heard(
        topic_peer(hub_topic_find(world_hub(w), MCPX_SLICE("room")), MCPX_SLICE("alice")),
        world_now(w));
    world_waits(w, 25000);
    world_expect(w, "alice < ping\nbob < ping\n");
    peer_heard(
        topic_peer(hub_topic_find(world_hub(w), MCPX_SLICE("room")), MCPX_SLICE("alice")),
        world_now(w));
    world_waits(w, 24000);
    world_expect(w, "");
    world_waits(w, 1000);
    world_expect(w, "alice < ping\n"
                    "alice < presence leave bob (timeout)\n"
                    "bob < close 1001\n");
}

Test(time, no_pings_where_they_are_switched_off)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.ping_ms = 0;
    w = world_with(&config);
    world_joins(w, "alice", "");
    world_skip(w);
    world_waits(w, 200000);
    world_expect(w, "");
}

/* A socket that takes nothing cannot be pinged; it is given the same time. */
Test(time, who_takes_no_bytes_is_given_up_as_well)
{
    struct world *w = world_new();

    world_joins(w, "alice", "");
    world_joins(w, "bob", "");
    world_skip(w);
    world_stalls(w, "bob");
    world_waits(w, 50000);
    world_skip(w);
    peer_heard(
        topic_peer(hub_topic_find(world_hub(w), MCPX_SLICE("room")), MCPX_SLICE("alice")),
        world_now(w));
    world_waits(w, 24000);
    world_expect(w, "");
    world_waits(w, 1000);
    world_expect(w, "alice < ping\n"
                    "alice < presence leave bob (timeout)\n");
}

Test(time, a_connection_ends_with_its_token)
{
    struct world *w = world_new();

    world_joins(w, "alice", "");
    world_arrives(w, "bob", &(struct arrival){.expires_ms = 10000});
    world_skip(w);
    world_waits(w, 9000);
    world_expect(w, "");
    world_waits(w, 1000);
    world_expect(w, "alice < presence leave bob (token_expired)\n"
                    "bob < close 4005\n");
}

Test(time, changed_grants_are_told_and_count_at_once)
{
    struct world *w = world_new();

    world_joins(w, "alice", "");
    world_joins(w, "bob", "chat");
    world_says(w, "bob", "{\"id\":\"1\",\"kind\":\"chat\"}");
    world_skip(w);
    world_regrants(w, "bob", "mcp/*");
    world_says(w, "bob", "{\"id\":\"2\",\"kind\":\"chat\"}");
    world_says(w, "bob", "{\"id\":\"3\",\"kind\":\"mcp/request:ping\"}");
    world_expect(w, "alice < presence update bob\n"
                    "alice < mcp/request:ping 3 from bob\n"
                    "bob < welcome again bob [mcp/*] with alice; head 3\n"
                    "bob < error capability_violation re 2 reason=no_matching_grant "
                    "would_allow=chat\n"
                    "bob < presence update bob\n"
                    "bob < mcp/request:ping 3 from bob\n");
}

Test(time, who_is_on_the_way_out_gets_no_other_grants)
{
    struct world *w = world_new();
    struct hub *hub = world_hub(w);
    struct peer *bob;

    world_joins(w, "alice", "");
    world_joins(w, "bob", "");
    world_skip(w);
    bob = topic_peer(hub_topic_find(hub, MCPX_SLICE("room")), MCPX_SLICE("bob"));
    world_kicks(w, "bob");
    cr_expect_eq(
        hub_update_grants(hub, bob, (struct grant *)peer_grant(bob), false, world_now(w)),
        MCPX_ECLOSED);
    world_expect(w, "alice < presence leave bob (kicked)\n"
                    "bob < close 4004\n");
}

Test(time, who_is_kicked_is_told_with_4004)
{
    struct world *w = world_new();

    world_joins(w, "alice", "");
    world_joins(w, "bob", "");
    world_skip(w);
    world_kicks(w, "bob");
    world_expect(w, "alice < presence leave bob (kicked)\n"
                    "bob < close 4004\n");
    cr_expect_eq(world_says(w, "bob", "{\"id\":\"1\",\"kind\":\"chat\"}"), MCPX_ECLOSED);
    world_expect(w, "");
}

/* Everybody goes: telling each of every other's leaving would be n times n messages. */
Test(time, a_router_that_goes_away_says_1001_to_everybody_and_admits_nobody)
{
    struct world *w = world_new();

    world_joins(w, "alice", "chat");
    world_joins(w, "bob", "");
    world_skip(w);
    world_says(w, "alice", "{\"id\":\"1\",\"kind\":\"chat\"}");
    world_expect(w, "alice < chat 1 from alice\n"
                    "bob < chat 1 from alice\n");
    hub_drain(world_hub(w), world_now(w));
    cr_expect_eq(world_arrives(w, "carol", &(struct arrival){.history = -1}), MCPX_EGOING);
    world_expect(w, "alice < close 1001, again in 0\n"
                    "bob < close 1001, again in 1\n");
}
