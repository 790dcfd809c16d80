/*
 * frame.c - frames are the same bytes for every reader, because a server does not mask: that is
 * what lets one encoded message serve a whole topic.
 */
#include "router/hub/log/log.h"

void frame_add(struct mcpx_text *out, struct mcpx_slice text)
{
    char head[FRAME_HEAD_MAX];

    mx_frame_head_write(head, MX_TEXT, text.len);
    mcpx_text_add(out, head, mx_frame_head_len(text.len));
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
    head = mx_frame_head_len(len);
    mx_frame_head_write(out->text + FRAME_HEAD_MAX - head, MX_TEXT, len);
    *frame = (struct mcpx_slice){out->text + FRAME_HEAD_MAX - head, head + len};
    return true;
}
