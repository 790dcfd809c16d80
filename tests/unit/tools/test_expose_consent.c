/*
 * What breaks for whom: a client that may only propose must be able to work like any other, wait
 * for a person without giving up, and learn what the person decided; and nobody but a server that
 * works for it may put questions before its user. Protocol: section 6 (alternative).
 */
#include "tests/unit/tools/expose_world.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct world_server s = {"s", "{\"name\":\"t\"},{\"name\":\"u\"}",
                                      "{\"uri\":\"demo://1\"}", NULL, NULL};

/* Everything but calling tools itself; "u" not even as a proposal. */
static const struct world_setup proposer = {
    .grants = {"mcp/request:initialize", "mcp/request:*/list", "mcp/request:notifications/*",
               "mcp/proposal:tools/call:t", "mcp/proposal:resources/*", "mcp/withdraw"}};

#define CALL_T                                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"s__t\"}}"
#define CALL_T_TOKEN                                                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"s__t\","  \
    "\"_meta\":{\"progressToken\":\"k\"}}}"
#define HEARTBEAT(number, text)                                                               \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"                  \
    "{\"progressToken\":\"k\",\"progress\":" number ",\"message\":\"" text "\"}}"

Test(consent, lists_what_may_be_proposed_and_nothing_else)
{
    struct world world;

    world_start(&world, &proposer);
    world_serve(&world, &s, 1);
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":["
                         "{\"name\":\"s__t\"}]}}");
    world_stop(&world);
}

Test(consent, turns_a_call_into_a_proposal_and_its_fulfilment_into_the_answer)
{
    struct mcpx_event fulfilling = {.type = MCPX_EVENT_FULFILLING, .same = true};
    struct world world;
    const struct world_draft *draft;

    world_start(&world, &proposer);
    world_serve(&world, &s, 1);
    world_say(&world, CALL_T_TOKEN);
    world_expect_draft(&world, "mcp/proposal s {\"method\":\"tools/call\",\"params\":"
                               "{\"name\":\"t\"}}");
    cr_expect_eq(world.drafts[world.draft_seen - 1].expires_ms, world.now.wall_ms + 60000);
    draft = &world.drafts[world.draft_seen - 1];
    world_expect(&world, HEARTBEAT("1", "waiting for approval of tools/call 't' to 's'"));
    world_wait(&world, 14999);
    cr_expect(world_is_quiet(&world));
    world_wait(&world, 1);
    world_expect(&world, HEARTBEAT("2", "waiting for approval of tools/call 't' to 's'"));
    fulfilling.tag = draft->tag;
    world_event_with(&world, &fulfilling, "human",
                     "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\"}");
    world_expect(&world,
                 HEARTBEAT("3", "approved, waiting for the answer of tools/call 't' to 's'"));
    world_event(&world, MCPX_EVENT_RESPONSE, draft, "s",
                "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"content\":[]}}");
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}");
    world_wait(&world, 100000);
    cr_expect(world_is_quiet(&world), "no sign of life of the dead");
    world_stop(&world);
}

Test(consent, warns_when_something_else_was_approved)
{
    struct mcpx_event fulfilling = {.type = MCPX_EVENT_FULFILLING, .same = false};
    struct world world;

    world_start(&world, &proposer);
    world_serve(&world, &s, 1);
    world_say(&world, CALL_T);
    fulfilling.tag = world_draft(&world)->tag;
    cr_expect(world_is_quiet(&world), "without a token nothing can be said");
    world_event_with(&world, &fulfilling, "human",
                     "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\"}");
    cr_expect_not_null(strstr(world_line(&world), "with other params than were proposed"));
    cr_expect_not_null(strstr(world.notes, "with other params than were proposed"));
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

Test(consent, tells_a_model_that_and_why_it_was_rejected)
{
    struct world world;

    world_start(&world, &proposer);
    world_serve(&world, &s, 1);
    world_say(&world, CALL_T);
    world_event(&world, MCPX_EVENT_REJECTED, world_draft(&world), "human",
                "{\"reason\":\"not \\\"today\\\"\"}");
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":"
                         "\"text\",\"text\":\"'human' rejected tools/call 't' to 's': not "
                         "\\\"today\\\"\"}],\"isError\":true}}");
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/read\",\"params\":"
                      "{\"uri\":\"demo://1\"}}");
    world_event(&world, MCPX_EVENT_REJECTED, world_draft(&world), "human", "{}");
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32003,\"message\":"
                 "\"'human' rejected resources/read 'demo://1' to 's'\"}}");
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

