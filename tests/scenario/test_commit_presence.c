/*
 * What breaks for whom: a joiner that reads before anybody knows that it is there, or misses what
 * was said while it waited; a room that believes somebody is there who left long ago; an auditor
 * who finds a message of somebody that never joined. Protocol: sections 5 and 7.
 */
#include "tests/support/hub_defaults.h"
#include "tests/support/vault.h"

#include <criterion/criterion.h>

/* The vault of the test that runs, with alice in a room. */
static struct vault *v;

static void with_alice(void)
{
    v = vault_new(hub_config_default());
    vault_joins(v, "alice", "*");
    world_skip(v->world);
}

TestSuite(commit_presence, .init = with_alice, .fini = vault_end);

static enum mcpx_err chat(const char *name, const char *text)
{
    return world_says(v->world, name, text);
}

static enum mcpx_err arrives(const char *name)
{
    return world_arrives(v->world, name, &(struct arrival){.grants = "*", .history = -1});
}

Test(commit_presence, a_joiner_comes_in_when_its_join_is_committed)
{
    chat("alice", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    world_joins(v->world, "bob", "*");
    chat("alice", "{\"id\":\"m2\",\"kind\":\"chat\"}");
    vault_expect(v, "m1\njoin bob\nm2\n");
    cr_expect_eq(chat("bob", "{\"id\":\"b1\",\"kind\":\"chat\"}"), MCPX_EOPENING);
    vault_commits(v, "m1");
    world_expect(v->world, "alice < chat m1 from alice\n");
    vault_commits(v, "join bob");
    vault_commits(v, "m2");
    world_expect(v->world, "alice < presence join bob\n"
                           "alice < chat m2 from alice\n"
                           "bob < welcome bob [*] with alice; head m1; history 1\n"
                           "bob < history m1 complete\n"
                           "bob < presence join bob\n"
                           "bob < chat m2 from alice\n");
    cr_expect_eq(chat("bob", "{\"id\":\"b1\",\"kind\":\"chat\"}"), MCPX_OK);
    vault_commits_all(v);
    world_skip(v->world);
}

/* Who resumes goes on where it was, though others talked while its join was stored. */
Test(commit_presence, a_joiner_that_comes_back_misses_and_repeats_nothing)
{
    struct reader_place place;

    vault_joins(v, "bob", "*");
    chat("alice", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    vault_commits_all(v);
    world_skip(v->world);
    place = world_place(v->world, "bob");
    world_drops(v->world, "bob");
    vault_commits_all(v);
    chat("alice", "{\"id\":\"m2\",\"kind\":\"chat\"}");
    world_arrives(v->world, "bob",
                  &(struct arrival){.grants = "*", .history = -1, .place = &place});
    chat("alice", "{\"id\":\"m3\",\"kind\":\"chat\"}");
    vault_commits(v, "m2");
    vault_commits(v, "join bob");
    vault_commits(v, "m3");
    world_expect(v->world, "alice < presence leave bob\n"
                           "alice < chat m2 from alice\n"
                           "alice < presence join bob\n"
                           "alice < chat m3 from alice\n"
                           "bob < welcome bob [*] with alice; head m2; resumed\n"
                           "bob < chat m2 from alice\n"
                           "bob < presence join bob\n"
                           "bob < chat m3 from alice\n");
}

Test(commit_presence, a_join_that_is_not_stored_is_known_to_nobody)
{
    world_joins(v->world, "bob", "*");
    vault_refuses(v, "join bob");
    world_expect(v->world, "bob < close 1013\n");
    world_drops(v->world, "bob");
    vault_expect(v, "join bob\n");
    cr_expect_eq(arrives("bob"), MCPX_OK);
    vault_commits_all(v);
    world_expect(v->world, "alice < presence join bob\n"
                           "bob < welcome bob [*] with alice; head null\n"
                           "bob < presence join bob\n");
    cr_expect_eq(hub_stats(world_hub(v->world))->admitted, 2);
    cr_expect_eq(hub_stats(world_hub(v->world))->departed, 0);
}

/* How somebody that joins goes before its join is stored, and what the others are told of it. */
static void goes(void)
{
    world_drops(v->world, "bob");
}

static void is_kicked(void)
{
    world_kicks(v->world, "bob");
}

static void is_kicked_and_goes(void)
{
    is_kicked();
    goes();
}

static void expires(void)
{
    world_waits(v->world, 2000);
}

Test(commit_presence, a_joiner_that_is_gone_is_told_all_the_same_and_leaves)
{
    static const struct {
        void (*end)(void);
        const char *read;
    } rows[] = {
        {goes, "alice < presence join bob\nalice < presence leave bob\n"},
        {is_kicked, "alice < presence join bob\nalice < presence leave bob (kicked)\n"
                    "bob < close 4004\n"},
        {is_kicked_and_goes, "alice < presence join bob\n"
                             "alice < presence leave bob (kicked)\n"},
        {expires, "alice < presence join bob\n"
                  "alice < presence leave bob (token_expired)\nbob < close 4005\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        with_alice();
        world_arrives(v->world, "bob",
                      &(struct arrival){.grants = "*", .history = -1, .expires_ms = 1500});
        rows[i].end();
        vault_commits(v, "join bob");
        vault_expect(v, "join bob\nleave bob\n");
        vault_commits(v, "leave bob");
        world_expect(v->world, rows[i].read);
        cr_expect_eq(arrives("bob"), MCPX_OK, "row %zu", i);
        vault_commits_all(v);
        world_skip(v->world);
    }
}

Test(commit_presence, a_joiner_that_is_gone_and_refused_leaves_no_trace)
{
    world_joins(v->world, "bob", "*");
    world_drops(v->world, "bob");
    vault_refuses(v, "join bob");
    vault_expect(v, "join bob\n");
    world_expect(v->world, "");
    cr_expect_eq(hub_pending(world_hub(v->world)), 0);
}

/* ---- takeovers ---- */

Test(commit_presence, the_old_connection_lives_until_the_join_is_committed)
{
    vault_joins(v, "bob", "*");
    world_skip(v->world);
    chat("bob", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    cr_expect_eq(arrives("bob"), MCPX_OK);
    vault_expect(v, "m1\njoin bob\n");
    cr_expect(mcpx_slice_equal(vault_task(v, "join bob")->submission->reason,
                               MCPX_SLICE("takeover")));
    vault_commits(v, "m1");
    world_expect(v->world, "alice < chat m1 from bob\nbob < chat m1 from bob\n");
    vault_commits(v, "join bob");
    vault_expect(v, "");
    world_expect(v->world, "alice < presence join bob (takeover)\n"
                           "bob < close 4001\n"
                           "bob < welcome bob [*] with alice; head m1; history 1\n"
                           "bob < history m1 complete\n"
                           "bob < presence join bob (takeover)\n");
}

/* Bob is there, and comes again: the second join is not stored yet. */
static void with_a_takeover(void)
{
    vault_joins(v, "bob", "*");
    world_skip(v->world);
    arrives("bob");
}

Test(commit_presence, a_takeover_that_is_not_stored_leaves_the_old_connection_alone)
{
    with_a_takeover();
    vault_refuses(v, "join bob");
    chat("alice", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    vault_commits_all(v);
    world_expect(v->world, "alice < chat m1 from alice\n"
                           "bob < chat m1 from alice\n"
                           "bob < close 1013\n");
}

/* The join tells enough: a leave behind it would be that of the new connection. */
Test(commit_presence, the_old_connection_may_go_while_its_place_is_taken)
{
    with_a_takeover();
    world_drops(v->world, "bob");
    vault_expect(v, "join bob\n");
    vault_commits(v, "join bob");
    vault_expect(v, "");
    world_expect(v->world, "alice < presence join bob (takeover)\n"
                           "bob < welcome bob [*] with alice; head null\n"
                           "bob < presence join bob (takeover)\n");
}

Test(commit_presence, who_has_gone_is_told_of_when_nobody_takes_its_place_after_all)
{
    with_a_takeover();
    world_drops(v->world, "bob");
    vault_refuses(v, "join bob");
    vault_expect(v, "join bob\nleave bob\n");
    vault_commits(v, "leave bob");
    world_expect(v->world, "alice < presence leave bob\n"
                           "bob < close 1013\n");
}

/* ---- waiting for each other ---- */

Test(commit_presence, the_same_participant_waits_until_its_last_coming_or_going_is_stored)
{
    const struct hub *hub = world_hub(v->world);
    uint64_t waits;

    cr_expect_eq(arrives("bob"), MCPX_OK);
    cr_expect_eq(arrives("bob"), MCPX_EOPENING, "its join is pending");
    cr_expect_eq(arrives("carol"), MCPX_OK, "others need not wait");
    waits = hub_waits(hub);
    vault_commits(v, "join bob");
    cr_expect_neq(hub_waits(hub), waits);
    world_drops(v->world, "bob");
    cr_expect_eq(arrives("bob"), MCPX_EOPENING, "its leave is pending");
    waits = hub_waits(hub);
    vault_commits(v, "leave bob");
    cr_expect_neq(hub_waits(hub), waits);
    cr_expect_eq(arrives("bob"), MCPX_OK);
    vault_commits_all(v);
    world_skip(v->world);
}

/* A window that comes twice has one place; two windows have two. */
Test(commit_presence, instances_that_join_at_once_get_numbers_of_their_own)
{
    struct arrival window = {
        .grants = "*", .history = -1, .instance = INSTANCE_AUTO, .key = "first"};

    cr_expect_eq(world_arrives(v->world, "bob", &window), MCPX_OK);
    cr_expect_eq(world_arrives(v->world, "bob", &window), MCPX_EOPENING);
    window.key = "second";
    cr_expect_eq(world_arrives(v->world, "bob", &window), MCPX_OK);
    vault_expect(v, "join bob\njoin bob~2\n");
    vault_commits_all(v);
    world_expect(v->world, "alice < presence join bob\n"
                           "alice < presence join bob~2\n"
                           "bob < welcome bob [*] with alice,bob~2; head null\n"
                           "bob < presence join bob\n"
                           "bob~2 < welcome bob~2 [*] with alice,bob; head null\n"
                           "bob~2 < presence join bob~2\n");
}

Test(commit_presence, a_crowd_that_joins_at_once_is_bounded)
{
    struct hub_config config = hub_config_default();

    config.participants_max = 2;
    v = vault_new(config);
    cr_expect_eq(arrives("alice"), MCPX_OK);
    cr_expect_eq(arrives("bob"), MCPX_OK);
    cr_expect_eq(arrives("carol"), MCPX_EFULL);
    vault_refuses(v, "join bob");
    cr_expect_eq(arrives("carol"), MCPX_OK);
    vault_commits_all(v);
    world_skip(v->world);
}

/* ---- what is never given up ---- */

Test(commit_presence, leaves_and_updates_are_submitted_until_they_are_stored)
{
    vault_joins(v, "bob", "*");
    vault_joins(v, "carol", "*");
    world_skip(v->world);
    world_drops(v->world, "bob");
    world_regrants(v->world, "carol", "chat");
    vault_expect(v, "leave bob\nupdate carol\n");
    for (int i = 0; i < 3; i++) {
        vault_refuses(v, "leave bob");
        vault_refuses(v, "update carol");
        vault_expect(v, "");
        cr_expect_eq(hub_pending(world_hub(v->world)), 2);
        world_waits(v->world, 1000);
        vault_expect(v, "leave bob\nupdate carol\n");
    }
    world_expect(v->world, "carol < welcome again carol [chat] with alice; head null\n");
    vault_commits_all(v);
    world_expect(v->world, "alice < presence leave bob\n"
                           "alice < presence update carol\n"
                           "carol < presence leave bob\n"
                           "carol < presence update carol\n");
}

Test(commit_presence, an_update_of_who_has_left_means_nothing)
{
    vault_joins(v, "bob", "*");
    world_skip(v->world);
    world_regrants(v->world, "bob", "chat");
    vault_take(v);
    world_drops(v->world, "bob");
    vault_refuses(v, "update bob");
    vault_commits_all(v);
    world_waits(v->world, 3000);
    vault_expect(v, "");
    world_expect(v->world, "alice < presence leave bob\n");
}

/* Grants that change while a join is pending are those it comes in with. */
Test(commit_presence, a_joiner_comes_in_with_the_grants_it_has_by_then)
{
    world_joins(v->world, "bob", "*");
    world_regrants(v->world, "bob", "chat");
    vault_expect(v, "join bob\n");
    vault_commits(v, "join bob");
    world_expect(v->world, "alice < presence join bob\n"
                           "bob < welcome bob [chat] with alice; head null\n"
                           "bob < presence join bob\n");
}

/* ---- ends ---- */

Test(commit_presence, a_router_that_goes_away_answers_nobody_twice)
{
    chat("alice", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    world_joins(v->world, "bob", "*");
    vault_take(v);
    hub_drain(world_hub(v->world), world_now(v->world));
    cr_expect_eq(arrives("carol"), MCPX_EGOING);
    vault_commits(v, "m1");
    vault_commits(v, "join bob");
    world_expect(v->world, "alice < close 1001, again in 0\n"
                           "bob < close 1001, again in 1\n");
}

Test(commit_presence, a_hub_ends_whatever_is_pending)
{
    vault_joins(v, "bob", "*");
    world_skip(v->world);
    chat("bob", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    vault_take(v);
    chat("bob", "{\"id\":\"m2\",\"kind\":\"chat\"}");
    world_regrants(v->world, "bob", "chat");
    world_drops(v->world, "bob");
    world_joins(v->world, "carol", "*");
    arrives("alice");
    world_drops(v->world, "carol");
    cr_expect_eq(hub_pending(world_hub(v->world)), 6);
}
