/*
 * What breaks for whom: connections break, servers die, clients give up. A client that is never
 * answered hangs for ever, and one that is told too early that a server is gone loses an answer
 * that was on its way. Every request ends once, and nobody works for nobody.
 */
#include "tests/unit/tools/expose_world.h"
#include "tools/mcpx-bridge/expose/state.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define INITIALIZE                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"                    \
    "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"                                 \
    "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}"

static const struct world_server s = {
    "s", "{\"name\":\"t\",  \"x\":1e400}", "{\"uri\":\"demo://1\"}",
    "{\"uriTemplate\":\"demo://dyn/{id}\"}", "{\"name\":\"p\"}"};

static const char *request(int id, const char *method, const char *params)
{
    static char line[2048];

    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"%s%s}", id,
             method, params ? ",\"params\":" : "", params ? params : "");
    return line;
}

Test(expose_life, ends_a_call_once_whatever_happens)
{
    static const char call[] = "{\"name\":\"s__t\"}";
    struct world world;
    const struct world_draft *draft;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);

    world_say(&world, request(1, "tools/call", call));
    draft = world_draft(&world);
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                      "{\"requestId\":1,\"reason\":\"bored\"}}");
    world_expect_draft(&world, "mcp/request s about e7 {\"jsonrpc\":\"2.0\",\"method\":"
                               "\"notifications/cancelled\",\"params\":{\"requestId\":6,"
                               "\"reason\":\"bored\"}}");
    world_answer(&world, draft, "{}");
    cr_expect(world_is_quiet(&world), "a cancelled call is not answered");

    world_say(&world, request(2, "tools/call", call));
    world_draft(&world);
    world_wait(&world, 600000);
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32001,\"message\":"
                 "\"no answer from 's' within 600 s\"}}");
    world_draft(&world);

    world_say(&world, request(3, "tools/call", call));
    world_draft(&world);
    world_go(&world, "s");
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32000,\"message\":"
                 "\"participant 's' left the topic\"}}");
    world_wait(&world, 200);
    world.line_seen = world.line_count;
    world_say(&world, request(4, "tools/call", call));
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32000,\"message\":"
                 "\"participant 's' is not in the topic\"}}");
    cr_expect(world_is_quiet(&world));
    cr_expect_null(world.expose->calls.first);
    world_stop(&world);
}

static void lose_topic(struct world *world)
{
    world_tell(world,
               &(struct mcpx_event){.type = MCPX_EVENT_LEFT, .reason = MCPX_SLICE("restart")});
}

Test(expose_life, waits_for_servers_that_lost_the_router_as_it_did)
{
    struct world world;
    const struct world_draft *draft;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    world_say(&world, request(1, "tools/call", "{\"name\":\"s__t\"}"));
    draft = world_draft(&world);
    lose_topic(&world);
    cr_expect_not_null(strstr(world.notes, "out of reach: restart; trying again"));
    world.seat_count = 0;
    world_join(&world);
    world_wait(&world, 9999);
    cr_expect(world_is_quiet(&world), "it may come back");
    world_come(&world, "s");
    cr_expect_not_null(strstr(world_draft(&world)->payload, "initialize"));
    world_answer(&world, draft, "{}");
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    world_wait(&world, 2000);
    cr_expect(world_is_quiet(&world), "its lists are those it had");

    world_say(&world, request(2, "tools/call", "{\"name\":\"s__t\"}"));
    world_draft(&world);
    lose_topic(&world);
    world.seat_count = 0;
    world_join(&world);
    cr_expect_leq(expose_deadline(world.expose), world.now.mono_ms + 10000);
    world_wait(&world, 10000);
    cr_expect_not_null(strstr(world_line(&world), "left the topic"));
    world_stop(&world);
}

