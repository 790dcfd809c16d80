/*
 * Messages through real sockets: whatever way a message is cut into frames and segments, others
 * get it whole, once, in order, and with every byte of its payload as it was sent. What breaks
 * here corrupts somebody's tool call. Protocol: sections 1, 5 and 6.
 */
#include "tests/support/rude_client.h"
#include "tests/support/suite_router.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(routing, .init = suite_router_start, .fini = suite_router_stop, .timeout = 120);

/* Deep nesting and a large text are made; the rest is as written. */
static const char *const faithful[] = {
    "{}",
    "{\"n\":12345678901234567890123}",
    "{\"n\":1e400,\"m\":-1E-400}",
    "{\"n\":1.10,\"m\":-0,\"o\":1E5,\"p\":0.0000}",
    "{\"s\":\"\\u0000\"}",
    "{\"s\":\"\\ud800\",\"t\":\"\\udc00\\ud800x\"}",
    "{\"a\":1,\"a\":2,\"a\":{\"b\":1,\"b\":2}}",
    "{ \"white\" :\t[ 1 ,\r\n 2 ] }",
    "{\"s\":\"\\/\\u00e9\xc3\xa9\xf0\x9f\x98\x80\"}",
    "{\"\":\"\",\"__proto__\":{\"x\":1}}",
    "{\"kind\":\"system/error\",\"from\":\"b\",\"id\":\"other\"}",
};

static char *deep(size_t levels)
{
    size_t i, at = 0;
    char *text = malloc(levels * 6 + 16);

    for (i = 0; i < levels; i++)
        at += (size_t)sprintf(text + at, "{\"a\":");
    at += (size_t)sprintf(text + at, "1");
    memset(text + at, '}', levels);
    text[at + levels] = '\0';
    return text;
}

static char *large(size_t size)
{
    char *text = malloc(size + 16);
    int head = sprintf(text, "{\"t\":\"");

    memset(text + head, 'x', size);
    strcpy(text + head + size, "\"}");
    return text;
}

static void expect_faithful(struct rude *clients, size_t row, const char *payload)
{
    size_t i, size = strlen(payload) + 16;
    char *part = malloc(size), id[32];
    struct frame frame;

    snprintf(part, size, "\"payload\":%s}", payload);
    snprintf(id, sizeof id, "faithful-%zu", row);
    rude_chat(&clients[0], id, payload);
    snprintf(id, sizeof id, "\"id\":\"faithful-%zu\"", row);
    for (i = 0; i < 3; i++) {
        cr_assert(rude_expect(&clients[i], id, &frame), "%.60s at %zu", payload, i);
        cr_expect(frame.len > strlen(part) && memcmp(frame.payload + frame.len - strlen(part),
                                                     part, strlen(part)) == 0,
                  "%.60s at %zu", payload, i);
    }
    free(part);
}

Test(routing, payload_bytes_are_identical_at_three_receivers)
{
    struct rude clients[3] = {{0}};
    char *nested = deep(511), *million = large(1 << 20);
    size_t i, rows = sizeof faithful / sizeof *faithful;

    rude_join(&clients[0], &router, "a", "room", "");
    rude_join(&clients[1], &router, "b", "room", "");
    rude_join(&clients[2], &router, "c", "room", "");
    for (i = 0; i < rows; i++)
        expect_faithful(clients, i, faithful[i]);
    expect_faithful(clients, rows, nested); /* 512 with the envelope */
    expect_faithful(clients, rows + 1, million);
    free(nested);
    free(million);
    for (i = 0; i < 3; i++)
        rude_shut(&clients[i]);
}

Test(routing, a_message_may_be_cut_into_frames_anywhere)
{
    struct rude a = {0};
    size_t len = 1;
    char id[32], text[256];

    rude_join(&a, &router, "a", "room", "");
    for (size_t at = 0; at <= len; at++) {
        len = (size_t)snprintf(
            text, sizeof text,
            "{\"protocol\":\"mcpx/v0.1\",\"id\":\"cut-%zu\",\"kind\":\"chat\","
            "\"payload\":{\"text\":\"gr\xc3\xbc\xc3\x9f\"}}",
            at);
        rude_frame(&a, TEXT_OPEN, text, at);
        rude_frame(&a, PING, "between", 7); /* control frames may come in between */
        rude_frame(&a, CONTINUE_OPEN, "", 0);
        rude_frame(&a, CONTINUE_LAST, text + at, len - at);
        snprintf(id, sizeof id, "\"id\":\"cut-%zu\"", at);
        cr_assert(rude_expect(&a, id, NULL), "cut at %zu", at);
    }
    rude_shut(&a);
}

/* What a joiner sees of one publisher: history and live traffic together have no gap. */
static void follow(const char *payload, size_t len, const char *publisher, long *last)
{
    const char *at = payload, *end = payload + len;
    size_t name = strlen(publisher);

    while ((at = memchr(at, '#', (size_t)(end - at)))) {
        at++;
        if ((size_t)(end - at) > name && memcmp(at, publisher, name) == 0) {
            long n = atol(at + name);

            cr_assert(*last < 0 || n == *last + 1, "%s: %ld after %ld", publisher, n, *last);
            *last = n;
        }
    }
}

static void publish(struct rude *publisher, const char *name, long *next)
{
    char id[32], payload[32];

    snprintf(id, sizeof id, "%s%ld", name, *next);
    snprintf(payload, sizeof payload, "{\"m\":\"#%s%ld;\"}", name, *next);
    rude_chat(publisher, id, payload);
    (*next)++;
}

/* Drops what a publisher hears: it only must not clog. */
static void listen_to(struct rude *publisher, const char *name, long sent)
{
    char part[48];

    snprintf(part, sizeof part, "#%s%ld;", name, sent - 1);
    cr_assert(rude_expect(publisher, part, NULL));
}

static void follow_until(struct rude *joiner, long p_next, long q_next)
{
    long p = -1, q = -1;
    struct frame frame;

    while (p != p_next - 1 || q != q_next - 1) {
        cr_assert(rude_next(joiner, &frame));
        follow(frame.payload, frame.len, "p-", &p);
        follow(frame.payload, frame.len, "q-", &q);
    }
}

Test(routing, two_hundred_late_joiners_see_no_gap_while_two_publish, .timeout = 240)
{
    enum { JOINERS = 200, AHEAD = 20 };
    static struct rude joiners[JOINERS];
    struct rude p = {0}, q = {0};
    long p_next = 0, q_next = 0;
    int i, j;

    rude_join(&p, &router, "p", "room", "");
    rude_join(&q, &router, "q", "room", "");
    for (i = 0; i < JOINERS; i++) {
        char name[32];

        for (j = 0; j < AHEAD; j++) {
            publish(&p, "p-", &p_next);
            publish(&q, "q-", &q_next);
        }
        snprintf(name, sizeof name, "j%d", i);
        rude_join(&joiners[i], &router, name, "room", ""); /* while they are on their way */
        for (j = 0; j < AHEAD; j++) {
            publish(&q, "q-", &q_next);
            publish(&p, "p-", &p_next);
        }
        listen_to(&p, "p-", p_next);
        listen_to(&q, "q-", q_next);
    }
    for (i = 0; i < JOINERS; i++) {
        follow_until(&joiners[i], p_next, q_next);
        rude_shut(&joiners[i]);
    }
    rude_shut(&p);
    rude_shut(&q);
}
