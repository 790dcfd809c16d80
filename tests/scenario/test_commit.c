/*
 * What breaks for whom: a reader that has seen what nobody finds again after a restart; a sender
 * that is told of a refusal and sees its message appear all the same; an auditor that misses what
 * somebody has read. Protocol: sections 1 (order of checks), 5 (order) and 6 (unavailable).
 */
#include "tests/support/fault_alloc.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/vault.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* The vault of the test that runs. */
static struct vault *v;

/* Alice and bob in a room that somebody audits. */
static void two(struct hub_config config)
{
    v = vault_new(config);
    vault_joins(v, "alice", "* mcp/*");
    vault_joins(v, "bob", "*");
    world_skip(v->world);
}

static void begin(void)
{
    two(hub_config_default());
}

TestSuite(commit, .init = begin, .fini = vault_end);

static enum mcpx_err chat(const char *name, const char *id)
{
    char text[128];

    snprintf(text, sizeof text, "{\"id\":\"%s\",\"kind\":\"chat\"}", id);
    return world_says(v->world, name, text);
}

Test(commit, nobody_reads_what_is_not_committed)
{
    cr_expect_eq(chat("alice", "m1"), MCPX_OK);
    cr_expect_eq(chat("bob", "m2"), MCPX_OK);
    world_expect(v->world, "");
    vault_expect(v, "m1\nm2\n");
    cr_expect_eq(hub_pending(world_hub(v->world)), 2);
    vault_commits(v, "m1");
    world_expect(v->world, "alice < chat m1 from alice\n"
                           "bob < chat m1 from alice\n");
    vault_commits(v, "m2");
    world_expect(v->world, "alice < chat m2 from bob\n"
                           "bob < chat m2 from bob\n");
    cr_expect_eq(hub_pending(world_hub(v->world)), 0);
}

Test(commit, the_order_of_commits_is_the_order_of_the_log)
{
    chat("alice", "m1");
    chat("bob", "m2");
    chat("alice", "m3");
    vault_commits(v, "m2");
    vault_commits(v, "m3");
    vault_commits(v, "m1");
    world_expect(v->world, "alice < chat m2 from bob\n"
                           "alice < chat m3 from alice\n"
                           "alice < chat m1 from alice\n"
                           "bob < chat m2 from bob\n"
                           "bob < chat m3 from alice\n"
                           "bob < chat m1 from alice\n");
}

Test(commit, only_the_sender_hears_of_what_is_not_stored)
{
    const struct stats *stats = hub_stats(world_hub(v->world));
    uint64_t accepted = stats->accepted;

    chat("alice", "m1");
    chat("alice", "m2");
    vault_refuses(v, "m1");
    vault_loses(v, "m2");
    world_expect(v->world,
                 "alice < error unavailable re m1 outcome=refused retry_after_ms=2000\n"
                 "alice < error unavailable re m2 outcome=unknown retry_after_ms=2000\n");
    cr_expect_eq(stats->accepted, accepted);
    cr_expect_eq(stats->refused[MCPX_EUNAVAILABLE], 2);
}

Test(commit, an_id_is_taken_while_it_is_pending_and_free_after_a_refusal)
{
    cr_expect_eq(chat("alice", "other"), MCPX_OK);
    cr_expect_eq(chat("alice", "m1"), MCPX_OK);
    cr_expect_eq(chat("bob", "m1"), MCPX_EDUPLICATE);
    vault_refuses(v, "m1");
    cr_expect_eq(chat("alice", "m1"), MCPX_OK, "it is sent again");
    vault_commits(v, "m1");
    cr_expect_eq(chat("bob", "m1"), MCPX_EDUPLICATE);
    world_arrives(v->world, "carol",
                  &(struct arrival){.grants = "*", .topic = "elsewhere", .history = -1});
    vault_commits_all(v);
    cr_expect_eq(chat("carol", "m1"), MCPX_OK, "ids are a topic's own");
}

Test(commit, an_answer_is_completed_from_a_request_that_is_pending)
{
    const struct submission *answer;

    world_says(v->world, "alice",
               "{\"id\":\"q\",\"to\":[\"bob\"],\"kind\":\"mcp/request:tools/call:echo\"}");
    cr_expect_eq(world_says(v->world, "alice",
                            "{\"id\":\"a\",\"to\":[\"alice\"],"
                            "\"kind\":\"mcp/response:tools/call\",\"correlation_id\":\"q\"}"),
                 MCPX_OK);
    answer = vault_task(v, "a")->submission;
    cr_expect(mcpx_slice_equal(answer->kind, MCPX_SLICE("mcp/response:tools/call:echo")));
    cr_expect(mcpx_slice_equal(answer->kind_sent, MCPX_SLICE("mcp/response:tools/call")));
    cr_expect(mcpx_slice_equal(answer->correlation_id, MCPX_SLICE("q")));
    vault_commits_all(v);
    world_skip(v->world);
    cr_expect_not_null(
        strstr(world_last(v->world, "bob"), "\"kind\":\"mcp/response:tools/call:echo\""));
}