Test(expose_life, sends_again_what_was_too_much_for_the_router)
{
    static const struct {
        const char *payload;
        int64_t pause_ms;
    } rows[] = {
        {"{\"retry_after_ms\":250}", 250},
        {"{\"retry_after_ms\":60001}", 60000},
        {"{\"retry_after_ms\":9223372036854775808}", 60000},
        {"{}", 1000},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_event refused = {.type = MCPX_EVENT_REFUSED, .err = MCPX_ERATE};
        struct world world;

        world_start(&world, &(struct world_setup){0});
        world_serve(&world, &s, 1);
        world_say(&world, request(1, "tools/call", "{\"name\":\"s__t\"}"));
        refused.tag = world_draft(&world)->tag;
        world_event_with(&world, &refused, "system:gateway", rows[i].payload);
        world_wait(&world, rows[i].pause_ms - 1);
        cr_expect(world_is_quiet(&world), "too early after %s", rows[i].payload);
        world_wait(&world, 1);
        world_answer(&world, world_draft(&world), "{}");
        world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
        cr_expect(world_is_quiet(&world));
        world_stop(&world);
    }
}

Test(expose_life, says_when_the_router_is_gone_for_good)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    world_say(&world, request(1, "tools/call", "{\"name\":\"s__t\"}"));
    world_draft(&world);
    expose_abandon(world.expose, MCPX_SLICE("gone"));
    world_fetch(&world);
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":"
                 "\"gone\"}}");
    cr_expect(expose_is_idle(world.expose));
    world_stop(&world);
}

Test(expose_life, leaves_nobody_working_for_a_client_that_is_gone)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    world_say(&world, request(1, "tools/call", "{\"name\":\"s__t\"}"));
    world_draft(&world);
    expose_leave(world.expose, world.now);
    world_fetch(&world);
    cr_expect_not_null(strstr(world_draft(&world)->payload, "notifications/cancelled"));
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

static void expect_no_topic(struct world *world, int id, const char *why)
{
    char line[256];

    snprintf(
        line, sizeof line,
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"error\":{\"code\":-32000,\"message\":\"the topic "
        "cannot be reached: %s\"}}",
        id, why);
    world_expect(world, line);
}

Test(expose_life, answers_a_client_whose_topic_cannot_be_reached)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_say(&world, INITIALIZE);
    world_say(&world, request(1, "tools/list", NULL));
    cr_expect(world_is_quiet(&world), "the servers may still come");
    cr_expect_eq(expose_deadline(world.expose), world.now.mono_ms + 20000);
    world_tell(&world, &(struct mcpx_event){.type = MCPX_EVENT_LEFT,
                                            .reason = MCPX_SLICE("connection refused"),
                                            .retry_ms = 500});
    cr_expect(world_is_quiet(&world), "the router may still come");
    world_wait(&world, 20000);
    expect_no_topic(&world, 0, "connection refused");
    expect_no_topic(&world, 1, "connection refused");
    cr_expect_eq(expose_deadline(world.expose), INT64_MAX);
    world_say(&world, request(2, "tools/list", NULL));
    world_wait(&world, 3000);
    expect_no_topic(&world, 2, "connection refused");
    world_stop(&world);
}

/* Full, or as often there as may be: no empty list,
   and no waiting for what will not change soon. */
Test(expose_life, tells_a_client_at_once_why_the_router_refuses)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_say(&world, INITIALIZE);
    world_tell(&world, &(struct mcpx_event){.type = MCPX_EVENT_LEFT,
                                            .code = 409,
                                            .reason = MCPX_SLICE("too often"),
                                            .retry_ms = 500});
    expect_no_topic(&world, 0, "too often");
    world_say(&world, request(1, "tools/list", NULL));
    expect_no_topic(&world, 1, "too often");
    world_join(&world);
    world_say(&world, request(2, "tools/list", NULL));
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[]}}");
    world_stop(&world);
}

static size_t count_renewed(struct world *world)
{
    size_t found = 0;

    for (; world->draft_seen < world->draft_count; world->draft_seen++) {
        const struct world_draft *draft = &world->drafts[world->draft_seen];

        if (strstr(draft->payload, "\"initialize\""))
            world_answer(world, draft, "{\"capabilities\":{\"resources\":{}}}");
        found += strstr(draft->payload, "\"resources/subscribe\",\"params\":{\"uri\":"
                                        "\"demo://1\"}") != NULL;
    }
    return found;
}

