/*
 * Every way a connection ends or does not come about, and what the application is told: whether it
 * is tried again, and a reason that a person can act on. What breaks for whom: two copies of a
 * program that throw each other out for ever; a wrong token that is retried all night.
 * Protocol: sections 6 and 7.
 */
#include "tests/support/false_router.h"
#include "tests/support/party.h"
#include "tests/support/suite_router.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(client_ends, .timeout = 120);

/* What most tests have: a router that is none, its client, and what that was told last. */
static struct false_router other;
static struct mcpx_client *client;
static struct mcpx_event event;

static struct mcpx_client *open_at(int port, bool once)
{
    struct mcpx_client_config config = {
        .url = party_url(port), .topic = "room", .token = "token", .once = once};

    return party_open(&config);
}

/* It says `bytes` to its client, behind a good upgrade or at once. */
static void start_other(bool upgrades, const char *bytes, size_t len, bool once)
{
    false_router_start(&other, upgrades, bytes, len);
    client = open_at(other.port, once);
}

static void stop_other(void)
{
    mcpx_client_free(client);
    false_router_stop(&other);
}

static void expect_over(void)
{
    while (mcpx_client_wait(client, DAEMON_PATIENCE_MS, &event) == MCPX_OK)
        ;
    cr_expect_eq(mcpx_client_wait(client, -1, &event), MCPX_ECLOSED);
    cr_expect_eq(mcpx_client_send(
                     client, &(struct mcpx_draft){.type = "chat", .payload = MCPX_SLICE("{}")},
                     NULL, NULL),
                 MCPX_ECLOSED);
    mcpx_client_free(client);
}

Test(client_ends, a_newer_connection_of_the_same_participant_is_the_end,
     .init = suite_router_start, .fini = suite_router_stop)
{
    struct mcpx_client *second;

    client = party_join(&router, "a", "room");
    second = party_join(&router, "a", "room");

    party_expect(client, MCPX_EVENT_LEFT, &event);
    cr_expect_eq(event.code, 4001);
    cr_expect_eq(event.retry_ms, -1);
    expect_over();
    party_chat(second, "{}");
    party_expect(second, MCPX_EVENT_DELIVERED, &event);
    party_leave(second);
}

Test(client_ends, a_refused_upgrade_tells_the_routers_reason, .init = suite_router_start,
     .fini = suite_router_stop)
{
    struct mcpx_client_config config = party_config(&router, "a", "room");

    config.token = "not-a-token";
    client = party_open(&config);
    party_expect(client, MCPX_EVENT_LEFT, &event);
    cr_expect_eq(event.retry_ms, -1);
    cr_expect_eq(event.code, 401);
    cr_expect(mcpx_slice_equal(event.reason, MCPX_SLICE("Invalid token")), "%.*s",
              (int)event.reason.len, event.reason.text);
    expect_over();
    config = party_config(&router, "a", "room");
    config.topic = "another";
    client = party_open(&config);
    party_expect(client, MCPX_EVENT_LEFT, &event);
    cr_expect_eq(event.code, 403);
    cr_expect_eq(event.retry_ms, -1);
    cr_expect(party_holds(event.reason, "topic"), "%.*s", (int)event.reason.len,
              event.reason.text);
    expect_over();
}

Test(client_ends, close_codes_say_whether_to_try_again)
{
    static const struct {
        int code;
        bool final;
        const char *reason;
    } rows[] = {
        {1000, false, "why"},
        {1001, false, "why"},
        {1002, true, "protocol_error"},
        {1002, true, "why"},
        {1003, true, "why"},
        {1007, true, "why"},
        {1008, true, "already_connected"},
        {1009, true, "why"},
        {1011, false, "why"},
        {1012, false, "Service Restart"},
        {1012, false, ""},
        {1013, false, "unavailable"},
        {1014, false, "Bad Gateway"},
        {4001, true, "why"},
        {4003, false, "why"},
        {4004, true, "why"},
        {4005, true, "why"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i].reason);
        char frame[64] = {(char)0x88, (char)(2 + len), (char)(rows[i].code >> 8),
                          (char)rows[i].code};
        const char *reason = len ? rows[i].reason : "the router closed the connection";

        memcpy(frame + 4, rows[i].reason, len);
        start_other(true, frame, 4 + len, false);
        party_expect(client, MCPX_EVENT_LEFT, &event);
        cr_expect_eq(event.code, rows[i].code, "%d \"%s\": %d", rows[i].code, rows[i].reason,
                     event.code);
        cr_expect_eq(event.retry_ms < 0, rows[i].final, "%d: %ld", rows[i].code,
                     (long)event.retry_ms);
        cr_expect(mcpx_slice_equal(event.reason, mcpx_slice_of(reason)), "%d: %.*s",
                  rows[i].code, (int)event.reason.len, event.reason.text);
        stop_other();
    }
}

