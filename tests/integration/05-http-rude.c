/*
 * HTTP as nobody should speak it. What breaks here is found by the first scanner that passes by,
 * and what the router reads in another way than the proxy in front of it lets somebody through
 * whom the proxy would have stopped. RFC 9112. Protocol: section 8.
 */
#include "tests/support/rude_client.h"
#include "tests/support/suite_router.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(http_rude, .init = suite_router_start, .fini = suite_router_stop, .timeout = 120);

#define POST "POST /v0.1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
#define CHUNKED_HEAD POST "Transfer-Encoding: chunked\r\n"
#define CHUNKED CHUNKED_HEAD "\r\n"
#define BODY "{\"participantId\":\"a\",\"topic\":\"r\"}"

struct row {
    const char *what;
    const char *request;
    int status;
};

static const struct row rows[] = {
    {"as it should be", POST "Content-Length: 33\r\n\r\n" BODY, 200},
    {"no length", POST "\r\n" BODY, 411},
    {"negative length", POST "Content-Length: -5\r\n\r\n" BODY, 400},
    {"two lengths", POST "Content-Length: 33\r\nContent-Length: 5\r\n\r\n" BODY, 400},
    {"twice the same length", POST "Content-Length: 33\r\nContent-Length: 33\r\n\r\n" BODY,
     400},
    {"a list of lengths", POST "Content-Length: 3, 5\r\n\r\n" BODY, 400},
    {"a sign", POST "Content-Length: +33\r\n\r\n" BODY, 400},
    {"hexadecimal", POST "Content-Length: 0x21\r\n\r\n" BODY, 400},
    {"more digits than a number has", POST "Content-Length: 99999999999999999999\r\n\r\n",
     400},
    {"larger than allowed", POST "Content-Length: 65537\r\n\r\n", 413},
    {"much larger than allowed", POST "Content-Length: 999999999\r\n\r\n" BODY, 413},
    {"nothing at all", POST "Content-Length: 0\r\n\r\n", 400},
    {"chunked", CHUNKED "21\r\n" BODY "\r\n0\r\n\r\n", 200},
    {"chunked, with all that may stand around",
     CHUNKED "1;a=\"b\"\r\n{\r\n0020 ; c\r\n\"participantId\":\"a\",\"topic\":\"r\"}\r\n"
             "000\r\nContent-Length: 5\r\nA: b\r\n\r\n",
     200},
    {"a request behind chunks",
     CHUNKED "21\r\n" BODY "\r\n0\r\n\r\nGET /livez HTTP/1.1\r\n\r\n", 200},
    {"an announced chunk that is too large", CHUNKED "10001\r\n", 413},
    {"a size that is no number", CHUNKED "0x21\r\n" BODY "\r\n0\r\n\r\n", 400},
    {"chunks that go on behind their size", CHUNKED "20\r\n" BODY "\r\n0\r\n\r\n", 400},
    {"a GET in chunks", "GET /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
     200},
    {"both", CHUNKED_HEAD "Content-Length: 33\r\n\r\n" BODY, 400},
    {"an expectation nobody knows", POST "Content-Length: 33\r\nExpect: tea\r\n\r\n" BODY,
     417},
    {"an empty PUT", "PUT /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 405},
    {"a GET with a body", "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
     200},
    {"a GET that announces too much",
     "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n", 413},
    {"a GET whose body never comes",
     "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n", 200},
    {"a DELETE with a body",
     "DELETE /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", 405},
    {"lower case", "get /livez HTTP/1.1\r\nHost: x\r\n\r\n", 501},
    {"HTTP/0.9", "GET /livez\r\n\r\n", 400},
    {"HTTP/0.9 by name", "GET /livez HTTP/0.9\r\nHost: x\r\n\r\n", 505},
    {"HTTP/1.2", "GET /livez HTTP/1.2\r\nHost: x\r\n\r\n", 505},
    {"HTTP/9.9", "GET /livez HTTP/9.9\r\nHost: x\r\n\r\n", 505},
    {"no Host", "GET /livez HTTP/1.1\r\n\r\n", 400},
    {"two Hosts", "GET /livez HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400},
    {"two Hosts in HTTP/1.0", "GET /livez HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n", 400},
    {"a Host that is none", "GET /livez HTTP/1.1\r\nHost: x/y\r\n\r\n", 400},
    {"an Origin with a blank behind its name",
     "GET /livez HTTP/1.1\r\nHost: x\r\nOrigin : http://evil.example\r\n\r\n", 400},
    {"a foreign Origin",
     "GET /livez HTTP/1.1\r\nHost: x\r\nOrigin: http://evil.example\r\n\r\n", 403},
    {"two Origins",
     "GET /livez HTTP/1.1\r\nHost: x\r\nOrigin: http://localhost\r\n"
     "Origin: http://evil.example\r\n\r\n",
     400},
    {"a folded line", "GET /livez HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400},
    {"a line that ends in LF", "GET /livez HTTP/1.1\nHost: x\r\n\r\n", 400},
    {"a CR inside a line", "GET /livez HTTP/1.1\r\nHost: x\r\nA: b\rOrigin: c\r\n\r\n", 400},
    {"a control character", "GET /livez HTTP/1.1\r\nHost: x\r\nA: \x01\r\n\r\n", 400},
    {"two blanks", "GET  /livez HTTP/1.1\r\nHost: x\r\n\r\n", 400},
    {"an empty line first", "\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n", 200},
    {"a fragment", "GET /livez#a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
    {"an encoded end of line does not end the line",
     "GET /livez%0D%0AOrigin:x HTTP/1.1\r\nHost: x\r\n\r\n", 404},
    {"everything there is", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 204},
    {"an absolute target with somebody's name",
     "GET http://me@x/livez HTTP/1.1\r\nHost: x\r\n\r\n", 400},
    {"a TLS hello", "\x16\x03\x01\x02", 400},
    {"chunked in HTTP/1.0",
     "POST /livez HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
    {"no such path", "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", 404},
    {"HTTP/1.0", "GET /livez HTTP/1.0\r\n\r\n", 200},
    {"a path that climbs", "GET /a/../livez HTTP/1.1\r\nHost: x\r\n\r\n", 404},
    {"a path that climbs out", "GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", 404},
    {"an absolute target", "GET http://x/livez HTTP/1.1\r\nHost: x\r\n\r\n", 200},
};

/* How many answers came: each has one status line. */
static int count_answers(const struct rude *rude)
{
    const char *at = rude->in.text;
    int count = 0;

    while (at && (at = strstr(at, "HTTP/1."))) {
        count += at[8] == ' ' && at[9] >= '0' && at[9] <= '9';
        at++;
    }
    return count;
}

Test(http_rude, every_request_gets_exactly_one_answer)
{
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rude rude;
        int status = rude_http(&rude, &router, rows[i].request);

        cr_expect_eq(status, rows[i].status, "%s: %d", rows[i].what, status);
        cr_expect_eq(count_answers(&rude), 1, "%s: %s", rows[i].what,
                     rude.in.text ? rude.in.text : "(no answer)");
        cr_expect(strstr(rude.in.text, " GMT\r\n"), "%s: no date", rows[i].what);
        cr_expect(strstr(rude.in.text, "\r\nCache-Control: no-store\r\n"), "%s: %s",
                  rows[i].what, rude.in.text);
        rude_shut(&rude);
    }
}

/* Where a segment ends says nothing. */
Test(http_rude, every_request_is_answered_alike_byte_by_byte)
{
    size_t i, at, len;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rude rude;

        rude_open(&rude, &router, 0);
        for (at = 0, len = strlen(rows[i].request); at < len; at++)
            rude_send(&rude, rows[i].request + at, 1);
        rude_drain(&rude);
        if (rude.in.len > 12 && strncmp(rude.in.text, "HTTP/1.1 100", 12) == 0)
            continue;
        cr_expect(rude.in.len > 12 && atoi(rude.in.text + 9) == rows[i].status, "%s: %s",
                  rows[i].what, rude.in.text ? rude.in.text : "(no answer)");
        rude_shut(&rude);
    }
}

Test(http_rude, head_has_headers_only)
{
    static const char refused[] = "HEAD /livez HTTP/1.1\r\n\r\n"; /* no Host */

    struct rude rude;

    cr_expect_eq(rude_http(&rude, &router, "HEAD /livez HTTP/1.1\r\nHost: x\r\n\r\n"), 200);
    cr_expect(rude.in.len >= 4 && memcmp(rude.in.text + rude.in.len - 4, "\r\n\r\n", 4) == 0,
              "%s", rude.in.text);
    rude_shut(&rude);
    cr_expect_eq(rude_http(&rude, &router, refused), 400);
    cr_expect(rude.in.len >= 4 && memcmp(rude.in.text + rude.in.len - 4, "\r\n\r\n", 4) == 0,
              "%s", rude.in.text);
    rude_shut(&rude);
}

Test(http_rude, one_that_asks_first_is_told_to_continue)
{
    struct rude rude;

    rude_open(&rude, &router, 0);
    rude_say(&rude, POST "Content-Length: 33\r\nExpect: 100-continue\r\n\r\n");
    while (rude.in.len < 25)
        cr_assert(rude_receive(&rude));
    cr_expect(strncmp(rude.in.text, "HTTP/1.1 100 Continue\r\n\r\n", 25) == 0);
    rude_say(&rude, BODY);
    rude_drain(&rude);
    cr_expect(strstr(rude.in.text, "HTTP/1.1 200") != NULL, "%s", rude.in.text);
    rude_shut(&rude);
}

/* The token is good for one name only: whatever else the path were taken for is refused. */
static void expect_topic(const char *name)
{
    char request[9000], encoded[64] = "";
    struct rude rude;

    for (const char *at = name; *at; at++)
        snprintf(encoded + strlen(encoded), 4, "%%%02X", (unsigned char)*at);
    snprintf(request, sizeof request,
             "GET /v0.1/topics/%s/history HTTP/1.1\r\nHost: x\r\n"
             "Authorization: Bearer %s\r\n\r\n",
             encoded, rude_token(&router, "a", name, "[]"));
    cr_expect_eq(rude_http(&rude, &router, request), 200, "%s: %s", name,
                 rude.in.text ? rude.in.text : "(no answer)");
    rude_shut(&rude);
}

Test(http_rude, every_topic_name_is_the_one_that_was_sent)
{
    static const char bytes[] = "./a%;";
    char name[4] = "";

    for (int i = 0; i < 5 * 6 * 6; i++) {
        int second = i / 5 % 6, third = i / 30;

        if (second == 5 && third < 5)
            continue; /* nothing stands behind nothing */
        name[0] = bytes[i % 5];
        name[1] = second < 5 ? bytes[second] : '\0';
        name[2] = third < 5 ? bytes[third] : '\0';
        expect_topic(name);
    }
    expect_topic("a b?c=d&e:+");
    expect_topic("gr\xc3\xbc\xc3\x9f");
}

/* A second request on one connection is never looked at. */
Test(http_rude, pipelined_requests_get_one_answer_and_the_end)
{
    static const char *const pairs[] = {
        "GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n",
        POST "Content-Length: 33\r\nConnection: keep-alive\r\n\r\n" BODY POST
             "Content-Length: 33\r\n\r\n" BODY,
        "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n" POST "Content-Length: 33\r\n\r\n" BODY,
        POST "Content-Length: 5\r\n\r\n" BODY BODY BODY,
    };
    size_t i, again;

    for (again = 0; again < 20; again++)
        for (i = 0; i < sizeof pairs / sizeof *pairs; i++) {
            struct rude rude;

            rude_http(&rude, &router, pairs[i]);
            cr_expect_eq(count_answers(&rude), 1, "%zu: %s", i,
                         rude.in.text ? rude.in.text : "(no answer)");
            rude_shut(&rude);
        }
}

/* Requests that are broken off anywhere leave nothing behind: the exit status is the leak
 * checker's in sanitized builds. */
Test(http_rude, a_request_may_end_anywhere)
{
    static const char whole[] = POST "Content-Length: 33\r\n\r\n" BODY;
    size_t at;

    for (at = 0; at < sizeof whole; at += 3) {
        struct rude rude;

        rude_open(&rude, &router, 0);
        rude_send(&rude, whole, at);
        if (at % 2)
            rude_reset(&rude);
        else
            rude_shut(&rude);
    }
}

Test(http_rude, a_head_that_is_too_large_is_refused)
{
    static char value[40000];
    struct rude rude;

    memset(value, 'x', sizeof value - 1);
    rude_open(&rude, &router, 0);
    rude_say(&rude, "GET /livez HTTP/1.1\r\nHost: x\r\nX-Large: ");
    rude_say(&rude, value);
    rude_say(&rude, "\r\n\r\n");
    rude_drain(&rude);
    cr_expect(rude.in.len && strstr(rude.in.text, "HTTP/1.1 431") == rude.in.text, "%s",
              rude.in.text ? rude.in.text : "(no answer)");
    rude_shut(&rude);
}

/* Three hundred who say nothing, or one byte now and then, are gone after ten seconds and keep
 * nobody out meanwhile. */
Test(http_rude, silent_unauthenticated_connections_are_cut)
{
    enum { MANY = 300 };
    static struct rude many[MANY];
    struct rude a = {0};
    long opened_ms;
    int i;

    for (i = 0; i < MANY; i++) {
        rude_open(&many[i], &router, 0);
        if (i % 3 == 1)
            rude_say(&many[i], "GET /livez HTTP/1.1\r\nHost:");
        if (i % 3 == 2)
            rude_say(&many[i], POST "Content-Length: 33\r\n\r\n{");
    }
    opened_ms = support_now_ms();
    rude_join(&a, &router, "a", "room", "");
    cr_expect(rude_expect(&a, "system/welcome", NULL));
    cr_expect(rude_is_quiet(&many[0], 0), "it has not waited until they were cut");
    for (i = 0; i < MANY; i++) {
        rude_drain(&many[i]);
        rude_shut(&many[i]);
    }
    cr_expect(support_now_ms() - opened_ms < DAEMON_PATIENCE_MS, "%ld",
              support_now_ms() - opened_ms);
    rude_shut(&a);
}

/* What somebody without a token sends is escaped and cut; a line of the log is a line of ours. */
Test(http_rude, nobody_can_forge_a_line_of_the_log)
{
    struct daemon talkative;
    struct rude rude;

    daemon_start(&talkative, "{\"log\":{\"level\":\"debug\"}}", 0);
    rude_http(&rude, &talkative,
              "GET /x%22%1B%20ts=2026?secret=%0Ats=2026 HTTP/1.1\r\nHost: x\r\n"
              "Authorization: Bearer hunter2\r\n\r\n");
    rude_shut(&rude);
    cr_expect(daemon_logs(&talkative, "event=request method=\"GET\" path=\"/x%22%1B%20ts"));
    cr_expect(!daemon_logged(&talkative, "\nts=2026 "));
    cr_expect(!daemon_logged(&talkative, "secret"));
    cr_expect(!daemon_logged(&talkative, "hunter2"));
    cr_expect_eq(daemon_stop(&talkative), 0);
}
