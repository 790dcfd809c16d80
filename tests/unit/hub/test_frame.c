/*
 * What breaks for whom: every client, at the lengths where the head of a frame grows.
 * RFC 6455 section 5.2.
 */
#include "router/hub/log/log.h"

#include <criterion/criterion.h>

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
