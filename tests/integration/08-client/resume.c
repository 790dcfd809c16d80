/*
 * Connections break and routers are restarted; nothing is lost, nothing comes twice, and nothing
 * changes its order. What breaks for whom: an agent that executes a call twice, or waits for ever
 * for an answer that was given. Protocol: section 5.
 */
#include "tests/support/false_router.h"
#include "tests/support/rude_client.h"
#include "tests/support/traffic.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>

enum { EACH = 3000, BYTES_PER_CONNECTION = 200000 };

/* Tokens that survive a restart: "token-of-a" and "token-of-b". */
static const char settled[] =
    "{\"limits\":{\"messages_per_minute\":0,\"bytes_per_minute\":0,\"connects_per_s\":0,"
    "\"drain_s\":1},"
    "\"topics\":{\"history\":{\"count\":100000}},\"participants\":{"
    "\"a\":{\"topics\":[\"*\"],\"grants\":[\"*\"],\"token_sha256\":"
    "\"5cb4afafaff2683f8e22484d37dca0e6b2eb98dc5a9869ca031b001597b89253\"},"
    "\"b\":{\"topics\":[\"*\"],\"grants\":[\"*\"],\"token_sha256\":"
    "\"97d613fbd4a6484c6567d2d2b495af817b3264c37dfe02a641449b2b351d5e1f\"}}}";

static struct daemon router;
static struct false_router relay;
static struct mcpx_event event;

static void start(void)
{
    daemon_start(&router, settled, 0);
}

static void stop(void)
{
    if (relay.port)
        false_router_stop(&relay);
    cr_expect_eq(daemon_stop(&router), 0, "exit status; log: %s", router.log);
}

TestSuite(client_resume, .init = start, .fini = stop, .timeout = 240);

static struct mcpx_client_config config_of(const char *token, int port, char url[64])
{
    strcpy(url, party_url(port));
    return (struct mcpx_client_config){.url = url, .topic = "room", .token = token};
}

/* Joins "a" or "b" by this port. */
static struct mcpx_client *join_as(const char *token, int port)
{
    char url[64];
    const struct mcpx_client_config config = config_of(token, port, url);
    struct mcpx_client *client = party_open(&config);

    party_expect(client, MCPX_EVENT_JOINED, &event);
    return client;
}

Test(client_resume, a_connection_that_breaks_loses_nothing_and_repeats_nothing)
{
    struct side sides[2] = {{.each = EACH}, {.each = EACH}};
    struct mcpx_client_config configs[2];
    char urls[2][64];

    false_router_relay(&relay, router.port[0], BYTES_PER_CONNECTION);
    configs[0] = config_of("token-of-a", relay.port, urls[0]);
    configs[1] = config_of("token-of-b", router.port[0], urls[1]);
    traffic_run(sides, configs);
    cr_expect(sides[0].joins > 2, "%d joins", sides[0].joins);
    cr_expect_eq(sides[0].resumed, sides[0].joins - 1, "%d of %d joins resumed",
                 sides[0].resumed, sides[0].joins);
    cr_expect_eq(sides[1].joins, 1);
}

/* What the router knew is gone with it, so others may miss what it had taken; but who sends knows
 * what was delivered, and what was not is sent again. */
Test(client_resume, a_router_that_is_restarted_is_joined_again)
{
    static const int ends[] = {SIGTERM, SIGKILL};
    struct mcpx_client *a = join_as("token-of-a", router.port[0]);
    struct mcpx_client *b = join_as("token-of-b", router.port[0]);

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        daemon_restart(&router, settled, ends[i]);
        if (ends[i] == SIGKILL)
            party_chat(a, "{\"n\":1}"); /* it has not noticed yet */
        party_expect(a, MCPX_EVENT_LEFT, &event);
        cr_expect_eq(event.code, ends[i] == SIGTERM ? 1001 : 0, "%d", event.code);
        if (ends[i] == SIGTERM)
            party_chat(a, "{\"n\":1}");
        cr_expect(event.retry_ms >= 0 && event.retry_ms <= 30000);
        party_chat(a, "{\"n\":2}"); /* while there is no connection */
        party_expect(b, MCPX_EVENT_LEFT, &event);
        party_expect(b, MCPX_EVENT_JOINED, &event);
        cr_expect_not(event.resumed);
        party_expect(a, MCPX_EVENT_DELIVERED, &event);
        party_expect(a, MCPX_EVENT_DELIVERED, &event);
        party_expect(b, MCPX_EVENT_MESSAGE, &event);
        cr_expect(mcpx_slice_equal(event.envelope->payload, MCPX_SLICE("{\"n\":1}")));
        party_expect(b, MCPX_EVENT_MESSAGE, &event);
        cr_expect(mcpx_slice_equal(event.envelope->payload, MCPX_SLICE("{\"n\":2}")));
        party_leave(a);
        a = join_as("token-of-a", router.port[0]);
    }
    party_leave(a);
    party_leave(b);
}

