/*
 * frame_text.h - WebSocket frames for tests, written as RFC 6455 says by code that shares nothing
 * with the reader under test.
 */
#ifndef TESTS_FRAME_TEXT_H
#define TESTS_FRAME_TEXT_H

#include <mcpx/text.h>

/** Appends a frame. `first` is its whole first byte; `mask` is four bytes or NULL. */
static inline void add_frame(struct mcpx_text *out, unsigned first, const char *mask,
                             struct mcpx_slice payload)
{
    unsigned bit = mask ? 0x80 : 0;
    int more = payload.len < 126 ? 0 : payload.len < 65536 ? 2 : 8;
    unsigned short_len = more == 0 ? (unsigned)payload.len : more == 2 ? 126 : 127;
    char head[2] = {(char)first, (char)(bit | short_len)};

    mcpx_text_add(out, head, 2);
    for (int i = more - 1; i >= 0; i--)
        mcpx_text_add(out, &(char){(char)((uint64_t)payload.len >> (8 * i))}, 1);
    if (mask)
        mcpx_text_add(out, mask, 4);
    for (size_t i = 0; i < payload.len; i++) {
        char c = payload.text[i];

        if (mask)
            c = (char)(c ^ mask[i % 4]);
        mcpx_text_add(out, &c, 1);
    }
}

enum { FIRST_TEXT = 0x81, FIRST_BINARY = 0x82, FIRST_CLOSE = 0x88, FIRST_PING = 0x89 };

#endif