Test(commit, a_submission_says_all_that_is_to_be_stored)
{
    struct hub_config config = hub_config_default();
    const struct submission *submission;

    config.audited = true;
    two(config);
    world_says(v->world, "alice",
               "{\"id\":\"m1\",\"ts\":\"2026-01-01T00:00:00Z\",\"from\":\"alice\","
               "\"to\":[\"bob\",\"c\\u0061rol\"],\"kind\":\"chat\",\"payload\":{\"n\": 1}}");
    submission = vault_task(v, "m1")->submission;
    cr_expect_eq(submission->what, SUBMIT_MESSAGE);
    cr_expect(mcpx_slice_equal(submission->topic, MCPX_SLICE("room")));
    cr_expect_eq(submission->epoch.len, 32);
    cr_expect(mcpx_slice_equal(submission->from, MCPX_SLICE("alice")));
    cr_expect(mcpx_slice_equal(submission->id, MCPX_SLICE("m1")));
    cr_expect(mcpx_slice_equal(submission->kind, MCPX_SLICE("chat")));
    cr_expect(mcpx_slice_equal(submission->grant, MCPX_SLICE("*")));
    cr_expect_null(submission->correlation_id.text);
    cr_expect_eq(submission->to_count, 2);
    cr_expect(mcpx_slice_equal(submission->to[1], MCPX_SLICE("carol")));
    cr_expect_eq(submission->wall_ms, world_now(v->world).wall_ms);
    cr_expect(mcpx_slice_equal(
        submission->text,
        MCPX_SLICE("{\"protocol\":\"mcpx/v0.1\",\"id\":\"m1\",\"ts\":\"2026-01-01T00:00:00Z\","
                   "\"from\":\"alice\",\"to\":[\"bob\",\"c\\u0061rol\"],\"kind\":\"chat\","
                   "\"payload\":{\"n\": 1}}")));
    vault_commits_all(v);
    world_skip(v->world);
}

Test(commit, too_much_pending_is_refused_at_once_and_only_that)
{
    struct hub_config config = hub_config_default();
    unsigned number = 0;

    config.pending_bytes = 100000;
    two(config);
    do {
        world_says_long(v->world, "alice", ++number, 9000);
        cr_assert_lt(number, 12);
        world_skip(v->world);
    } while (!strstr(world_last_error(v->world, "alice"), "\"error\":\"unavailable\""));
    cr_expect_eq(number, 3, "a quarter");
    cr_expect_not_null(strstr(world_last_error(v->world, "alice"),
                              "\"retry_after_ms\":1000,\"outcome\":\"refused\""));
    world_says_long(v->world, "bob", 50, 9000);
    world_skip(v->world);
    cr_expect_str_eq(world_last_error(v->world, "bob"), "", "others are still heard");
    vault_commits(v, "long-1");
    cr_expect_eq(chat("alice", "small"), MCPX_OK);
    vault_task(v, "small");
    cr_expect_eq(hub_pending(world_hub(v->world)), number);
    vault_commits_all(v);
    world_skip(v->world);
}

/* Else one who talks much while a disk is slow would silence everybody. */
Test(commit, one_sender_leaves_room_for_all_others)
{
    struct hub_config config = hub_config_default();
    unsigned number = 0, first;

    config.pending_bytes = 100000;
    two(config);
    while (hub_stats(world_hub(v->world))->refused[MCPX_EUNAVAILABLE] == 0) {
        world_says_long(v->world, "alice", ++number, 9000);
        cr_assert_lt(number, 12);
    }
    for (first = number; hub_stats(world_hub(v->world))->refused[MCPX_EUNAVAILABLE] == 1;)
        world_says_long(v->world, "bob", ++number, 9000);
    cr_expect_eq(number - first, 3);
    vault_joins(v, "carol", "*");
    cr_expect_eq(chat("carol", "small"), MCPX_OK);
    world_drops(v->world, "alice");
    vault_commits_all(v);
    world_skip(v->world);
}

Test(commit, a_message_larger_than_what_may_be_pending_comes_through_alone)
{
    struct hub_config config = hub_config_default();

    config.pending_bytes = 10000;
    two(config);
    cr_expect_eq(chat("bob", "small"), MCPX_OK);
    world_says_long(v->world, "alice", 1, 20000);
    vault_expect(v, "small\n");
    vault_commits(v, "small");
    world_says_long(v->world, "alice", 2, 20000);
    vault_expect(v, "long-2\n");
    vault_commits_all(v);
    world_skip(v->world);
}

