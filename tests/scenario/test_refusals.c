/*
 * What breaks for whom: a sender left without an answer; a bystander that receives what was
 * refused; a receiver fooled because it reads a message otherwise than the router did.
 * Protocol: sections 1 (order of checks), 2 (reserved kinds), 3 and 6 (errors), 8 (rates).
 */
#include "lib/base/scoped.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(refusals, .fini = world_end);

/* Alice may chat and propose; bob is a bystander who must never notice anything. */
static struct world *alice_and_bob(void)
{
    struct world *w = world_new();

    world_joins(w, "alice", "chat mcp/proposal:*");
    world_joins(w, "bob", "*");
    world_says(w, "alice", "{\"id\":\"taken\",\"kind\":\"chat\"}");
    world_skip(w);
    return w;
}

#define HEAD "{\"protocol\":\"mcpx/v0.1\",\"id\":\"x\",\"kind\":\"chat\",\"payload\":{}"

Test(refusals, each_fault_is_answered_and_nobody_else_notices)
{
    static const struct {
        const char *text, *answer;
    } rows[] = {
        {HEAD "} {}", "error invalid_envelope"},
        {HEAD "}x", "error invalid_envelope"},
        {HEAD ",}", "error invalid_envelope"},
        {"\xef\xbb\xbf" HEAD "}", "error invalid_envelope"},
        {"[]", "error invalid_envelope"},
        {"\"text\"", "error invalid_envelope"},
        {"", "error invalid_envelope"},
        {HEAD ",\"kind\":\"chat\"}", "error invalid_envelope re x field=kind"},
        {HEAD ",\"k\\u0069nd\":\"system/welcome\"}", "error invalid_envelope re x field=kind"},
        {HEAD ",\"extra\":1,\"extra\":2}", "error invalid_envelope re x"},
        {HEAD ",\"to\":\"bob\"}", "error invalid_envelope re x field=to"},
        {HEAD ",\"to\":null}", "error invalid_envelope re x field=to"},
        {HEAD ",\"to\":[1]}", "error invalid_envelope re x field=to"},
        {HEAD ",\"to\":[\"\"]}", "error invalid_envelope re x field=to"},
        {HEAD ",\"ts\":1}", "error invalid_envelope re x field=ts"},
        {HEAD ",\"correlation_id\":null}", "error invalid_envelope re x field=correlation_id"},
        {HEAD ",\"correlation_id\":\"\"}", "error invalid_envelope re x field=correlation_id"},
        {HEAD ",\"from\":\"a\\u0000\"}", "error invalid_envelope re x field=from"},
        {HEAD ",\"ts\":\"\\ud800\"}", "error invalid_envelope re x field=ts"},
        {"{\"protocol\":\"mcpx/v0.2\",\"id\":\"x\",\"kind\":\"chat\",\"payload\":{}}",
         "error invalid_envelope re x field=protocol"},
        {"{\"id\":\"x\",\"kind\":\"chat\",\"payload\":{},\"protocol\":1}",
         "error invalid_envelope re x field=protocol"},
        {"{\"protocol\":\"mcpx/v0.1\",\"kind\":\"chat\",\"payload\":{}}",
         "error invalid_envelope field=id"},
        {"{\"protocol\":\"mcpx/v0.1\",\"id\":7,\"kind\":\"chat\",\"payload\":{}}",
         "error invalid_envelope field=id"},
        {"{\"protocol\":\"mcpx/v0.1\",\"id\":\"x\",\"payload\":{}}",
         "error invalid_envelope re x field=kind"},
        {"{\"protocol\":\"mcpx/v0.1\",\"id\":\"x\",\"kind\":\"chat\"}",
         "error invalid_envelope re x field=payload"},
        {"{\"protocol\":\"mcpx/v0.1\",\"id\":\"x\",\"kind\":\"chat\",\"payload\":[]}",
         "error invalid_envelope re x field=payload"},
        {"{\"protocol\":\"mcpx/v0.1\",\"id\":\"x\",\"kind\":\"a::b\",\"payload\":{}}",
         "error invalid_envelope re x field=kind"},
        {HEAD ",\"from\":\"bob\"}", "error auth_violation re x"},
        {HEAD ",\"from\":\"alic\"}", "error auth_violation re x"},
        {"{\"id\":\"x\",\"kind\":\"system/presence\"}",
         "error capability_violation re x reason=reserved_namespace"},
        {"{\"id\":\"x\",\"kind\":\"SyStem\"}",
         "error capability_violation re x reason=reserved_namespace"},
        {"{\"id\":\"x\",\"kind\":\"presence:join\"}",
         "error capability_violation re x reason=reserved_namespace"},
        {"{\"id\":\"x\",\"kind\":\"chat/x\"}",
         "error capability_violation re x reason=no_matching_grant would_allow=chat/x"},
        {"{\"id\":\"x\",\"kind\":\"mcp/request:tools/call:rm\"}",
         "error capability_violation re x reason=no_matching_grant "
         "would_allow=mcp/request:tools/call:rm alternative=mcp/proposal:tools/call:rm"},
        {"{\"id\":\"taken\",\"kind\":\"chat\"}", "error duplicate_id re taken"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *w = alice_and_bob();
        char wanted[512], *reason;
        struct mcpx_text lines = {0};

        cr_expect_neq(world_says(w, "alice", rows[i].text), MCPX_OK, "%s", rows[i].text);
        world_read(w, &lines);
        reason = strstr(lines.text, " reason=");
        if (reason && strstr(lines.text, "invalid_envelope"))
            strcpy(reason,
                   "\n"); /* its wording is envelope.c's; here it only has to be there */
        snprintf(wanted, sizeof wanted, "alice < %s\n", rows[i].answer);
        cr_expect_str_eq(lines.text, wanted, "%s gave %s", rows[i].text, lines.text);
        cr_expect_eq(reason != NULL,
                     strstr(rows[i].answer, "auth") == NULL &&
                         strstr(rows[i].answer, "duplicate") == NULL,
                     "%s", rows[i].text);
        mcpx_text_fini(&lines);
        world_says(w, "alice", "{\"id\":\"after\",\"kind\":\"chat\"}");
        world_expect(w, "alice < chat after from alice\n"
                        "bob < chat after from alice\n");
    }
}

/* Each message has two faults; the one that section 1 names first answers. */
Test(refusals, the_first_fault_in_the_order_of_section_1_answers)
{
    static const struct {
        const char *text, *answer, *why;
    } rows[] = {
        {"{\"a\":1,\"a\":2,", "invalid_envelope", "JSON before duplicate names"},
        {HEAD ",\"kind\":\"chat\",\"to\":1}", "field=kind", "duplicate names before types"},
        {"{\"protocol\":\"no\",\"id\":\"x\",\"kind\":\"chat\",\"payload\":{},\"to\":1}",
         "field=to", "types before protocol"},
        {"{\"protocol\":\"no\",\"id\":\"x\",\"kind\":\"chat\",\"payload\":{},\"ts\":"
         "\"\\u0007\"}",
         "field=ts", "control characters before protocol"},
        {"{\"protocol\":\"no\",\"id\":\"x\",\"kind\":\"chat\",\"payload\":{},\"from\":"
         "\"bob\"}",
         "field=protocol", "protocol before from"},
        {"{\"id\":\"x\",\"kind\":\"system/x\",\"from\":\"bob\"}", "auth_violation",
         "from before reserved kinds"},
        {"{\"id\":\"taken\",\"kind\":\"system/x\"}", "reserved_namespace",
         "reserved kinds before duplicate ids"},
        {"{\"id\":\"taken\",\"kind\":\"nope\"}", "duplicate_id",
         "duplicate ids before capabilities"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *w = alice_and_bob();
        struct mcpx_text lines = {0};

        world_says(w, "alice", rows[i].text);
        world_read(w, &lines);
        cr_expect_not_null(strstr(lines.text, rows[i].answer), "%s: %s", rows[i].why,
                           lines.text);
        mcpx_text_fini(&lines);
    }
}

/* Whether the router has read it whole or the edge has only seen how long it claims to be. */
Test(refusals, what_is_too_big_or_binary_is_answered_with_a_reason_and_closed)
{
    static const struct {
        enum mcpx_err err;
        const char *answer;
    } rows[] = {
        {MCPX_ETOOBIG, "error invalid_envelope reason=longer than a message may be\n"
                       "alice < close 1009\n"},
        {MCPX_EBINARY, "error invalid_envelope reason=expected a text message\n"
                       "alice < close 1003\n"},
        {MCPX_OK, "error invalid_envelope reason=longer than a message may be\n"
                  "alice < close 1009\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hub_config config = hub_config_default();
        struct world *w;
        struct mcpx_text lines = {0};
        struct hub *hub;

        config.message_bytes = 50;
        w = world_with(&config);
        hub = world_hub(w);
        world_joins(w, "alice", "chat");
        world_skip(w);
        if (rows[i].err)
            hub_refuse(
                hub, topic_peer(hub_topic_find(hub, MCPX_SLICE("room")), MCPX_SLICE("alice")),
                rows[i].err, world_now(w));
        else
            cr_expect_eq(world_says(w, "alice", "{\"id\":\"1\",\"kind\":\"chat\"}"),
                         MCPX_ETOOBIG);
        world_read(w, &lines);
        cr_expect_str_eq(lines.text + strlen("alice < "), rows[i].answer, "%s", lines.text);
        mcpx_text_fini(&lines);
    }
}

Test(refusals, text_that_is_not_utf8_ends_the_connection_with_1007)
{
    struct world *w = alice_and_bob();
    mx_scoped_text lines = {0};

    cr_expect_eq(world_says(w, "alice", "{\"a\" 1, \"b\":\"\xc3\x28\"}"), MCPX_EUTF8,
                 "UTF-8 comes before JSON");
    world_read(w, &lines);
    cr_expect_not_null(strstr(lines.text, "alice < error invalid_envelope"));
    cr_expect_not_null(strstr(lines.text, "alice < close 1007\n"));
    cr_expect_not_null(strstr(lines.text, "bob < presence leave alice (invalid_envelope)\n"));
}

Test(refusals, a_refused_message_leaves_no_trace_and_its_id_is_free)
{
    struct world *w = alice_and_bob();

    world_says(w, "alice", "{\"id\":\"x\",\"kind\":\"nope\"}");
    world_skip(w);
    world_says(w, "alice", "{\"id\":\"x\",\"kind\":\"chat\"}");
    world_joins(w, "carol", "");
    world_expect(w, "alice < chat x from alice\n"
                    "alice < presence join carol\n"
                    "bob < chat x from alice\n"
                    "bob < presence join carol\n"
                    "carol < welcome carol [] with alice,bob; head x; history 2\n"
                    "carol < history taken x complete\n"
                    "carol < presence join carol\n");
}

Test(refusals, conditions_of_a_grant_are_named_when_they_fail)
{
    struct world *w = world_new();

    world_joins(w, "alice", "chat to=bob mcp/request:ping expires=10000");
    world_skip(w);
    world_says(w, "alice", "{\"id\":\"1\",\"kind\":\"chat\"}");
    world_says(w, "alice", "{\"id\":\"2\",\"kind\":\"chat\",\"to\":[\"bob\",\"carol\"]}");
    world_says(w, "alice", "{\"id\":\"3\",\"kind\":\"chat\",\"to\":[\"bob\"]}");
    world_says(w, "alice", "{\"id\":\"4\",\"kind\":\"mcp/request:ping\"}");
    world_expect(w, "alice < error capability_violation re 1 reason=target_not_allowed "
                    "would_allow=chat\n"
                    "alice < error capability_violation re 2 reason=target_not_allowed "
                    "would_allow=chat\n"
                    "alice < chat 3 from alice\n"
                    "alice < mcp/request:ping 4 from alice\n");
    world_waits(w, 10000);
    world_says(w, "alice", "{\"id\":\"5\",\"kind\":\"mcp/request:ping\"}");
    world_expect(w, "alice < welcome again alice [chat]; head 4\n"
                    "alice < error capability_violation re 5 reason=grant_expired "
                    "would_allow=mcp/request:ping\n"
                    "alice < presence update alice\n");
}

Test(refusals, a_denial_beats_every_grant)
{
    struct world *w = world_new();

    world_arrives(w, "alice",
                  &(struct arrival){.grants = "*", .deny = "mcp/request:tools/call:rm*"});
    world_skip(w);
    world_says(w, "alice", "{\"id\":\"1\",\"kind\":\"mcp/request:tools/call:rmdir\"}");
    world_says(w, "alice", "{\"id\":\"2\",\"kind\":\"mcp/request:tools/call:ls\"}");
    world_skip(w);
    cr_expect_not_null(strstr(world_last(w, "alice"), "\"2\""));
    cr_expect_eq(hub_stats(world_hub(w))->refused[MCPX_ECAPABILITY], 1);
}

Test(refusals, rates_say_when_to_come_back)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.messages_per_minute = 60;
    w = world_with(&config);
    world_joins(w, "alice", "chat");
    for (int i = 0; i < 60; i++) {
        char text[64];

        snprintf(text, sizeof text, "{\"id\":\"m%d\",\"kind\":\"chat\"}", i);
        cr_assert_eq(world_says(w, "alice", text), MCPX_OK);
    }
    world_skip(w);
    world_says(w, "alice", "{\"id\":\"late\",\"kind\":\"chat\"}");
    world_expect(w, "alice < error rate_limited re late retry_after_ms=1000\n");
    world_waits(w, 999);
    world_says(w, "alice", "{\"id\":\"late\",\"kind\":\"chat\"}");
    world_expect(w, "alice < error rate_limited re late retry_after_ms=1\n");
    world_waits(w, 1);
    world_says(w, "alice", "{\"id\":\"late\",\"kind\":\"chat\"}");
    world_expect(w, "alice < chat late from alice\n");
}

Test(refusals, a_new_connection_does_not_fill_the_participants_bucket)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.messages_per_minute = 2;
    w = world_with(&config);
    world_joins(w, "alice", "chat");
    world_says(w, "alice", "{\"id\":\"1\",\"kind\":\"chat\"}");
    world_says(w, "alice", "{\"id\":\"2\",\"kind\":\"chat\"}");
    world_drops(w, "alice");
    world_joins(w, "alice", "chat");
    world_skip(w);
    world_says(w, "alice", "{\"id\":\"3\",\"kind\":\"chat\"}");
    world_expect(w, "alice < error rate_limited re 3 retry_after_ms=29950\n");
}

Test(refusals, bytes_have_a_rate_of_their_own)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.bytes_per_minute = 100;
    w = world_with(&config);
    world_joins(w, "alice", "chat");
    world_skip(w);
    world_says(w, "alice", "{\"id\":\"1\",\"kind\":\"chat\"}"); /* 60 bytes as said */
    world_skip(w);
    world_says(w, "alice", "{\"id\":\"2\",\"kind\":\"chat\"}");
    world_expect(w, "alice < error rate_limited re 2 retry_after_ms=12000\n");
}