static void rejoin(struct world *world, bool resumed)
{
    world_tell(world, &(struct mcpx_event){.type = MCPX_EVENT_LEFT, .retry_ms = 500});
    world_tell(world, &(struct mcpx_event){.type = MCPX_EVENT_JOINED, .resumed = resumed});
}

Test(expose_life, keeps_what_is_watched_watched)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    world_say(&world, request(1, "resources/subscribe", "{\"uri\":\"demo://1\"}"));
    world_answer(&world, world_draft(&world), "{}");
    world_line(&world);
    rejoin(&world, true);
    cr_expect_eq(count_renewed(&world), 0, "nothing was missed");
    rejoin(&world, false);
    cr_expect_eq(count_renewed(&world), 1, "our seat is a new one");
    world_go(&world, "s");
    world_come(&world, "s");
    cr_expect_eq(count_renewed(&world), 1, "its seat is a new one");

    world_say(&world, request(2, "resources/unsubscribe", "{\"uri\":\"demo://1\"}"));
    rejoin(&world, false);
    cr_expect_eq(count_renewed(&world), 0, "no longer watched");
    world_say(&world, request(3, "resources/subscribe", "{\"uri\":\"demo://1\"}"));
    world_event(
        &world, MCPX_EVENT_RESPONSE, world_draft(&world), "s",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"m\"}}");
    rejoin(&world, false);
    cr_expect_eq(count_renewed(&world), 0, "never watched");
    world_stop(&world);
}

Test(expose_life, says_of_what_does_not_fit_how_large_it_is_and_may_be)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    world.send_fails = MCPX_ETOOBIG;
    world_say(&world, request(1, "tools/call", "{\"name\":\"s__t\"}"));
    cr_expect_not_null(
        strstr(world_line(&world),
               "the call could not be sent: a message of 68 bytes does not fit, with "
               "its envelope, into a message of at most 100 bytes (the router's "
               "setting limits.message_bytes)"));
    expose_overlong(world.expose,
                    MCPX_SLICE("{\"id\":5,\"method\":\"tools/call\",\"params\":{"));
    world_fetch(&world);
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32600,\"message\":"
                 "\"a message longer than this bridge reads\"}}");
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

/* What breaks for whom: a session that takes nothing, because it is full, leaves the client
   waiting. */
Test(expose_life, waits_for_nobody_who_cannot_be_asked)
{
    for (int refuses_hello = 0; refuses_hello < 2; refuses_hello++) {
        struct world world;

        world_start(&world, &(struct world_setup){0});
        world.seats[world.seat_count++] = "s";
        world_join(&world);
        world.send_fails = refuses_hello ? MCPX_OK : MCPX_ELIMIT;
        world_say(&world, request(1, "ping", NULL));
        world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
        world.send_fails = MCPX_ELIMIT;
        if (refuses_hello)
            world_event(&world, MCPX_EVENT_RESPONSE, world_draft(&world), "s",
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"
                        "\"message\":\"m\"}}");
        world_say(&world, request(2, "tools/list", NULL));
        world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[]}}");
        cr_expect(world_is_quiet(&world), "%d", refuses_hello);
        world_stop(&world);
    }
}

/* A world with a server whose tool is called. Returns the tag of that call. */
static void *start_with_call(struct world *world, const struct world_setup *setup)
{
    world_start(world, setup);
    world_serve(world, &s, 1);
    world_say(world, request(1, "tools/call", "{\"name\":\"s__t\"}"));
    return world_draft(world)->tag;
}

/* What breaks for whom: a call that could not be sent again waits ten minutes for its answer. */
Test(expose_life, says_what_cannot_be_sent_again)
{
    struct mcpx_event refused = {.type = MCPX_EVENT_REFUSED, .err = MCPX_ERATE};
    struct world world;

    refused.tag = start_with_call(&world, &(struct world_setup){0});
    world_event_with(&world, &refused, "system:gateway", "{}");
    world.send_fails = MCPX_ECLOSED;
    world_wait(&world, 1000);
    cr_expect_not_null(strstr(world_line(&world), "the call could not be sent: "));
    cr_expect(world_is_quiet(&world));
    cr_expect(expose_is_idle(world.expose));
    world_stop(&world);
}

