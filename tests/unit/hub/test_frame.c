/*
 * What breaks for whom: every client, at the lengths where the head of a frame grows.
 * RFC 6455 section 5.2.
 */
#include "router/hub/log/log.h"
#include "tests/support/frames.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(frame, has_the_shortest_head_its_length_allows)
{
    static const struct {
        size_t len;
        size_t head_len;
        unsigned char head[FRAME_HEAD_MAX];
    } rows[] = {
        {0, 2, {0x81, 0}},
        {1, 2, {0x81, 1}},
        {125, 2, {0x81, 125}},
        {126, 4, {0x81, 126, 0, 126}},
        {127, 4, {0x81, 126, 0, 127}},
        {65535, 4, {0x81, 126, 0xff, 0xff}},
        {65536, 10, {0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0}},
        {0x0102030405, 10, {0x81, 127, 0, 0, 0, 1, 2, 3, 4, 5}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char head[FRAME_HEAD_MAX + 1];

        memset(head, 0x55, sizeof head);
        mx_frame_head_write(head, MX_TEXT, rows[i].len);
        cr_expect_eq(mx_frame_head_len(rows[i].len), rows[i].head_len, "%zu", rows[i].len);
        cr_expect(memcmp(head, rows[i].head, rows[i].head_len) == 0, "%zu", rows[i].len);
        cr_expect_eq(head[rows[i].head_len], 0x55, "%zu: writes beyond", rows[i].len);
    }
}

Test(frame, reads_back_as_what_was_written)
{
    static const size_t lens[] = {0, 1, 125, 126, 127, 65535, 65536, 70000};
    static const enum mx_opcode opcodes[] = {MX_TEXT, MX_PING, MX_CLOSE};
    char *bytes = calloc(1, FRAME_HEAD_MAX + 70000 + 2);

    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        for (size_t j = 0; j < 3 && (j == 0 || lens[i] <= 125); j++) {
            struct mcpx_slice stream = {bytes, mx_frame_head_len(lens[i]) + lens[i]};
            struct frame_view frame;

            if (opcodes[j] == MX_CLOSE && lens[i] == 1)
                continue; /* half a close code is no code */
            mx_frame_head_write(bytes, opcodes[j], lens[i]);
            memcpy(bytes + mx_frame_head_len(lens[i]), "\x03\xe8", 2);
            cr_expect(frame_cut(&stream, &frame), "%zu", lens[i]);
            cr_expect_eq(frame.opcode, (int)opcodes[j], "%zu", lens[i]);
            cr_expect_eq(frame.payload.len, lens[i], "%zu", lens[i]);
            cr_expect_eq(stream.len, 0, "%zu", lens[i]);
        }
    }
    free(bytes);
}