Test(consent, withdraws_what_nobody_decided_and_what_nobody_waits_for)
{
    struct world world;

    world_start(&world, &proposer);
    world_serve(&world, &s, 1);
    world_say(&world, CALL_T);
    world_draft(&world);
    world_wait(&world, 60000);
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32001,\"message\":"
                 "\"nobody decided in time about the proposal to 's' within 60 s\"}}");
    world_expect_draft(&world, "mcp/withdraw s about e7 {\"reason\":\"the client no longer "
                               "waits\"}");
    world_say(&world, CALL_T);
    world_draft(&world);
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                      "{\"requestId\":1}}");
    world_expect_draft(&world, "mcp/withdraw s about e9 {\"reason\":\"the client no longer "
                               "waits\"}");
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

/* Who cannot take a proposal back leaves calls open that somebody may still run. */
Test(consent, warns_who_may_propose_and_not_withdraw)
{
    static const struct {
        struct world_setup setup;
        bool warns;
    } rows[] = {
        {{.grants = {"mcp/request:*", "mcp/proposal:*"}}, false},
        {{.grants = {"mcp/request:*/list", "mcp/request:initialize", "mcp/proposal:*",
                     "mcp/withdraw"}},
         false},
        {{.grants = {"mcp/request:*/list", "mcp/request:initialize", "mcp/proposal:*"}},
         true}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world world;
        const char *warning;

        world_start(&world, &rows[i].setup);
        world_serve(&world, &s, 1);
        world_say(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
        warning = world.notes ? strstr(world.notes, "no grant for mcp/withdraw") : NULL;
        cr_expect_eq(warning != NULL, rows[i].warns, "%zu: %s", i, world.notes);
        cr_expect(!warning || !strstr(warning + 1, "no grant for mcp/withdraw"), "said once");
        world_stop(&world);
    }
}

Test(consent, proposes_what_the_router_refused)
{
    struct mcpx_event refused = {.type = MCPX_EVENT_REFUSED,
                                 .err = MCPX_ECAPABILITY,
                                 .alternative = MCPX_SLICE("mcp/proposal:tools/call:t")};
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    world_say(&world, CALL_T);
    refused.tag = world_draft(&world)->tag;
    world_event_with(&world, &refused, "system:gateway", "{}");
    world_expect_draft(&world, "mcp/proposal s {\"method\":\"tools/call\",\"params\":"
                               "{\"name\":\"t\"}}");
    cr_expect_eq(world.drafts[world.draft_seen - 1].expires_ms, world.now.wall_ms + 60000);
    refused.tag = world.drafts[world.draft_seen - 1].tag;
    world_event_with(&world, &refused, "system:gateway",
                     "{\"would_allow\":\"mcp/request:tools/call:t\"}");
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32002,\"message\":"
                 "\"no grant covers tools/call 't' to 's', neither as request nor as "
                 "proposal\",\"data\":{\"kind\":\"mcp/request:tools/call:t\","
                 "\"would_allow\":\"mcp/request:tools/call:t\"}}}");
    world_stop(&world);
}

Test(consent, says_what_grant_is_missing)
{
    struct world world;

    world_start(&world, &(struct world_setup){
                            .grants = {"mcp/request:initialize", "mcp/request:*/list"}});
    world_serve(&world, &s, 1);
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":"
                      "{\"uri\":\"demo://x\"}}");
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32002,\"message\":"
                 "\"no grant covers resources/read 'demo://x' to 's', neither as request "
                 "nor as proposal\",\"data\":{\"kind\":"
                 "\"mcp/request:resources/read:demo://x\",\"would_allow\":"
                 "\"mcp/request:resources/read:demo://x\"}}}");
    cr_expect(world_is_quiet(&world), "nothing was sent");
    world_stop(&world);
}

Test(consent, says_what_cannot_be_proposed)
{
    struct world world;

    world_start(&world, &proposer);
    world_serve(&world, &s, 1);
    world.send_fails = MCPX_ELIMIT;
    world_say(&world, CALL_T_TOKEN);
    cr_expect_not_null(
        strstr(world_line(&world), "the call needs approval, but could not be proposed: "));
    cr_expect(world_is_quiet(&world), "it waits for nobody");
    cr_expect_null(world.notes);
    cr_expect(expose_is_idle(world.expose));
    world_stop(&world);
}

/* ---- servers ask ---- */

#define ASK                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":"         \
    "{\"message\":\"?\"}}"

Test(ask, passes_a_question_of_who_works_for_the_client)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    world_say(&world, CALL_T);
    world_draft(&world);
    world_event(&world, MCPX_EVENT_REQUEST, NULL, "s", ASK);
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\","
                         "\"params\":{\"message\":\"?\"}}");
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\"}}");
    cr_expect_str_eq(world.responses, "theirs {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":"
                                      "{\"action\":\"accept\"}}\n");
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\"}}");
    cr_expect(world_is_quiet(&world), "answered once");
    world_stop(&world);
}

