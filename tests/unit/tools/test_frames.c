/*
 * What breaks for whom: a frame reader that loses its place hands the guarded agent the inside of
 * one message as another; one that keeps everything is a way to fill its memory. RFC 6455
 * section 5.
 */
#include "tests/support/envelope_text.h"
#include "tests/unit/tools/frame_text.h"
#include "tools/mcpx-bridge/frames.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define MASK "\x11\x22\x33\x44"

/* Everything that comes out of a stream fed in pieces, as text: "message 1 hello|". */
static void read_all(struct frames *frames, struct mcpx_slice stream, size_t piece,
                     struct mcpx_text *out)
{
    static const char *const names[] = {"more",     "message", "control",
                                        "overlong", "bad",     "nomem"};

    for (size_t at = 0; at < stream.len; at += piece) {
        size_t len = stream.len - at < piece ? stream.len - at : piece;
        struct frames_found found;
        enum frames_step step;

        frames_feed(frames, (struct mcpx_slice){stream.text + at, len});
        while ((step = frames_next(frames, &found)) != FRAMES_MORE) {
            mcpx_text_puts(out, names[step]);
            mcpx_text_puts(out, " ");
            mcpx_text_number(out, found.opcode);
            mcpx_text_puts(out, " ");
            mcpx_text_slice(out, found.payload);
            mcpx_text_puts(out, "|");
            if (step == FRAMES_BAD)
                return;
        }
    }
}

static void expect_in_pieces(struct mcpx_slice stream, size_t max, bool masked,
                             const char *expected)
{
    for (size_t piece = 1; piece <= stream.len; piece++) {
        struct frames frames = {.max = max, .masked = masked};
        struct mcpx_text out = {0};

        read_all(&frames, stream, piece, &out);
        cr_expect_str_eq(out.text ? out.text : "", expected, "in pieces of %zu", piece);
        mcpx_text_fini(&out);
        frames_fini(&frames);
    }
}

static void put(struct mcpx_text *out, unsigned first, const char *payload)
{
    add_frame(out, first, NULL, mcpx_slice_of(payload));
}

Test(frames, come_out_whole_however_they_come_in)
{
    struct mcpx_text stream = {0};

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
    expect_in_pieces(mcpx_text_view(&stream), 1000, false,
                     "message 1 hello|message 1 |control 9 are you there|control 9 |"
                     "message 1 abc|message 2 bytes|control 8 \x03\xe8|");
    mcpx_text_fini(&stream);
}

Test(frames, of_a_client_are_unmasked)
{
    struct mcpx_text stream = {0};

    add_frame(&stream, FIRST_TEXT, MASK, MCPX_SLICE("hello"));
    add_frame(&stream, 0x01, MASK, MCPX_SLICE("abcde"));
    add_frame(&stream, FIRST_PING, "\x01\x02\x03\x04", MCPX_SLICE("ping!"));
    add_frame(&stream, 0x80, "\xff\x00\xff\x00", MCPX_SLICE("fghij"));
    expect_in_pieces(mcpx_text_view(&stream), 1000, true,
                     "message 1 hello|control 9 ping!|message 1 abcdefghij|");
    mcpx_text_fini(&stream);
}

Test(frames, keep_the_bytes_they_came_as_without_what_came_between)
{
    struct mcpx_text stream = {0}, message = {0}, ping = {0};
    struct frames frames = {.max = 1000};
    struct frames_found found;

    put(&message, 0x01, "a");
    mcpx_text_slice(&stream, mcpx_text_view(&message));
    put(&ping, FIRST_PING, "x");
    mcpx_text_slice(&stream, mcpx_text_view(&ping));
    put(&message, 0x80, "b");
    put(&stream, 0x80, "b");
    frames_feed(&frames, mcpx_text_view(&stream));
    cr_assert_eq(frames_next(&frames, &found), FRAMES_CONTROL);
    cr_expect(mcpx_slice_equal(found.raw, mcpx_text_view(&ping)));
    cr_assert_eq(frames_next(&frames, &found), FRAMES_MESSAGE);
    cr_expect(mcpx_slice_equal(found.raw, mcpx_text_view(&message)));
    cr_expect_eq(frames_next(&frames, &found), FRAMES_MORE);
    mcpx_text_fini(&stream);
    mcpx_text_fini(&message);
    mcpx_text_fini(&ping);
    frames_fini(&frames);
}

