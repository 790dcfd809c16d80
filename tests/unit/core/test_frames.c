/*
 * What breaks for whom: a frame reader that loses its place hands the guarded agent the inside of
 * one message as another; one that keeps everything is a way to fill its memory. RFC 6455
 * section 5.
 */
#include "lib/base/scoped.h"
#include "lib/wire/frames.h"
#include "tests/support/envelope_text.h"
#include "tests/support/frame_text.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define MASK "\x11\x22\x33\x44"

/* Everything that comes out of a stream fed in pieces, as text: "message 1 hello|". */
static void read_all(struct mx_frames *frames, struct mcpx_slice stream, size_t piece,
                     struct mcpx_text *out)
{
    static const char *const names[] = {"more",     "message", "control",
                                        "overlong", "bad",     "nomem"};
    char buffer[4096]; /* unmasking is done in place */

    for (size_t at = 0; at < stream.len; at += piece) {
        size_t len = stream.len - at < piece ? stream.len - at : piece;
        struct mx_frames_found found;
        enum mx_frames_step step;

        cr_assert_leq(len, sizeof buffer);
        memcpy(buffer, stream.text + at, len);
        mx_frames_feed_own(frames, buffer, len);
        while ((step = mx_frames_next(frames, &found)) != MX_FRAMES_MORE) {
            mcpx_text_puts(out, names[step]);
            mcpx_text_puts(out, " ");
            mcpx_text_number(out, found.opcode);
            mcpx_text_puts(out, " ");
            mcpx_text_slice(out, found.payload);
            mcpx_text_puts(out, "|");
            if (step == MX_FRAMES_BAD)
                return;
        }
    }
}

/* With and without the bytes the messages came as: what comes out is the same. */
static void expect_in_pieces(struct mcpx_slice stream, size_t max, enum mx_side side,
                             const char *expected)
{
    for (size_t piece = 1; piece <= stream.len; piece++)
        for (int keep = max >= 1000 ? 0 : 1; keep < 2; keep++) {
            struct mx_frames frames = {.max = max, .side = side, .keep_raw = keep};
            struct mcpx_text out = {0};

            read_all(&frames, stream, piece, &out);
            cr_expect_str_eq(out.text ? out.text : "", expected, "in pieces of %zu: %s", piece,
                             out.text ? out.text : "");
            mcpx_text_fini(&out);
            mx_frames_fini(&frames);
        }
}

static void put(struct mcpx_text *out, unsigned first, const char *payload)
{
    add_frame(out, first, NULL, mcpx_slice_of(payload));
}

Test(frames, come_out_whole_however_they_come_in)
{
    mx_scoped_text stream = {0};

    put(&stream, FIRST_TEXT, "hello");
    put(&stream, FIRST_TEXT, "");
    put(&stream, 0x01, "a");
    put(&stream, FIRST_PING, "are you there");
    put(&stream, 0x00, "b");
    put(&stream, FIRST_PING, "");
    put(&stream, 0x00, "");
    put(&stream, 0x80, "c");
    put(&stream, FIRST_BINARY, "bytes");
    put(&stream, FIRST_CLOSE, "\x03\xe8");
    expect_in_pieces(mcpx_text_view(&stream), 1000, MX_FROM_SERVER,
                     "message 1 hello|message 1 |control 9 are you there|control 9 |"
                     "message 1 abc|message 2 bytes|control 8 \x03\xe8|");
}

Test(frames, of_a_client_are_unmasked)
{
    mx_scoped_text stream = {0};

    add_frame(&stream, FIRST_TEXT, MASK, MCPX_SLICE("hello"));
    add_frame(&stream, 0x01, MASK, MCPX_SLICE("abcde"));
    add_frame(&stream, FIRST_PING, "\x01\x02\x03\x04", MCPX_SLICE("ping!"));
    add_frame(&stream, 0x80, "\xff\x00\xff\x00", MCPX_SLICE("fghij"));
    expect_in_pieces(mcpx_text_view(&stream), 1000, MX_FROM_CLIENT,
                     "message 1 hello|control 9 ping!|message 1 abcdefghij|");
}