Test(client_resume, a_request_survives_the_connection_it_was_made_on)
{
    struct mcpx_client *a, *b;
    char id[MCPX_ID_MAX + 1];
    size_t len;

    false_router_relay(&relay, router.port[0], 0);
    a = join_as("token-of-a", relay.port);
    b = join_as("token-of-b", router.port[0]);
    party_send(a, "mcp/request", "b", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    party_expect(a, MCPX_EVENT_DELIVERED, &event);
    party_expect(b, MCPX_EVENT_REQUEST, &event);
    len = (size_t)snprintf(id, sizeof id, "%.*s", (int)event.envelope->id.len,
                           event.envelope->id.text);
    false_router_cut(&relay);
    party_expect(a, MCPX_EVENT_LEFT, &event);
    cr_assert_eq(
        mcpx_client_respond(b, (struct mcpx_slice){id, len},
                            MCPX_SLICE("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"), NULL),
        MCPX_OK);
    party_expect(b, MCPX_EVENT_DELIVERED, &event);
    party_expect(a, MCPX_EVENT_JOINED, &event);
    cr_expect(event.resumed);
    party_expect(a, MCPX_EVENT_RESPONSE, &event);
    cr_expect(mcpx_slice_equal(event.rpc->result, MCPX_SLICE("{}")));
    party_leave(a);
    party_leave(b);
}

/* Who asked wants no history, and was not there when the answer came. */
Test(client_resume, an_answer_given_in_between_is_found_in_the_history)
{
    static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";
    struct rude b = {.fd = 0};
    struct mcpx_client_config config;
    struct mcpx_client *a;
    char url[64], answer[512];

    config = config_of("token-of-a", router.port[0], url);
    config.history = 0;
    rude_join(&b, &router, "c", "room", "&history=0");
    a = party_open(&config);
    party_send(a, "mcp/request", "c", ping);
    party_expect(a, MCPX_EVENT_DELIVERED, &event);
    snprintf(answer, sizeof answer,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"answer\",\"to\":[\"a\"],"
             "\"kind\":\"mcp/response:ping\",\"correlation_id\":\"%.*s\","
             "\"payload\":{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}}",
             (int)event.own.len, event.own.text);
    rude_shut(&b);
    daemon_restart(&router, settled, SIGTERM);
    rude_join(&b, &router, "c", "room", "&history=0");
    rude_frame(&b, TEXT, answer, strlen(answer));
    cr_assert(rude_expect(&b, "\"answer\"", NULL));
    party_expect(a, MCPX_EVENT_RESPONSE, &event);
    cr_expect(mcpx_slice_equal(event.envelope->id, MCPX_SLICE("answer")));
    party_leave(a);
    rude_shut(&b);
}

/* Says what a client saw last once more, behind so much that the router has forgotten the first. */
static void say_again(struct rude *eve, const char *last, int flood)
{
    struct frame frame;
    char id[32];

    for (int i = 0; i < flood; i++) {
        snprintf(id, sizeof id, "flood%d", i);
        rude_chat(eve, id, "{}");
    }
    rude_chat(eve, last, "{\"n\":2}");
    cr_assert(rude_expect(eve, "{\"n\":2}", &frame));
    cr_expect_not(frame_holds(&frame, "system/error"), "%.*s", (int)frame.len, frame.payload);
}

/*
 * Who may say anything makes nobody believe that nothing was missed: neither when what it saw last
 * is pushed out of history and sent again, nor when that is sent to a router that was started anew.
 */
Test(client_resume, an_id_that_is_used_again_hides_no_hole)
{
    static const char narrow[] =
        "{\"limits\":{\"messages_per_minute\":0,\"bytes_per_minute\":0,\"connects_per_s\":0,"
        "\"drain_s\":1},\"topics\":{\"history\":{\"count\":10}},\"participants\":{"
        "\"a\":{\"topics\":[\"*\"],\"grants\":[\"*\"],\"token_sha256\":"
        "\"5cb4afafaff2683f8e22484d37dca0e6b2eb98dc5a9869ca031b001597b89253\"}}}";
    struct mcpx_client_config config;
    struct rude eve = {.fd = 0};
    struct mcpx_client *a;
    char url[64];

    daemon_restart(&router, narrow, SIGTERM);
    false_router_relay(&relay, router.port[0], 0);
    config = config_of("token-of-a", relay.port, url);
    config.history = -1;
    a = party_open(&config);
    party_expect(a, MCPX_EVENT_JOINED, &event);
    rude_join(&eve, &router, "eve", "room", "&history=0");
    for (int restart = 0; restart < 2; restart++) {
        const char *last = restart ? "newest" : "last";

        rude_chat(&eve, last, "{\"n\":1}");
        do
            party_expect(a, MCPX_EVENT_MESSAGE, &event);
        while (!mcpx_slice_equal(event.envelope->id, mcpx_slice_of(last)));
        false_router_cut(&relay); /* it does not come back before it is waited for */
        if (restart) {
            rude_shut(&eve);
            daemon_restart(&router, narrow, SIGKILL);
            rude_join(&eve, &router, "eve", "room", "&history=0");
        }
        say_again(&eve, last, restart ? 0 : 300);
        party_expect(a, MCPX_EVENT_JOINED, &event);
        cr_expect_not(event.resumed);
        do
            party_expect(a, MCPX_EVENT_HISTORY, &event);
        while (!mcpx_slice_equal(event.envelope->id, mcpx_slice_of(last)));
        cr_expect(mcpx_slice_equal(event.envelope->payload, MCPX_SLICE("{\"n\":2}")));
    }
    party_leave(a);
    rude_shut(&eve);
}