Test(frames, may_be_of_every_length)
{
    static const size_t lengths[] = {0, 1, 125, 126, 127, 65535, 65536, 65537, 3000000};
    struct frames frames = {.max = 4000000};

    for (size_t i = 0; i < COUNT(lengths); i++) {
        struct mcpx_text payload = {0}, stream = {0};
        struct frames_found found;

        for (size_t j = 0; j < lengths[i]; j++)
            mcpx_text_add(&payload, &(char){(char)('a' + j % 26)}, 1);
        add_frame(&stream, FIRST_TEXT, NULL, mcpx_text_view(&payload));
        frames_feed(&frames, mcpx_text_view(&stream));
        cr_expect_eq(frames_next(&frames, &found), FRAMES_MESSAGE, "%zu bytes", lengths[i]);
        cr_expect(mcpx_slice_equal(found.payload, mcpx_text_view(&payload)), "%zu bytes",
                  lengths[i]);
        cr_expect_eq(frames_next(&frames, &found), FRAMES_MORE);
        mcpx_text_fini(&payload);
        mcpx_text_fini(&stream);
    }
    frames_fini(&frames);
}

Test(frames, beyond_the_bound_are_skipped_and_the_next_message_is_read)
{
    struct mcpx_text stream = {0};

    put(&stream, FIRST_TEXT, "eighteen bytes....");
    put(&stream, FIRST_TEXT, "nineteen bytes.....");
    put(&stream, 0x01, "ten bytes.");
    put(&stream, FIRST_PING, "p");
    put(&stream, 0x00, "ten more..");
    put(&stream, 0x80, "end");
    put(&stream, FIRST_TEXT, "ok");
    expect_in_pieces(
        mcpx_text_view(&stream), 20, false,
        "message 1 eighteen bytes....|overlong 0 |control 9 p|overlong 0 |message 1 ok|");
    mcpx_text_fini(&stream);
}

Test(frames, without_payload_cost_memory_too)
{
    struct mcpx_text stream = {0};
    struct frames frames = {.max = 100};
    struct mcpx_text out = {0};

    put(&stream, 0x01, "");
    for (int i = 0; i < 10000; i++)
        put(&stream, 0x00, "");
    put(&stream, 0x80, "");
    read_all(&frames, mcpx_text_view(&stream), 4096, &out);
    cr_expect_str_eq(out.text, "overlong 0 |");
    cr_expect_leq(frames.raw.size, 1024);
    mcpx_text_fini(&stream);
    mcpx_text_fini(&out);
    frames_fini(&frames);
}

Test(frames, that_break_the_rules_end_the_stream)
{
    static const struct {
        const char *name;
        struct mcpx_slice bytes;
        bool masked;
        const char *reason;
    } rows[] = {
        {"reserved bit", T("\xc1\x00"), false, "reserved"},
        {"compressed", T("\x91\x00"), false, "reserved"},
        {"opcode 3", T("\x83\x00"), false, "opcode"},
        {"opcode 7", T("\x87\x00"), false, "opcode"},
        {"opcode 11", T("\x8b\x00"), false, "opcode"},
        {"masked by a server", T("\x81\x80" MASK), false, "is masked"},
        {"bare from a client", T("\x81\x00"), true, "not masked"},
        {"125 in two bytes", T("\x81\x7e\x00\x7d"), false, "longer than needed"},
        {"65535 in eight", T("\x81\x7f\0\0\0\0\0\0\xff\xff"), false, "longer than needed"},
        {"negative length", T("\x81\x7f\x80\0\0\0\0\0\0\0"), false, "may be"},
        {"long ping", T("\x89\x7e\x00\x7e"), false, "control"},
        {"fragmented ping", T("\x09\x00"), false, "control"},
        {"continues nothing", T("\x80\x00"), false, "not begun"},
        {"continues after the end", T("\x81\x00\x80\x00"), false, "not begun"},
        {"begins twice", T("\x01\x00\x81\x00"), false, "before the one before"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct frames frames = {.max = 1000, .masked = rows[i].masked};
        struct frames_found found;
        enum frames_step step;

        frames_feed(&frames, rows[i].bytes);
        do {
            step = frames_next(&frames, &found);
        } while (step == FRAMES_MESSAGE);
        cr_expect_eq(step, FRAMES_BAD, "%s", rows[i].name);
        cr_expect(found.reason && strstr(found.reason, rows[i].reason), "%s: %s", rows[i].name,
                  found.reason ? found.reason : "(none)");
        frames_feed(&frames, MCPX_SLICE("\x81\x00"));
        cr_expect_eq(frames_next(&frames, &found), FRAMES_BAD, "%s stays", rows[i].name);
        frames_fini(&frames);
    }
}

Test(frames, of_any_length_are_skipped_without_being_kept)
{
    /* 2^62 bytes are announced: nothing is allocated for them. */
    struct frames frames = {.max = 1000};
    struct frames_found found;

    frames_feed(&frames, MCPX_SLICE("\x81\x7f\x40\0\0\0\0\0\0\0some of it"));
    cr_expect_eq(frames_next(&frames, &found), FRAMES_MORE);
    cr_expect_leq(frames.raw.size, 256);
    frames_fini(&frames);
}
