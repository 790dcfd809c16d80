/*
 * frame.c - frames are the same bytes for every reader, because a server does not mask: that is
 * what lets one encoded message serve a whole topic.
 */
#include "router/hub/frame.h"

enum { FINAL = 0x80, LEN_16 = 126, LEN_64 = 127 };

size_t frame_head_len(size_t len)
{
    if (len < LEN_16)
        return 2;
    return len <= UINT16_MAX ? 4 : FRAME_HEAD_MAX;
}

void frame_head_write(char *out, enum frame_opcode opcode, size_t len)
{
    size_t head = frame_head_len(len);

    out[0] = (char)(FINAL | opcode);
    if (head == 2) {
        out[1] = (char)len;
        return;
    }
    out[1] = (char)(head == 4 ? LEN_16 : LEN_64);
    for (size_t at = head - 1; at >= 2; at--) {
        out[at] = (char)(len & 0xff);
        len >>= 8;
    }
}

void frame_add(struct mcpx_text *out, struct mcpx_slice text)
{
    char head[FRAME_HEAD_MAX];

    frame_head_write(head, FRAME_TEXT, text.len);
    mcpx_text_add(out, head, frame_head_len(text.len));
    mcpx_text_slice(out, text);
}

bool frame_reserve(struct mcpx_text *out, size_t more)
{
    bool has_room = mcpx_text_reserve(out, more);

    out->failed = false;
    return has_room;
}

struct mcpx_text *frame_begin(struct mcpx_text *out)
{
    static const char room[FRAME_HEAD_MAX];

    mcpx_text_reset(out);
    mcpx_text_add(out, room, sizeof room);
    return out;
}

bool frame_end(struct mcpx_text *out, struct mcpx_slice *frame)
{
    size_t len, head;

    if (out->failed)
        return false;
    len = out->len - FRAME_HEAD_MAX;
    head = frame_head_len(len);
    frame_head_write(out->text + FRAME_HEAD_MAX - head, FRAME_TEXT, len);
    *frame = (struct mcpx_slice){out->text + FRAME_HEAD_MAX - head, head + len};
    return true;
}
