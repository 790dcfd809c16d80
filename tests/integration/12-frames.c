/*
 * What a WebSocket server must do, case by case, through the real daemon: every frame sent whole
 * and byte by byte, because where a segment ends says nothing. The list of cases follows the
 * sections of RFC 6455. Protocol: section 6.
 */
#include "lib/base/scoped.h"
#include "tests/support/envelope_text.h"
#include "tests/support/rude_client.h"
#include "tests/support/suite_router.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* Those whom most tests have in a room. */
static struct rude a, b;

static void shut(void)
{
    rude_shut(&a);
    rude_shut(&b);
    suite_router_stop();
}

TestSuite(frames, .init = suite_router_start, .fini = shut, .timeout = 240);

/* The mask is four zeros: a mask like any other, which leaves the bytes readable here. */
#define M "\0\0\0\0"
#define X25 "xxxxxxxxxxxxxxxxxxxxxxxxx"
#define X123 X25 X25 X25 X25 "xxxxxxxxxxxxxxxxxxxxxxx"

/*
 * bytes   frames of a member, as they go over the wire
 * code    of the close frame that answers; 0: the connection goes on
 * holds   part of a frame that has to come before; NULL: none
 */
struct row {
    const char *what;
    struct mcpx_slice bytes;
    int code;
    const char *holds;
};