Test(ask, refuses_who_was_not_asked_and_what_the_client_cannot)
{
    static const struct {
        const char *from, *payload, *code;
    } rows[] = {
        {"other", ASK, "-32002"},
        {"s", "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"sampling/createMessage\"}",
         "-32601"},
        {"s", "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"tools/list\"}", "-32601"},
        {"s", "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"ping\"}", "\"result\":{}"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;

        world_start(&world, &(struct world_setup){0});
        world_serve(&world, &s, 1);
        world_say(&world, CALL_T);
        world_draft(&world);
        world_event(&world, MCPX_EVENT_REQUEST, NULL, rows[i].from, rows[i].payload);
        cr_assert_not_null(world.responses, "%zu", i);
        cr_expect_not_null(strstr(world.responses, rows[i].code), "%zu: %s", i,
                           world.responses);
        cr_expect(world_is_quiet(&world), "%zu", i);
        world_stop(&world);
    }
}

/* Whoever answers every ping has no rate left for what its client asks. */
Test(ask, is_answered_by_the_bridge_itself_at_a_bounded_rate)
{
    static const struct {
        const char *who, *method;
        size_t from, to; /* names who0, who1, ... */
        int64_t pause_ms;
        size_t each, answered; /* so many of each; so many answers in all */
    } rows[] = {
        {"mallory", "ping", 0, 1, 0, 100, 10},       /* a burst */
        {"mallory", "tools/list", 0, 1, 0, 100, 10}, /* refusals are answers, too */
        {"mallory", "ping", 0, 1, 100, 600, 69},     /* then one a second */
        {"mallory~", "ping", 1, 9, 0, 20, 10},       /* instances are one participant */
        {"many", "ping", 0, 30, 0, 20, 60},          /* and all together */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        char who[32], payload[96];
        size_t answered = 0;

        world_start(&world, &(struct world_setup){0});
        world_serve(&world, &s, 1);
        snprintf(payload, sizeof payload, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"}",
                 rows[i].method);
        for (size_t n = 0; n < rows[i].each; n++)
            for (size_t one = rows[i].from; one < rows[i].to; one++) {
                snprintf(who, sizeof who, "%s%zu", rows[i].who, one);
                world_event(&world, MCPX_EVENT_REQUEST, NULL, who, payload);
                world.now.mono_ms += rows[i].pause_ms;
            }
        for (const char *at = world.responses; at && *at; at++)
            answered += *at == '\n';
        cr_expect_eq(answered, rows[i].answered, "%zu: %zu", i, answered);
        cr_expect_eq(answered + world.dropped, rows[i].each * (rows[i].to - rows[i].from),
                     "%zu", i);
        world_stop(&world);
    }
}

Test(ask, needs_a_call_under_way_and_ends_with_its_asker)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    world_event(&world, MCPX_EVENT_REQUEST, NULL, "s", ASK);
    cr_assert_not_null(world.responses);
    cr_expect_not_null(strstr(world.responses, "-32002"));
    world_say(&world, CALL_T);
    world_draft(&world);
    world_event(&world, MCPX_EVENT_REQUEST, NULL, "s", ASK);
    world_line(&world);
    world_go(&world, "s");
    world_line(&world); /* the call */
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                         "\"params\":{\"requestId\":1}}");
    world_stop(&world);
}

/* What breaks for whom: the server waits for an answer that was given, and was too big to send. */
Test(ask, says_that_an_answer_is_too_big)
{
    static const struct {
        size_t narrow;
        const char *note, *code;
    } rows[] = {{400, "the client's answer of 456 bytes does not fit", "-32000"},
                {1, "a server's request could not be answered: ", NULL}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char answer[512];
        struct world world;

        world_start(&world, &(struct world_setup){0});
        world_serve(&world, &s, 1);
        world_say(&world, CALL_T);
        world_draft(&world);
        world_event(&world, MCPX_EVENT_REQUEST, NULL, "s", ASK);
        world_line(&world);
        world.narrow = rows[i].narrow;
        snprintf(answer, sizeof answer,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"%0*d\"}}", 412, 0);
        world_say(&world, answer);
        cr_expect_not_null(strstr(world.notes, rows[i].note), "%s", world.notes);
        cr_expect_eq(world.responses != NULL, rows[i].code != NULL, "%zu", i);
        if (rows[i].code && world.responses)
            cr_expect_not_null(strstr(world.responses, rows[i].code), "%s", world.responses);
        cr_expect(world_is_quiet(&world), "%zu", i);
        world_stop(&world);
    }
}