Test(frames, of_a_client_are_read_as_they_are_written)
{
    static const unsigned char key[4] = {0x11, 0, 0xfe, 0x80};
    static const size_t lens[] = {0, 1, 125, 126, 127, 65535, 65536, (size_t)1 << 40};

    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        char bytes[MX_FRAME_HEAD_MAX];
        size_t size = mx_frame_head_mask(bytes, MX_PING, lens[i], key);
        struct mx_frame_head head;

        if (lens[i] > MX_CONTROL_MAX)
            size = mx_frame_head_mask(bytes, MX_TEXT, lens[i], key);
        cr_expect_null(
            mx_frame_head_read((struct mcpx_slice){bytes, size}, MX_FROM_CLIENT, &head));
        cr_expect_eq(head.size, size, "%zu", lens[i]);
        cr_expect_eq(head.len, lens[i]);
        cr_expect_eq(head.opcode, lens[i] > MX_CONTROL_MAX ? MX_TEXT : MX_PING);
        cr_expect(head.final && memcmp(head.key, key, sizeof key) == 0);
    }
}

Test(frames, keep_the_bytes_they_came_as_without_what_came_between)
{
    mx_scoped_text stream = {0}, message = {0}, ping = {0};
    struct mx_frames frames = {.max = 1000, .keep_raw = true};
    struct mx_frames_found found;

    put(&message, 0x01, "a");
    mcpx_text_slice(&stream, mcpx_text_view(&message));
    put(&ping, FIRST_PING, "x");
    mcpx_text_slice(&stream, mcpx_text_view(&ping));
    put(&message, 0x80, "b");
    put(&stream, 0x80, "b");
    mx_frames_feed_own(&frames, stream.text, stream.len);
    cr_assert_eq(mx_frames_next(&frames, &found), MX_FRAMES_CONTROL);
    cr_expect(mcpx_slice_equal(found.raw, mcpx_text_view(&ping)));
    cr_assert_eq(mx_frames_next(&frames, &found), MX_FRAMES_MESSAGE);
    cr_expect(mcpx_slice_equal(found.raw, mcpx_text_view(&message)));
    cr_expect_eq(mx_frames_next(&frames, &found), MX_FRAMES_MORE);
    mx_frames_fini(&frames);
}

Test(frames, may_be_of_every_length)
{
    static const size_t lengths[] = {0, 1, 125, 126, 127, 65535, 65536, 65537, 3000000};
    struct mx_frames frames = {.max = 4000000};

    for (size_t i = 0; i < COUNT(lengths); i++) {
        struct mcpx_text payload = {0}, stream = {0};
        struct mx_frames_found found;

        for (size_t j = 0; j < lengths[i]; j++)
            mcpx_text_add(&payload, &(char){(char)('a' + j % 26)}, 1);
        add_frame(&stream, FIRST_TEXT, NULL, mcpx_text_view(&payload));
        mx_frames_feed_own(&frames, stream.text, stream.len);
        cr_expect_eq(mx_frames_next(&frames, &found), MX_FRAMES_MESSAGE, "%zu bytes",
                     lengths[i]);
        cr_expect(mcpx_slice_equal(found.payload, mcpx_text_view(&payload)), "%zu bytes",
                  lengths[i]);
        cr_expect_eq(mx_frames_next(&frames, &found), MX_FRAMES_MORE);
        mcpx_text_fini(&payload);
        mcpx_text_fini(&stream);
    }
    mx_frames_fini(&frames);
}