/* What others answer on a port where a router was expected. */
static const struct {
    const char *answer;
    const char *reason;
    int code;
    bool final;
} answers[] = {
    {"HTTP/1.1 503 No\r\nContent-Type: application/problem+json\r\nContent-Length: 32\r\n\r\n"
     "{\"title\":\"T\",\"detail\":\"d\\u00e9\"}",
     "d\xc3\xa9", 503, false},
    {"HTTP/1.1 403 No\r\nContent-Type: application/problem+json\r\nContent-Length: 13\r\n\r\n"
     "{\"title\":\"T\"}",
     "T", 403, true},
    {"HTTP/1.1 404 No\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
     "the answer is HTTP status 404", 404, true},
    {"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n", "the answer is HTTP status 400", 400,
     true},
    {"HTTP/1.1 429 No\r\nConnection: close\r\n\r\n{\"detail\":\"slow\"}", "slow", 429, false},
    {"HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n"
     "11\r\n{\"detail\":\"busy\"}\r\n0\r\n\r\n",
     "busy", 503, false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "the answer is HTTP status 200", 200,
     false},
    {"HTTP/1.1 302 Go\r\nLocation: http://127.0.0.1:1/ws\r\nContent-Length: 0\r\n\r\n",
     "the answer is HTTP status 302", 302, false},
    {"", "cannot connect to 127.0.0.1", 0, false},
    {"SSH-2.0-OpenSSH_9.2p1\r\n", "cannot connect to 127.0.0.1", 0, false},
    {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
     "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
     "cannot connect to 127.0.0.1", 0, false},
};

Test(client_ends, whatever_answers_is_told_as_a_reason)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        start_other(false, answers[i].answer, strlen(answers[i].answer), false);
        party_expect(client, MCPX_EVENT_LEFT, &event);
        cr_expect_eq(event.code, answers[i].code, "%s: %d", answers[i].answer, event.code);
        cr_expect_eq(event.retry_ms < 0, answers[i].final, "%s", answers[i].answer);
        cr_expect(party_holds(event.reason, answers[i].reason), "%s: %.*s", answers[i].answer,
                  (int)event.reason.len, event.reason.text);
        stop_other();
    }
}

Test(client_ends, an_unreachable_router_is_tried_again_and_again)
{
    int64_t last_ms = 0;
    int port, fd = false_router_nobody(&port), i;

    client = open_at(port, false);
    for (i = 0; i < 3; i++) {
        party_expect(client, MCPX_EVENT_LEFT, &event);
        cr_expect_eq(event.code, 0);
        cr_expect(event.retry_ms > last_ms / 2, "%ld after %ld", (long)event.retry_ms,
                  (long)last_ms);
        cr_expect(party_holds(event.reason, "cannot connect to 127.0.0.1:") &&
                      party_holds(event.reason, ": connection refused"),
                  "%.*s", (int)event.reason.len, event.reason.text);
        last_ms = event.retry_ms;
    }
    mcpx_client_close(client, DAEMON_PATIENCE_MS);
    party_expect(client, MCPX_EVENT_LEFT, &event);
    cr_expect_eq(event.retry_ms, -1);
    expect_over();
    client = open_at(port, true);
    party_expect(client, MCPX_EVENT_LEFT, &event);
    cr_expect_eq(event.retry_ms, -1, "told to try once");
    expect_over();
    close(fd);
}

/* A proxy before a router that dies of everybody who comes in: the third pause has a second at
 * least. */
Test(client_ends, who_welcomes_and_closes_is_left_alone_for_longer_and_longer)
{
#define WELCOME                                                                               \
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"w\",\"from\":\"system:gateway\","                   \
    "\"to\":[\"a\"],\"kind\":\"system/"                                                       \
    "welcome\",\"ts\":\"2026-01-02T03:04:05.000Z\",\"payload\":{"                             \
    "\"you\":{\"id\":\"a\",\"capabilities\":[\"chat\"]},\"participants\":[]}}"
    static char bytes[] = "\x81\x7e\0\0" WELCOME "\x88\x02\x03\xe9";

    bytes[3] = (char)(sizeof WELCOME - 1);
    start_other(true, bytes, sizeof bytes - 1, false);
    for (int64_t least_ms = 250; least_ms <= 1000; least_ms *= 2) {
        party_expect(client, MCPX_EVENT_JOINED, &event);
        party_expect(client, MCPX_EVENT_LEFT, &event);
        cr_expect_eq(event.code, 1001);
        cr_expect(event.retry_ms >= least_ms && event.retry_ms <= 2 * least_ms, "%ld",
                  (long)event.retry_ms);
    }
    stop_other();
}