static const struct row rows[] = {
    /* 5.1, 5.3: masking */
    {"a frame without mask", T("\x81\x02{}"), 1002, NULL},
    {"a ping without mask", T("\x89\x00"), 1002, NULL},
    /* 5.2: reserved bits, opcodes, lengths */
    {"RSV1", T("\xc1\x80" M), 1002, NULL},
    {"RSV2", T("\xa1\x80" M), 1002, NULL},
    {"RSV3", T("\x91\x80" M), 1002, NULL},
    {"RSV1 on a ping", T("\xc9\x80" M), 1002, NULL},
    {"RSV on a close", T("\xf8\x80" M), 1002, NULL},
    {"opcode 3", T("\x83\x80" M), 1002, NULL},
    {"opcode 4", T("\x84\x80" M), 1002, NULL},
    {"opcode 5", T("\x85\x80" M), 1002, NULL},
    {"opcode 6", T("\x86\x80" M), 1002, NULL},
    {"opcode 7", T("\x87\x80" M), 1002, NULL},
    {"opcode 11", T("\x8b\x80" M), 1002, NULL},
    {"opcode 12", T("\x8c\x80" M), 1002, NULL},
    {"opcode 13", T("\x8d\x80" M), 1002, NULL},
    {"opcode 14", T("\x8e\x80" M), 1002, NULL},
    {"opcode 15", T("\x8f\x80" M), 1002, NULL},
    {"opcode 3 behind a good frame", T("\x81\x82" M "{}\x83\x80" M), 1002, "invalid_envelope"},
    {"2 bytes in 16 bits", T("\x81\xfe\x00\x02" M "{}"), 1002, NULL},
    {"125 bytes in 16 bits", T("\x81\xfe\x00\x7d" M), 1002, NULL},
    {"2 bytes in 64 bits", T("\x81\xff\0\0\0\0\0\0\0\x02" M "{}"), 1002, NULL},
    {"65535 bytes in 64 bits", T("\x81\xff\0\0\0\0\0\0\xff\xff" M), 1002, NULL},
    {"a length with the highest bit", T("\x81\xff\x80\0\0\0\0\0\0\0" M), 1002, NULL},
    {"the largest length there is", T("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff" M), 1009,
     "longer than a message may be"},
    /* 5.4: fragments */
    {"a continuation of nothing", T("\x80\x82" M "{}"), 1002, NULL},
    {"an unfinished continuation of nothing", T("\x00\x82" M "{}"), 1002, NULL},
    {"a continuation behind a whole message", T("\x81\x82" M "{}\x80\x80" M), 1002,
     "invalid_envelope"},
    {"a message inside a message", T("\x01\x81" M "{\x81\x82" M "{}"), 1002, NULL},
    {"a binary message inside a message", T("\x01\x81" M "{\x82\x81" M "x"), 1002, NULL},
    {"a message in fragments", T("\x01\x81" M "{\x00\x80" M "\x80\x81" M "}"), 0,
     "invalid_envelope"},
    {"empty fragments", T("\x01\x80" M "\x00\x80" M "\x80\x80" M), 0, "invalid_envelope"},
    {"a ping between fragments", T("\x01\x81" M "{\x89\x82" M "hi\x80\x81" M "}"), 0, "hi"},
    {"a close between fragments", T("\x01\x81" M "{\x88\x82" M "\x03\xe8"), 1000, NULL},
    /* 5.5: control frames */
    {"a fragmented ping", T("\x09\x80" M), 1002, NULL},
    {"a fragmented pong", T("\x0a\x80" M), 1002, NULL},
    {"a fragmented close", T("\x08\x82" M "\x03\xe8"), 1002, NULL},
    {"a ping of 126 bytes", T("\x89\xfe\x00\x7e" M), 1002, NULL},
    {"a pong of 64 bits", T("\x8a\xff\0\0\0\0\0\x01\0\0" M), 1002, NULL},
    {"a close of 126 bytes", T("\x88\xfe\x00\x7e" M "\x03\xe8"), 1002, NULL},
    {"an empty ping", T("\x89\x80" M), 0, NULL},
    {"a ping of bytes", T("\x89\x84" M "\x00\xff\xfe\x0a"), 0, "\xff\xfe\x0a"},
    {"a ping of 125 bytes", T("\x89\xfd" M X123 "yz"), 0, X123 "yz"},
    {"a pong nobody asked for", T("\x8a\x82" M "\xff\xfe"), 0, NULL},
    /* 5.5.1, 7.4: close frames */
    {"a close without code", T("\x88\x80" M), 1005, NULL},
    {"a close with half a code", T("\x88\x81" M "\x03"), 1002, NULL},
    {"close 0", T("\x88\x82" M "\x00\x00"), 1002, NULL},
    {"close 999", T("\x88\x82" M "\x03\xe7"), 1002, NULL},
    {"close 1000", T("\x88\x82" M "\x03\xe8"), 1000, NULL},
    {"close 1001", T("\x88\x82" M "\x03\xe9"), 1001, NULL},
    {"close 1003", T("\x88\x82" M "\x03\xeb"), 1003, NULL},
    {"close 1004", T("\x88\x82" M "\x03\xec"), 1002, NULL},
    {"close 1005", T("\x88\x82" M "\x03\xed"), 1002, NULL},
    {"close 1006", T("\x88\x82" M "\x03\xee"), 1002, NULL},
    {"close 1007", T("\x88\x82" M "\x03\xef"), 1007, NULL},
    {"close 1011", T("\x88\x82" M "\x03\xf3"), 1011, NULL},
    {"close 1014", T("\x88\x82" M "\x03\xf6"), 1014, NULL},
    {"close 1015", T("\x88\x82" M "\x03\xf7"), 1002, NULL},
    {"close 1016", T("\x88\x82" M "\x03\xf8"), 1002, NULL},
    {"close 2999", T("\x88\x82" M "\x0b\xb7"), 1002, NULL},
    {"close 3000", T("\x88\x82" M "\x0b\xb8"), 3000, NULL},
    {"close 4999", T("\x88\x82" M "\x13\x87"), 4999, NULL},
    {"close 5000", T("\x88\x82" M "\x13\x88"), 1002, NULL},
    {"close 65535", T("\x88\x82" M "\xff\xff"), 1002, NULL},
    {"a close with the longest reason", T("\x88\xfd" M "\x03\xe8" X123), 1000, NULL},
    {"a reason that is not UTF-8", T("\x88\x84" M "\x03\xe8\xc3\x28"), 1007, NULL},
    {"a reason cut inside a character", T("\x88\x83" M "\x03\xe8\xc3"), 1007, NULL},
    {"what follows a close", T("\x88\x82" M "\x03\xe8\x89\x82" M "hi"), 1000, NULL},
    /* 5.6, 8.1: text is UTF-8 */
    {"text that is not UTF-8", T("\x81\x82" M "\xc3\x28"), 1007, NULL},
    {"a character written too long", T("\x81\x82" M "\xc0\xaf"), 1007, NULL},
    {"half of a pair", T("\x81\x83" M "\xed\xa0\x80"), 1007, NULL},
    {"beyond Unicode", T("\x81\x84" M "\xf4\x90\x80\x80"), 1007, NULL},
    {"text that ends inside a character", T("\x81\x81" M "\xc3"), 1007, NULL},
    {"a fragment that ends inside a character", T("\x01\x83" M "[\"\xc3\x80\x83" M "\xbc\"]"),
     0, "invalid_envelope"},
    {"fragments that end inside a character", T("\x01\x81" M "\xc3\x80\x80" M), 1007, NULL},
    /* this router takes text only */
    {"a binary message", T("\x82\x81" M "x"), 1003, "expected a text message"},
    {"the beginning of a binary message", T("\x02\x81" M "x"), 1003, NULL},
    {"an empty binary message", T("\x82\x80" M), 1003, NULL},
};

static void send_bytes(struct rude *one, struct mcpx_slice bytes, size_t piece)
{
    for (size_t at = 0; at < bytes.len; at += piece)
        rude_send(one, bytes.text + at, bytes.len - at < piece ? bytes.len - at : piece);
}

/* Reads until the close frame or our own pong; true when `holds` was among what came. */
static int read_until_end(struct rude *one, const char *holds, bool *seen)
{
    struct frame frame;
    bool alive = false;

    while (rude_next(one, &frame)) {
        *seen = *seen || (holds && frame_holds(&frame, holds));
        if (frame.first == CLOSE)
            return frame.len < 2 ? 1005
                                 : (unsigned char)frame.payload[0] << 8 |
                                       (unsigned char)frame.payload[1];
        alive = alive || (frame.first == PONG && frame_holds(&frame, "alive?"));
        if (alive && *seen)
            return 0; /* in either order: pongs do not wait for the hub's turn */
    }
    return 1006;
}