/*
 * What breaks for whom: the session keeps waiting for what nobody wants, until it takes nothing
 * more; a person is asked to approve what nobody waits for, and it is never taken back.
 */
Test(expose_life, takes_back_what_was_sent_again_to_who_has_left)
{
    static const struct {
        struct world_setup setup;
        const char *type, *withdrawal;
    } rows[] = {{{0}, "mcp/request", NULL},
                {{.grants = {"mcp/request:initialize", "mcp/request:*/list",
                             "mcp/request:notifications/*", "mcp/proposal:tools/call:t",
                             "mcp/withdraw"}},
                 "mcp/proposal",
                 "mcp/withdraw s about e8 {\"reason\":\"the client no longer waits\"}"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_event refused = {.type = MCPX_EVENT_REFUSED, .err = MCPX_ERATE};
        struct world world;

        refused.tag = start_with_call(&world, &rows[i].setup);
        lose_topic(&world);
        world.seat_count = 0;
        world_join(&world);
        world_event_with(&world, &refused, "system:gateway", "{\"retry_after_ms\":10000}");
        world_wait(&world,
                   10000); /* it is sent again, and its server is waited for no longer */
        cr_expect_str_eq(world_draft(&world)->type, rows[i].type);
        cr_expect_not_null(strstr(world_line(&world), "participant 's' left the topic"));
        if (rows[i].withdrawal)
            world_expect_draft(&world, rows[i].withdrawal);
        cr_expect_eq(world.draft_seen, world.draft_count, "%s", rows[i].type);
        cr_expect_eq(world.forgotten, 1, "%s: that which was not refused", rows[i].type);
        world_stop(&world);
    }
}

/* What breaks for whom: a person reads the log beside what the client shows, and takes one
   thing for another. */
Test(expose_life, says_to_client_and_log_in_one_order)
{
    static const struct {
        enum bridge_action_type type;
        const char *beginning;
    } rows[] = {{BRIDGE_LOG, "a line of the client is too long"},
                {BRIDGE_WRITE, "{\"jsonrpc\":\"2.0\",\"id\":8,\"error\""},
                {BRIDGE_WRITE, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\""},
                {BRIDGE_LOG, "not JSON"}};
    const struct bridge_action *action;
    struct world world;

    world_start(&world, &(struct world_setup){0});
    expose_overlong(world.expose, MCPX_SLICE("{\"id\":8,\"method\":\"m\",\"params\":{"));
    expose_line(world.expose, MCPX_SLICE("{"), world.now);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        action = expose_next(world.expose);
        cr_assert_not_null(action, "%zu", i);
        cr_expect_eq(action->type, rows[i].type, "%zu", i);
        cr_expect_eq(strncmp(action->text.text, rows[i].beginning, strlen(rows[i].beginning)),
                     0, "%zu: %.*s", i, (int)action->text.len, action->text.text);
        expose_done(world.expose, &(struct bridge_outcome){0}, world.now);
    }
    cr_expect_null(expose_next(world.expose));
    world_stop(&world);
}

/* What breaks for whom: a server's new tool is not seen before the next one, however long that
   takes. */
Test(expose_life, asks_again_for_a_list_that_changed_and_was_not_read_to_its_end)
{
    static const char changed[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/"
                                  "list_changed\"}";

    for (int stays = 0; stays < 2; stays++) {
        const struct world_draft *page;
        struct world world;

        world_start(&world, &(struct world_setup){0});
        world_serve(&world, &s, 1);
        world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "s", changed);
        world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "s", changed);
        page = world_draft(&world);
        if (stays) {
            world.send_fails = MCPX_ELIMIT;
            world.fails_once = true;
            world_answer(&world, page, "{\"tools\":[],\"nextCursor\":\"c\"}");
            world_wait(&world, 1000);
            cr_expect_str_eq(strchr(world_draft(&world)->payload, 'm'),
                             "method\":\"tools/list\"}");
        } else {
            world_go(&world, "s");
        }
        cr_expect_eq(world.draft_seen, world.draft_count, "%d: nothing else is sent", stays);
        world_stop(&world);
    }
}