Test(client_ends, names_are_looked_up_and_every_address_is_tried, .init = suite_router_start,
     .fini = suite_router_stop)
{
    struct mcpx_client_config config = party_config(&router, "a", "room");
    char url[64];

    snprintf(url, sizeof url, "http://localhost:%d/ws", router.port[0]);
    config.url = url;
    client = party_open(&config);
    party_expect(client, MCPX_EVENT_JOINED, &event);
    party_leave(client);
    config.url = "ws://no-such-host.invalid";
    client = party_open(&config);
    party_expect(client, MCPX_EVENT_LEFT, &event);
    cr_expect(event.code == 0 && event.retry_ms > 0);
    cr_expect(party_holds(event.reason, "cannot connect to no-such-host.invalid:80: "), "%.*s",
              (int)event.reason.len, event.reason.text);
    mcpx_client_free(client);
}

/* Two frames of one message with a ping between them; then what is refused, and a message behind
 * it that nobody takes any more. */
Test(client_ends, messages_in_pieces_are_put_together_and_others_refused)
{
    static const struct {
        const char *bytes;
        size_t len;
        int code;
    } rows[] = {
        {"\x01\x03not\x89\x01?\x80\x05 json\x88\x02\x03\xe9", 19, 1001},
        {"\x82\x01x\x81\x02{}", 7, 1003},
        {"\xc1\x01x\x81\x02{}", 7, 0},
        {"\x81\x7f\0\0\0\0\x04\0\0\x01", 10, 1009},
        {"\x01\x7f\0\0\0\0\x04\0\0\x01", 10, 1009},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        start_other(true, rows[i].bytes, rows[i].len, true);
        if (i == 0)
            party_expect(client, MCPX_EVENT_VIOLATION, &event); /* it is "not json" */
        party_expect(client, MCPX_EVENT_LEFT, &event);
        cr_expect_eq(event.code, rows[i].code, "row %zu: %d", i, event.code);
        stop_other();
    }
}

Test(client_ends, patience_with_a_goodbye_has_an_end)
{
    start_other(true, "", 0, false);
    cr_expect_eq(mcpx_client_wait(client, 0, &event), MCPX_ETIMEOUT);
    mcpx_client_close(client, 50);
    party_expect(client, MCPX_EVENT_LEFT, &event);
    cr_expect_eq(event.retry_ms, -1);
    expect_over();
    false_router_stop(&other);
}

Test(client_ends, settings_are_judged_before_anything_is_opened)
{
    static char pipe[64]; /* nobody writes into it: who reads it waits for ever */
    static const struct {
        struct mcpx_client_config config;
        const char *field;
    } rows[] = {
        {{.topic = "t", .token = "x"}, "url"},
        {{.url = "ftp://x", .topic = "t", .token = "x"}, "url"},
        {{.url = "ws://x", .token = "x"}, "topic"},
        {{.url = "ws://x", .topic = "", .token = "x"}, "topic"},
        {{.url = "ws://x", .topic = "a\nb", .token = "x"}, "topic"},
        {{.url = "ws://x", .topic = "t"}, "token"},
        {{.url = "ws://x", .topic = "t", .token = ""}, "token"},
        {{.url = "ws://x", .topic = "t", .token = "a\r\nX: y"}, "token"},
        {{.url = "ws://x", .topic = "t", .token = "a", .routing = "some"}, "routing"},
        {{.url = "ws://x", .topic = "t", .token = "a", .history = -2}, "history"},
        {{.url = "ws://x", .topic = "t", .token = "a", .ca_file = "/none"}, "ca_file"},
        {{.url = "ws://x", .topic = "t", .token = "a", .ca_file = "/dev/null"}, "ca_file"},
        {{.url = "wss://x", .topic = "t", .cert_file = "/none"}, "cert_file"},
        {{.url = "wss://x", .topic = "t", .token = "a", .key_file = "/none"}, "key_file"},
        {{.url = "ws://x", .topic = "t", .token = "a", .cert_file = "/none"}, "cert_file"},
        {{.url = "wss://x", .topic = "t", .token = "", .cert_file = "/none"}, "token"},
        {{.url = "ws://x", .topic = "t", .token = "a", .ca_file = pipe}, "ca_file"},
        {{.url = "wss://x", .topic = "t", .cert_file = pipe}, "cert_file"},
    };

    snprintf(pipe, sizeof pipe, "/tmp/mcpx-pipe-%d", (int)getpid());
    cr_assert_eq(mkfifo(pipe, 0600), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_client *made = NULL;
        struct mcpx_fault fault = {0};

        cr_expect_eq(mcpx_client_new(&rows[i].config, &fault, &made), MCPX_EINVALID, "row %zu",
                     i);
        cr_expect_str_eq(fault.field ? fault.field : "", rows[i].field, "row %zu", i);
        cr_expect(fault.reason && !made, "row %zu", i);
    }
    unlink(pipe);
    mcpx_client_free(NULL);
}

