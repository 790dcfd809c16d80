/*
 * What breaks for whom: late joiners and auditors that cannot tell which tool a response is of; a
 * participant with a narrow grant that slips past it; a receiver that cannot check what it got.
 * Protocol: section 4 (derived kinds), section 1 (byte fidelity), section 5 (order, echo).
 */
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(conversation, .fini = world_end);

static struct world *two(const char *alice, const char *bob)
{
    struct world *w = world_new();

    world_joins(w, "alice", alice);
    world_joins(w, "bob", bob);
    world_skip(w);
    return w;
}

Test(conversation, a_call_and_its_answer_reach_everybody_with_their_tool_named)
{
    struct world *w = two("mcp/request:*", "mcp/response:*");

    world_joins(w, "carol", "");
    world_skip(w);
    world_says(w, "alice",
               "{\"id\":\"q1\",\"to\":[\"bob\"],\"kind\":\"mcp/request:tools/call:echo\"}");
    world_says(w, "bob",
               "{\"id\":\"a1\",\"to\":[\"alice\"],\"kind\":\"mcp/response:tools/call\","
               "\"correlation_id\":\"q1\"}");
    world_expect(w, "alice < mcp/request:tools/call:echo q1 from alice\n"
                    "alice < mcp/response:tools/call:echo a1 from bob\n"
                    "bob < mcp/request:tools/call:echo q1 from alice\n"
                    "bob < mcp/response:tools/call:echo a1 from bob\n"
                    "carol < mcp/request:tools/call:echo q1 from alice\n"
                    "carol < mcp/response:tools/call:echo a1 from bob\n");
}

Test(conversation, a_fulfilment_takes_the_context_of_its_proposal)
{
    struct world *w = two("mcp/proposal:*", "mcp/request:*");

    world_says(w, "alice", "{\"id\":\"p1\",\"kind\":\"mcp/proposal:tools/call:rm\"}");
    world_says(w, "bob",
               "{\"id\":\"f1\",\"kind\":\"mcp/request:tools/call\","
               "\"correlation_id\":\"p1\"}");
    world_expect(w, "alice < mcp/proposal:tools/call:rm p1 from alice\n"
                    "alice < mcp/request:tools/call:rm f1 from bob\n"
                    "bob < mcp/proposal:tools/call:rm p1 from alice\n"
                    "bob < mcp/request:tools/call:rm f1 from bob\n");
}

Test(conversation, the_completed_kind_is_the_one_that_needs_a_grant)
{
    struct world *w = two("mcp/request:*", "mcp/response:tools/call:echo");

    world_says(w, "alice", "{\"id\":\"q1\",\"kind\":\"mcp/request:tools/call:rm\"}");
    world_skip(w);
    world_says(w, "bob",
               "{\"id\":\"a1\",\"kind\":\"mcp/response:tools/call\","
               "\"correlation_id\":\"q1\"}");
    world_expect(w, "bob < error capability_violation re a1 reason=no_matching_grant "
                    "would_allow=mcp/response:tools/call:rm\n");
    world_says(w, "alice", "{\"id\":\"q2\",\"kind\":\"mcp/request:tools/call:echo\"}");
    world_skip(w);
    world_says(w, "bob",
               "{\"id\":\"a2\",\"kind\":\"mcp/response:tools/call\","
               "\"correlation_id\":\"q2\"}");
    world_expect(w, "alice < mcp/response:tools/call:echo a2 from bob\n"
                    "bob < mcp/response:tools/call:echo a2 from bob\n");
}

Test(conversation, a_completed_kind_is_quoted_again)
{
    struct world *w = two("* mcp/*", "*");

    world_says(w, "alice", "{\"id\":\"o\",\"kind\":\"mcp/request:tools/call:\\\"q\\\\\"}");
    world_says(w, "bob",
               "{\"id\":\"n\",\"kind\":\"mcp/response:tools/call\","
               "\"correlation_id\":\"o\"}");
    world_skip(w);
    cr_expect_not_null(
        strstr(world_last(w, "alice"), "\"kind\":\"mcp/response:tools/call:\\\"q\\\\\""));
}

Test(conversation, nothing_is_derived_when_the_setting_is_off)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.derive_kinds = false;
    w = world_with(&config);
    world_joins(w, "alice", "*");
    world_says(w, "alice", "{\"id\":\"q\",\"kind\":\"mcp/request:tools/call:x\"}");
    world_skip(w);
    world_says(w, "alice",
               "{\"id\":\"a\",\"kind\":\"mcp/response:tools/call\","
               "\"correlation_id\":\"q\"}");
    world_expect(w, "alice < mcp/response:tools/call a from alice\n");
}

Test(conversation, a_forgotten_request_completes_nothing)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.history_count = 1;
    w = world_with(&config);
    world_joins(w, "alice", "*");
    world_says(w, "alice", "{\"id\":\"q\",\"kind\":\"mcp/request:tools/call:x\"}");
    world_says(w, "alice", "{\"id\":\"c\",\"kind\":\"chat\"}");
    world_skip(w);
    world_says(w, "alice",
               "{\"id\":\"a\",\"kind\":\"mcp/response:tools/call\","
               "\"correlation_id\":\"q\"}");
    world_expect(w, "alice < mcp/response:tools/call a from alice\n");
}