/* Clients send what was refused again, for as long as the store is away. */
Test(commit, a_sender_is_not_ended_for_what_cannot_be_stored)
{
    struct hub_config config = hub_config_default();
    char id[16];

    config.messages_per_minute = config.bytes_per_minute = 0;
    two(config);
    for (int i = 0; i < 700; i++) {
        snprintf(id, sizeof id, "m%d", i);
        cr_assert_eq(chat("alice", id), MCPX_OK);
        vault_refuses(v, id);
        world_skip(v->world);
    }
    cr_assert_eq(chat("alice", "last"), MCPX_OK);
    vault_commits(v, "last");
    world_expect(v->world, "alice < chat last from alice\n"
                           "bob < chat last from alice\n");
}

/* Who writes and does not read would fill the router's memory with answers. */
Test(commit, answers_that_are_not_read_end_the_connection)
{
    struct hub_config config = hub_config_default();
    char id[16];
    int sent = 0;

    config.messages_per_minute = config.bytes_per_minute = 0;
    two(config);
    world_stalls(v->world, "alice");
    for (; sent < 20000; sent++) {
        snprintf(id, sizeof id, "m%d", sent);
        if (chat("alice", id) != MCPX_OK)
            break;
        vault_refuses(v, id);
    }
    cr_expect_gt(sent, 1000);
    cr_expect_lt(sent, 20000);
    cr_expect_eq(hub_stats(world_hub(v->world))->closed[MCPX_EFLOOD], 1);
}

Test(commit, what_somebody_said_is_read_though_it_has_gone)
{
    chat("alice", "m1");
    chat("alice", "m2");
    world_drops(v->world, "alice");
    vault_expect(v, "m1\nm2\nleave alice\n");
    vault_commits(v, "m1");
    vault_refuses(v, "m2");
    vault_commits(v, "leave alice");
    world_expect(v->world, "bob < chat m1 from alice\n"
                           "bob < presence leave alice\n");
}

Test(commit, a_ticket_is_answered_once)
{
    struct rejection rejection = {MCPX_EUNAVAILABLE, 0, true};
    uint64_t ticket;

    chat("alice", "m1");
    ticket = vault_task(v, "m1")->ticket;
    vault_commits(v, "m1");
    hub_commit(world_hub(v->world), ticket, world_now(v->world));
    hub_reject(world_hub(v->world), ticket, &rejection, world_now(v->world));
    hub_reject(world_hub(v->world), 4711, &rejection, world_now(v->world));
    world_expect(v->world, "alice < chat m1 from alice\n"
                           "bob < chat m1 from alice\n");
}

/* Nothing is stored, so nothing is missing: its sender knows, and the room goes on. */
Test(commit, a_log_without_memory_for_what_was_audited_answers_the_sender)
{
    world_says_long(v->world, "alice", 1, 100000);
    vault_take(v);
    fault_alloc_arm(1);
    vault_commits(v, "long-1");
    cr_assert(fault_alloc_disarm());
    world_expect(v->world, "alice < error out_of_memory re long-1\n"
                           "alice < close 1011\n");
    vault_commits_all(v);
    world_expect(v->world, "bob < presence leave alice (out_of_memory)\n");
    cr_expect_eq(chat("bob", "m2"), MCPX_OK);
    vault_commits_all(v);
    world_expect(v->world, "bob < chat m2 from bob\n");
}

Test(commit, a_message_takes_one_allocation)
{
    struct hub_config config = hub_config_default();
    struct hub *hub;
    struct peer *alice;
    struct verdict verdict;
    struct task task;
    char text[128];

    config.messages_per_minute = 0;
    two(config);
    hub = world_hub(v->world);
    alice = topic_peer(hub_topic_find(hub, MCPX_SLICE("room")), MCPX_SLICE("alice"));
    for (int i = 0; i < 100; i++) { /* tables and the log grow at first */
        snprintf(text, sizeof text,
                 "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m%d\",\"kind\":\"chat\","
                 "\"payload\":{}}",
                 i);
        if (i == 80)
            fault_alloc_arm(0);
        hub_route(hub, alice, mcpx_slice_of(text), world_now(v->world), &verdict);
        cr_assert_eq(verdict.err, MCPX_OK);
        cr_assert(hub_next_task(hub, &task));
        hub_commit(hub, task.ticket, world_now(v->world));
    }
    fault_alloc_disarm();
    cr_expect_geq(fault_alloc_count(), 20);
    cr_expect_leq(fault_alloc_count(), 21); /* the log began a piece of memory */
    world_skip(v->world);
}