/* More than the session writes without an echo, and more than one turn of the loop writes. */
Test(client_ends, a_goodbye_waits_until_everything_has_arrived, .init = suite_router_start,
     .fini = suite_router_stop)
{
    enum { COUNT = 1000 };
    struct mcpx_client *witness = party_join(&router, "b", "room");
    int i, delivered = 0;

    client = party_join(&router, "a", "room");
    for (i = 0; i < COUNT; i++)
        party_chat(client, "{}");
    mcpx_client_close(client, DAEMON_PATIENCE_MS);
    while (mcpx_client_wait(client, DAEMON_PATIENCE_MS, &event) == MCPX_OK)
        delivered += event.type == MCPX_EVENT_DELIVERED;
    cr_expect_eq(delivered, COUNT);
    mcpx_client_free(client);
    for (i = 0; i < COUNT; i++)
        party_expect(witness, MCPX_EVENT_MESSAGE, &event);
    party_leave(witness);
}

Test(client_ends, a_goodbye_says_how_much_may_not_have_arrived)
{
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    int port, fd = false_router_nobody(&port);

    client = open_at(port, false);
    party_send(client, "mcp/request", "b", request);
    party_chat(client, "{}");
    mcpx_client_close(client, 300);
    do {
        party_expect(client, MCPX_EVENT_LEFT, &event);
    } while (event.retry_ms >= 0);
    cr_expect(party_holds(event.reason, "closed; 2 messages may not have arrived"), "%.*s",
              (int)event.reason.len, event.reason.text);
    party_expect(client, MCPX_EVENT_EXPIRED, &event);
    expect_over();
    close(fd);
}

/* The router that went is there again before the goodbye's patience ends. */
Test(client_ends, a_goodbye_without_a_connection_gets_another_one, .init = suite_router_start)
{
    struct mcpx_client_config config;
    struct false_router relay;
    struct mcpx_client *witness = party_join(&router, "b", "room");
    char url[64];

    false_router_relay(&relay, router.port[0], 0);
    strcpy(url, party_url(relay.port));
    config = party_config(&router, "a", "room");
    config.url = url;
    client = party_open(&config);
    party_expect(client, MCPX_EVENT_JOINED, &event);
    false_router_cut(&relay);
    party_expect(client, MCPX_EVENT_LEFT, &event);
    cr_expect_geq(event.retry_ms, 0);
    party_chat(client, "{\"n\":1}");
    mcpx_client_close(client, DAEMON_PATIENCE_MS);
    party_expect(client, MCPX_EVENT_DELIVERED, &event);
    party_expect(client, MCPX_EVENT_LEFT, &event);
    cr_expect(event.code == 1000 && event.retry_ms == -1);
    expect_over();
    party_expect(witness, MCPX_EVENT_MESSAGE, &event);
    party_leave(witness);
    false_router_stop(&relay);
    suite_router_stop();
}

Test(client_ends, nobody_waits_for_ever_who_connects_only_once, .init = suite_router_start)
{
    struct mcpx_client_config config = party_config(&router, "a", "room");

    config.once = true;
    client = party_open(&config);
    party_expect(client, MCPX_EVENT_JOINED, &event);
    party_send(client, "mcp/request", "b",
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    party_expect(client, MCPX_EVENT_DELIVERED, &event);
    suite_router_stop();
    party_expect(client, MCPX_EVENT_LEFT, &event);
    cr_expect_eq(event.retry_ms, -1);
    party_expect(client, MCPX_EVENT_EXPIRED, &event);
    cr_expect_eq(mcpx_session_pending_count(mcpx_client_session(client)), 0);
    expect_over();
}