Test(frames, beyond_the_bound_are_skipped_and_the_next_message_is_read)
{
    mx_scoped_text stream = {0};

    put(&stream, FIRST_TEXT, "eighteen bytes....");
    put(&stream, FIRST_TEXT, "nineteen bytes.....");
    put(&stream, 0x01, "ten bytes.");
    put(&stream, FIRST_PING, "p");
    put(&stream, 0x00, "ten more..");
    put(&stream, 0x80, "end");
    put(&stream, FIRST_TEXT, "ok");
    expect_in_pieces(
        mcpx_text_view(&stream), 20, MX_FROM_SERVER,
        "message 1 eighteen bytes....|overlong 0 |control 9 p|overlong 0 |message 1 ok|");
}

Test(frames, without_payload_cost_memory_too)
{
    mx_scoped_text stream = {0};
    struct mx_frames frames = {.max = 100, .keep_raw = true};
    mx_scoped_text out = {0};

    put(&stream, 0x01, "");
    for (int i = 0; i < 10000; i++)
        put(&stream, 0x00, "");
    put(&stream, 0x80, "");
    read_all(&frames, mcpx_text_view(&stream), 4096, &out);
    cr_expect_str_eq(out.text, "overlong 0 |");
    cr_expect_leq(frames.raw.size, 1024);
    cr_expect_eq(frames.tiny_frames, 10001, "and are counted: %zu", frames.tiny_frames);
    mx_frames_fini(&frames);
}

/* A whole message of a fragmented one is lent where it lies or joined, and costs no more than it
 * has brought. */
Test(frames, of_a_message_hold_what_has_arrived)
{
    static char piece[4096];
    struct mx_frames frames = {.max = 1 << 24, .keep_size = 100};
    struct mx_frames_found found;
    mx_scoped_text head = {0};

    mcpx_text_add(&head, "\x81\x7f\0\0\0\0\0\x80\0\0", 10); /* 8 MiB are promised */
    mx_frames_feed_own(&frames, head.text, head.len);
    cr_expect_eq(mx_frames_next(&frames, &found), MX_FRAMES_MORE);
    mx_frames_feed_own(&frames, piece, sizeof piece);
    cr_expect_eq(mx_frames_next(&frames, &found), MX_FRAMES_MORE);
    cr_expect(mx_frames_is_open(&frames));
    cr_expect_leq(mx_frames_held(&frames), 131072, "%zu", mx_frames_held(&frames));
    for (int i = 1; i < 2048; i++) {
        mx_frames_feed_own(&frames, piece, sizeof piece);
        cr_assert_eq(mx_frames_next(&frames, &found),
                     i < 2047 ? MX_FRAMES_MORE : MX_FRAMES_MESSAGE);
    }
    cr_expect_eq(found.payload.len, 8 << 20);
    cr_expect_eq(mx_frames_next(&frames, &found), MX_FRAMES_MORE);
    cr_expect_eq(frames.raw.size, 0, "given back");
    mx_frames_fini(&frames);
}

