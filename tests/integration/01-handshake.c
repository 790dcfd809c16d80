/*
 * How one becomes a member of a topic, and everything that can be wrong with the attempt. What
 * breaks here is every client's first second; a refusal without a reason is a support case.
 * Protocol: section 7.
 */
#define _GNU_SOURCE /* memmem */
#include "tests/support/rude_client.h"
#include "tests/support/suite_router.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>

TestSuite(handshake, .init = suite_router_start, .fini = suite_router_stop, .timeout = 120);

Test(handshake, both_address_families_are_served)
{
    size_t i;

    if (!daemon_has_v6())
        cr_log_warn("SKIP: this machine has no IPv6; only IPv4 is tested");
    for (i = 0; i < router.listeners; i++) {
        struct rude rude;

        rude_open(&rude, &router, i);
        rude_join(&rude, &router, "a", "room", "");
        cr_expect(rude_expect(&rude, "system/welcome", NULL), "listener %zu", i);
        rude_shut(&rude);
    }
}

/* Joins, reads the first frames, and tells whether the 101 had come alone. */
static bool comes_alone(void)
{
    struct rude rude = {0};
    struct frame frame;
    bool alone;

    rude_join(&rude, &router, "a", "room", "");
    alone = rude.at == rude.in.len;
    cr_assert(rude_next(&rude, &frame));
    cr_expect(frame_holds(&frame, "\"kind\":\"system/welcome\""), "the first frame");
    cr_assert(rude_next(&rude, &frame));
    cr_expect(frame_holds(&frame, "system/presence"), "then one's own arrival");
    rude_shut(&rude);
    return alone;
}

/*
 * Some clients hand the first bytes after the 101 to nobody: they are not listening yet. A busy
 * machine may wake us when both have arrived; what travels together would never be seen apart.
 */
Test(handshake, the_welcome_does_not_travel_with_the_101)
{
    long start_ms = support_now_ms();
    int tries = 1;
    bool alone;

    while (!(alone = comes_alone()) && support_now_ms() < start_ms + DAEMON_PATIENCE_MS)
        tries++;
    cr_expect(alone, "in none of %d attempts did the 101 come alone", tries);
}

/*
 * RFC 6455 section 4.1 forbids it. It may be read or not, but harms nobody else.
 */
Test(handshake, a_frame_sent_before_the_101_harms_only_its_sender)
{
    static const char text[] =
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"early\",\"kind\":\"chat\","
        "\"payload\":{}}";
    struct rude early, witness = {0};
    char header[8400];
    int on = 1, off = 0;

    rude_join(&witness, &router, "witness", "room", "");
    snprintf(header, sizeof header, "Authorization: Bearer %s\r\n",
             rude_token(&router, "early", "room", "[\"chat\"]"));
    rude_open(&early, &router, 0);
    setsockopt(early.fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on); /* one segment */
    rude_ask_upgrade(&early, "/ws?topic=room", header);
    rude_frame(&early, TEXT, text, sizeof text - 1);
    setsockopt(early.fd, IPPROTO_TCP, TCP_CORK, &off, sizeof off);
    while (!(early.in.len && memmem(early.in.text, early.in.len, "system/presence", 15)) &&
           rude_receive(&early))
        continue;
    rude_chat(&witness, "after", "{}");
    cr_expect(rude_expect(&witness, "\"id\":\"after\"", NULL));
    rude_shut(&early);
    rude_shut(&witness);
}

#define UPGRADE "Upgrade: websocket\r\n"
#define CONNECTION "Connection: Upgrade\r\n"
#define VERSION "Sec-WebSocket-Version: 13\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define HOST "Host: x\r\n"

struct refusal {
    const char *what;
    const char *request; /* without the final empty line */
    int status;
    const char *holds;
};

/* An Upgrade to anything else is passed over:
   who asks for HTTP/2 gets the answer to his request. */