Test(refusals, who_floods_in_spite_of_warnings_is_shown_the_door)
{
    struct world *w = alice_and_bob();
    int answered = 0;

    while (world_says(w, "alice", "[]") == MCPX_EINVALID)
        answered++;
    cr_expect_eq(answered, 601, "answered %d times", answered);
    world_skip(w);
    world_says(w, "bob", "{\"id\":\"b\",\"kind\":\"chat\"}");
    world_expect(w, "bob < chat b from bob\n");
    cr_expect_eq(hub_stats(world_hub(w))->closed[MCPX_EFLOOD], 1);
}

Test(refusals, what_is_refused_behind_the_rate_has_been_counted_and_before_it_has_not)
{
    static const struct {
        const char *text;
        enum mcpx_err after;
    } rows[] = {{"{\"id\":\"x\",\"kind\":\"a::b\"}", MCPX_OK},
                {"{\"id\":\"x\",\"kind\":\"chat\",\"from\":\"bob\"}", MCPX_OK},
                {"{\"id\":\"x\",\"kind\":\"nope\"}", MCPX_ERATE}};
    struct hub_config config = hub_config_default();

    config.messages_per_minute = 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *w = world_with(&config);

        world_joins(w, "alice", "chat");
        world_says(w, "alice", rows[i].text);
        world_says(w, "alice", rows[i].text);
        cr_expect_eq(world_says(w, "alice", "{\"id\":\"y\",\"kind\":\"chat\"}"), rows[i].after,
                     "%s", rows[i].text);
        world_skip(w);
    }
}