static void expect_row(const struct row *row, size_t piece)
{
    bool seen = !row->holds;
    int code;

    rude_join(&a, &router, "a", "room", "");
    cr_assert(rude_expect(&a, "\"event\":\"join\"", NULL));
    send_bytes(&a, row->bytes, piece);
    if (!row->code)
        rude_frame(&a, PING, "alive?", 6);
    code = read_until_end(&a, row->holds, &seen);
    cr_expect_eq(code, row->code, "%s: %d", row->what, code);
    cr_expect(seen, "%s: '%s' did not come", row->what, row->holds);
    if (code) {
        if (code != 1002)
            rude_frame(&a, CLOSE, "", 0); /* as a client does; broken frames wait for none */
        rude_drain(&a);
        cr_expect(a.ended, "%s", row->what);
    }
    rude_shut(&a);
}

Test(frames, every_case_of_rfc_6455_in_one_piece)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_row(&rows[i], rows[i].bytes.len);
}

Test(frames, every_case_of_rfc_6455_byte_by_byte)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_row(&rows[i], 1);
}

Test(frames, of_several_pings_each_is_answered_in_order)
{
    struct frame frame;
    char number[16];

    rude_join(&a, &router, "a", "room", "");
    for (int i = 0; i < 10; i++) {
        snprintf(number, sizeof number, "ping%d", i);
        rude_frame(&a, PING, number, 5);
    }
    for (int i = 0; i < 10;) {
        cr_assert(rude_next(&a, &frame));
        if (frame.first != PONG)
            continue;
        snprintf(number, sizeof number, "ping%d", i++);
        cr_expect(frame.len == 5 && memcmp(frame.payload, number, 5) == 0, "%s", number);
    }
}

/* What is no message costs as if it were one. Protocol: section 8. */
static void expect_charged(int first, const char *what)
{
    struct daemon poor;
    int code;

    daemon_start(&poor, "{\"limits\":{\"messages_per_minute\":100}}", 0);
    rude_join(&a, &poor, "a", "room", "");
    cr_assert(rude_expect(&a, "\"event\":\"join\"", NULL));
    rude_frame(&a, first, "x", 1);
    for (int i = 0; i < 99 + 700; i++)
        rude_frame(&a, first == TEXT_OPEN ? CONTINUE_OPEN : first, "x", 1);
    cr_expect(rude_expect(&a, "rate_limited", NULL), "%s", what);
    code = rude_close_code(&a);
    cr_expect_eq(code, 1008, "%s: %d", what, code);
    rude_shut(&a);
    cr_expect_eq(daemon_stop(&poor), 0);
}

Test(frames, that_are_no_messages_are_charged)
{
    expect_charged(PING, "pings");
    expect_charged(PONG, "pongs");
    expect_charged(TEXT_OPEN, "tiny frames");
}

/*
 * What breaks: a read of a thousand messages is cut where its sender's share of a turn ends, and
 * what waits is lost, changes places, or is overtaken by the close behind it.
 */
Test(frames, what_one_read_holds_arrives_whole_and_in_order)
{
    enum { MESSAGES = 3000 };
    mx_scoped_text all = {0};
    struct frame frame;
    char text[128], id[32];

    rude_join(&a, &router, "a", "room", "");
    cr_assert(rude_expect(&a, "\"event\":\"join\"", &frame));
    rude_join(&b, &router, "b", "room", "&history=0");
    cr_assert(rude_expect(&b, "\"event\":\"join\"", &frame));
    for (int i = 0; i < MESSAGES; i++) {
        int len = snprintf(text, sizeof text,
                           "{\"protocol\":\"mcpx/v0.1\",\"id\":\"n%d\",\"kind\":\"chat\","
                           "\"payload\":{}}",
                           i);
        char head[] = {(char)TEXT, (char)(0x80 | len), 0, 0, 0, 0};

        mcpx_text_add(&all, head, sizeof head);
        mcpx_text_add(&all, text, (size_t)len);
        if (i % 100 == 50)
            mcpx_text_add(&all, "\x89\x80" M, 6);
    }
    mcpx_text_add(&all, "\x88\x82" M "\x03\xe8", 8);
    rude_send(&a, all.text, all.len);
    for (int i = 0; i < MESSAGES; i++) {
        snprintf(id, sizeof id, "\"id\":\"n%d\"", i);
        do
            cr_assert(rude_next(&b, &frame), "the end, not %s", id);
        while (!frame_holds(&frame, "\"chat\""));
        cr_assert(frame_holds(&frame, id), "%s, not %.*s", id, (int)frame.len, frame.payload);
    }
    cr_expect(rude_expect(&b, "\"event\":\"leave\"", &frame));
    cr_expect_eq(rude_close_code(&a), 1000);
}