/* The longest request's kind has no room for the one byte that "response" is longer. */
Test(conversation, the_longest_kind_stays_short_rather_than_too_long)
{
    struct world *w = two("*", "*");
    static char text[4096];
    char context[2048 - 23 + 1];

    memset(context, 'x', sizeof context - 1);
    context[sizeof context - 1] = '\0';
    snprintf(text, sizeof text, "{\"id\":\"q\",\"kind\":\"mcp/request:tools/call:%s\"}",
             context);
    cr_assert_eq(world_says(w, "alice", text), MCPX_OK);
    world_skip(w);
    cr_assert_eq(world_says(w, "bob",
                            "{\"id\":\"a\",\"kind\":\"mcp/response:tools/call\","
                            "\"correlation_id\":\"q\"}"),
                 MCPX_OK);
    world_expect(w, "alice < mcp/response:tools/call a from bob\n"
                    "bob < mcp/response:tools/call a from bob\n");
}

Test(conversation, a_message_with_from_and_ts_arrives_byte_for_byte)
{
    static const char text[] =
        " {\"ts\" : \"2026-01-01T00:00:00Z\",\n\t\"x-extra\":[1e400,{\"a\":1,\"a\":2}],"
        "\"protocol\":\"mcpx/v0.1\",\"payload\":{\"n\":12345678901234567890,\"e\":1e400,"
        "\"f\":1.10,\"z\":-0,\"s\":\"\\u0000\\ud800\",\"k\":1,\"k\":2}, \"from\":\"alice\" ,"
        "\"k\\u0069nd\":\"ch\\u0061t\",\"id\":\"m\\u0031\"} \r\n";
    struct world *w = two("chat", "");

    cr_assert_eq(world_says_bytes(w, "alice", text, sizeof text - 1), MCPX_OK);
    world_skip(w);
    cr_expect_str_eq(world_last(w, "bob"), text);
    cr_expect_str_eq(world_last(w, "alice"), text, "the echo is the same text");
}

Test(conversation, what_the_sender_left_out_is_put_in_and_nothing_else_changes)
{
    static const struct {
        const char *sent, *delivered;
    } rows[] = {
        {"{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"kind\":\"chat\",\"payload\":{}}",
         "{\"from\":\"alice\",\"ts\":\"2026-01-01T00:00:00.050Z\",\"protocol\":\"mcpx/v0.1\","
         "\"id\":\"1\",\"kind\":\"chat\",\"payload\":{}}"},
        {" {\"protocol\":\"mcpx/v0.1\",\"from\":\"alice\",\"id\":\"2\",\"kind\":\"chat\","
         "\"payload\":{ }}",
         " {\"ts\":\"2026-01-01T00:00:00.050Z\",\"protocol\":\"mcpx/v0.1\",\"from\":\"alice\","
         "\"id\":\"2\",\"kind\":\"chat\",\"payload\":{ }}"},
        {"{\"ts\":\"whenever\",\"protocol\":\"mcpx/v0.1\",\"id\":\"3\",\"kind\":\"chat\","
         "\"payload\":{}}",
         "{\"from\":\"alice\",\"ts\":\"whenever\",\"protocol\":\"mcpx/v0.1\",\"id\":\"3\","
         "\"kind\":\"chat\",\"payload\":{}}"},
        {"{\"kind\" : \"mcp/response:tools/call\" ,\"protocol\":\"mcpx/v0.1\",\"id\":\"4\","
         "\"correlation_id\":\"0\",\"from\":\"alice\",\"ts\":\"t\",\"payload\":{}}",
         "{\"kind\" : \"mcp/response:tools/call:x\\\"y\" "
         ",\"protocol\":\"mcpx/v0.1\",\"id\":\"4\","
         "\"correlation_id\":\"0\",\"from\":\"alice\",\"ts\":\"t\",\"payload\":{}}"},
        {"{\"protocol\":\"mcpx/v0.1\",\"id\":\"5\",\"payload\":{},\"correlation_id\":\"0\","
         "\"kind\":\"mcp/response:tools/call\"}",
         "{\"from\":\"alice\",\"ts\":\"2026-01-01T00:00:00.050Z\",\"protocol\":\"mcpx/v0.1\","
         "\"id\":\"5\",\"payload\":{},\"correlation_id\":\"0\","
         "\"kind\":\"mcp/response:tools/call:x\\\"y\"}"},
    };
    struct world *w = two("*", "*");

    cr_assert_eq(
        world_says(w, "bob", "{\"id\":\"0\",\"kind\":\"mcp/request:tools/call:x\\\"y\"}"),
        MCPX_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_assert_eq(world_says(w, "alice", rows[i].sent), MCPX_OK, "%s", rows[i].sent);
        world_skip(w);
        cr_expect_str_eq(world_last(w, "bob"), rows[i].delivered);
    }
}