Test(frames, that_break_the_rules_end_the_stream)
{
    static const struct {
        const char *name;
        struct mcpx_slice bytes;
        enum mx_side side;
        const char *reason;
        int code;
    } rows[] = {
        {"reserved bit", T("\xc1\x00"), MX_FROM_SERVER, "reserved", 1002},
        {"compressed", T("\x91\x00"), MX_FROM_SERVER, "reserved", 1002},
        {"opcode 3", T("\x83\x00"), MX_FROM_SERVER, "opcode", 1002},
        {"opcode 7", T("\x87\x00"), MX_FROM_SERVER, "opcode", 1002},
        {"opcode 11", T("\x8b\x00"), MX_FROM_SERVER, "opcode", 1002},
        {"the first byte of it", T("\x8b"), MX_FROM_SERVER, "opcode", 1002},
        {"masked by a server", T("\x81\x80" MASK), MX_FROM_SERVER, "is masked", 1002},
        {"bare from a client", T("\x81\x00"), MX_FROM_CLIENT, "not masked", 1002},
        {"125 in two bytes", T("\x81\x7e\x00\x7d"), MX_FROM_SERVER, "longer than needed",
         1002},
        {"65535 in eight", T("\x81\x7f\0\0\0\0\0\0\xff\xff"), MX_FROM_SERVER,
         "longer than needed", 1002},
        {"negative length", T("\x81\x7f\x80\0\0\0\0\0\0\0"), MX_FROM_SERVER, "may be", 1002},
        {"long ping", T("\x89\x7e\x00\x7e"), MX_FROM_SERVER, "control", 1002},
        {"fragmented ping", T("\x09\x00"), MX_FROM_SERVER, "control", 1002},
        {"continues nothing", T("\x80\x00"), MX_FROM_SERVER, "not begun", 1002},
        {"continues after the end", T("\x81\x00\x80\x00"), MX_FROM_SERVER, "not begun", 1002},
        {"begins twice", T("\x01\x00\x81\x00"), MX_FROM_SERVER, "before the one before", 1002},
        {"half a close code", T("\x88\x01\x03"), MX_FROM_SERVER, "half a code", 1002},
        {"a close code not to be sent", T("\x88\x02\x03\xed"), MX_FROM_SERVER, "must not be",
         1002},
        {"a reason not UTF-8", T("\x88\x04\x03\xe8\xc3\x28"), MX_FROM_SERVER, "not UTF-8",
         1007},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_frames frames = {.max = 1000, .side = rows[i].side};
        struct mx_frames_found found;
        enum mx_frames_step step;
        char bytes[32];

        memcpy(bytes, rows[i].bytes.text, rows[i].bytes.len);
        mx_frames_feed_own(&frames, bytes, rows[i].bytes.len);
        do {
            step = mx_frames_next(&frames, &found);
        } while (step == MX_FRAMES_MESSAGE);
        cr_expect_eq(step, MX_FRAMES_BAD, "%s", rows[i].name);
        cr_expect_eq(mcpx_error_close(found.err), rows[i].code, "%s: %d", rows[i].name,
                     found.err);
        cr_expect(found.reason && strstr(found.reason, rows[i].reason), "%s: %s", rows[i].name,
                  found.reason ? found.reason : "(none)");
        mx_frames_feed_own(&frames, bytes, 0);
        cr_expect_eq(mx_frames_next(&frames, &found), MX_FRAMES_BAD, "%s stays", rows[i].name);
        mx_frames_fini(&frames);
    }
}

/* RFC 6455 section 7.4: every code there is. */
Test(frames, of_a_close_have_a_code_that_may_be_sent)
{
    for (int code = 0; code < 65536; code++) {
        bool good = (code >= 1000 && code <= 1014 && (code < 1004 || code > 1006)) ||
                    (code >= 3000 && code < 5000);
        char body[2] = {(char)(code >> 8), (char)code};
        const char *reason = NULL;
        int read = 0;
        enum mcpx_err err = mx_close_read((struct mcpx_slice){body, 2}, &read, &reason);

        cr_expect_eq(mcpx_error_close(err), good ? 0 : 1002, "%d", code);
        cr_expect_eq(read, code);
        cr_expect_eq(reason == NULL, good, "%d", code);
    }
}

Test(frames, of_any_length_are_skipped_without_being_kept)
{
    /* 2^62 bytes are announced: nothing is allocated for them. */
    char bytes[] = "\x81\x7f\x40\0\0\0\0\0\0\0some of it";
    struct mx_frames frames = {.max = 1000};
    struct mx_frames_found found;

    mx_frames_feed_own(&frames, bytes, sizeof bytes - 1);
    cr_expect_eq(mx_frames_next(&frames, &found), MX_FRAMES_OVERLONG);
    cr_expect_eq(mx_frames_next(&frames, &found), MX_FRAMES_MORE);
    cr_expect_leq(frames.raw.size, 256);
    mx_frames_fini(&frames);
}
