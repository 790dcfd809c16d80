/*
 * frames.c - RFC 6455 section 5.2 read back, strictly: what the router writes is checked against
 * the rules, not against its own code. Includes frames.h only.
 */
#include "tests/support/frames.h"

#include <stdio.h>
#include <stdlib.h>

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "the router sent a frame that %s\n", what);
    abort();
}

/* Reads the length; the number of head bytes, or 0 when they are not all there. */
static size_t head_of(struct mcpx_slice stream, uint64_t *len)
{
    const unsigned char *bytes = (const unsigned char *)stream.text;
    size_t extra;

    if (stream.len < 2)
        return 0;
    require((bytes[0] & 0x70) == 0, "has reserved bits set");
    require((bytes[0] & 0x80) != 0, "is a fragment");
    require((bytes[1] & 0x80) == 0, "is masked");
    *len = bytes[1];
    extra = *len == 126 ? 2 : *len == 127 ? 8 : 0;
    if (stream.len < 2 + extra)
        return 0;
    if (extra > 0) {
        *len = 0;
        for (size_t i = 0; i < extra; i++)
            *len = *len << 8 | bytes[2 + i];
        require(*len >= (extra == 2 ? 126 : 65536), "writes its length longer than needed");
    }
    return 2 + extra;
}

bool frame_cut(struct mcpx_slice *stream, struct frame_view *out)
{
    uint64_t len;
    size_t head = head_of(*stream, &len);

    if (head == 0 || stream->len - head < len)
        return false;
    out->opcode = stream->text[0] & 0x0f;
    out->payload = (struct mcpx_slice){stream->text + head, (size_t)len};
    out->close_code = 0;
    if (out->opcode >= 8)
        require(len <= 125, "is a control frame over 125 bytes");
    if (out->opcode == 8 && len >= 2)
        out->close_code =
            (unsigned char)out->payload.text[0] << 8 | (unsigned char)out->payload.text[1];
    stream->text += head + len;
    stream->len -= head + (size_t)len;
    return true;
}