static const struct refusal refusals[] = {
    {"no token", "GET /ws?topic=r HTTP/1.1\r\n" HOST UPGRADE CONNECTION VERSION KEY, 401,
     "WWW-Authenticate: Bearer"},
    {"a bad token",
     "GET /ws?topic=r HTTP/1.1\r\n" HOST UPGRADE CONNECTION VERSION KEY
     "Authorization: Bearer nonsense\r\n",
     401, "\"code\":\"unauthorized\""},
    {"no topic", "GET /ws HTTP/1.1\r\n" HOST UPGRADE CONNECTION VERSION KEY, 400, "bad_topic"},
    {"another path", "GET /nowhere?topic=r HTTP/1.1\r\n" HOST UPGRADE CONNECTION VERSION KEY,
     404, "not_found"},
    {"POST", "POST /ws?topic=r HTTP/1.1\r\n" HOST UPGRADE CONNECTION VERSION KEY, 405,
     "Allow: GET"},
    {"version 8",
     "GET /ws?topic=r HTTP/1.1\r\n" HOST UPGRADE CONNECTION "Sec-WebSocket-Version: 8\r\n" KEY,
     426, "Sec-WebSocket-Version: 13"},
    {"no version", "GET /ws?topic=r HTTP/1.1\r\n" HOST UPGRADE CONNECTION KEY, 426,
     "Sec-WebSocket-Version: 13"},
    {"no key", "GET /ws?topic=r HTTP/1.1\r\n" HOST UPGRADE CONNECTION VERSION, 400,
     "Sec-WebSocket-Key"},
    {"a short key",
     "GET /ws?topic=r HTTP/1.1\r\n" HOST UPGRADE CONNECTION VERSION
     "Sec-WebSocket-Key: abc\r\n",
     400, "Sec-WebSocket-Key"},
    {"two keys", "GET /ws?topic=r HTTP/1.1\r\n" HOST UPGRADE CONNECTION VERSION KEY KEY, 400,
     "Sec-WebSocket-Key"},
    {"no host", "GET /ws?topic=r HTTP/1.1\r\n" UPGRADE CONNECTION VERSION KEY, 400, "Host"},
    {"no connection header", "GET /ws?topic=r HTTP/1.1\r\n" HOST UPGRADE VERSION KEY, 400,
     "Connection"},
    {"h2c",
     "GET /ws?topic=r HTTP/1.1\r\n" HOST
     "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n",
     400, "speaks WebSocket"},
    {"another upgrade", "GET /ws?topic=r HTTP/1.1\r\n" HOST "Upgrade: foo\r\n" CONNECTION, 400,
     "speaks WebSocket"},
    {"another upgrade, kept alive",
     "GET /ws?topic=r HTTP/1.1\r\n" HOST "Upgrade: foo\r\nConnection: keep-alive\r\n", 400,
     "speaks WebSocket"},
    {"an unknown subprotocol",
     "GET /ws?topic=r HTTP/1.1\r\n" HOST UPGRADE CONNECTION VERSION KEY
     "Sec-WebSocket-Protocol: chat\r\n",
     400, "Sec-WebSocket-Protocol"},
    {"one that only begins like ours",
     "GET /ws?topic=r HTTP/1.1\r\n" HOST UPGRADE CONNECTION VERSION KEY
     "Sec-WebSocket-Protocol: mcpx2\r\n",
     400, "Sec-WebSocket-Protocol"},
    {"CONNECT", "CONNECT x:1 HTTP/1.1\r\n" HOST, 501, "method"},
    {"an unknown method", "BREW /ws HTTP/1.1\r\n" HOST, 501, "method"},
    {"HTTP/2 at once", "PRI * HTTP/2.0\r\n\r\nSM\r\n", 505, "spoken"},
};

Test(handshake, what_is_wrong_is_refused_before_the_upgrade)
{
    size_t i;

    for (i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *row = &refusals[i];
        struct rude rude;
        char request[1024];
        int status;

        snprintf(request, sizeof request, "%s\r\n", row->request);
        status = rude_http(&rude, &router, request);
        cr_expect_eq(status, row->status, "%s: %d", row->what, status);
        cr_expect(!*row->holds || (rude.in.len && strstr(rude.in.text, row->holds)), "%s: %s",
                  row->what, rude.in.text ? rude.in.text : "(no answer)");
        rude_shut(&rude);
    }
}

Test(handshake, the_subprotocol_mcpx_is_accepted_and_named)
{
    static const char *const offers[] = {"mcpx", "mcpx, chat", "chat, mcpx"};
    char more[128];

    for (size_t i = 0; i < sizeof offers / sizeof *offers; i++) {
        struct rude rude = {0};

        snprintf(more, sizeof more, "Sec-WebSocket-Protocol: %s\r\n", offers[i]);
        rude_knock(&rude, &router, rude_token(&router, "a", "room", "[]"), "/ws?topic=room",
                   more);
        cr_expect_eq(rude_pass_head(&rude), 101, "%s", offers[i]);
        cr_expect(strstr(rude.in.text, "Sec-WebSocket-Protocol: mcpx\r\n") != NULL, "%s",
                  offers[i]);
        rude_shut(&rude);
    }
}

/* T14: decoders of this release have memory errors; every browser and node client offers it. */
Test(handshake, compression_is_not_negotiated)
{
    struct rude rude = {0};

    rude_knock(&rude, &router, rude_token(&router, "a", "room", "[]"), "/ws?topic=room",
               "Sec-WebSocket-Extensions: permessage-deflate\r\n");
    cr_expect_eq(rude_pass_head(&rude), 101);
    cr_expect(strstr(rude.in.text, "Sec-WebSocket-Extensions") == NULL);
    rude_shut(&rude);
}

/* Secrets: neither a header nor a query is ever logged. */
Test(handshake, no_token_reaches_the_log)
{
    const char *token = rude_token(&router, "a", "room", "[]");
    char request[9000];
    struct rude rude;

    snprintf(request, sizeof request,
             "GET /ws?topic=room&token=%s HTTP/1.1\r\n" HOST UPGRADE CONNECTION VERSION KEY
             "Authorization: Bearer x%s\r\n\r\n",
             token, token);
    rude_http(&rude, &router, request);
    rude_shut(&rude);
    rude_metric(&router, "mcpx_topics"); /* after this answer the first request is logged */
    cr_expect(!daemon_logged(&router, "Bearer"));
    cr_expect(!daemon_logged(&router, token + 40));
}
