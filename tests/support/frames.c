/*
 * frames.c - a stream of the router's taken apart, with the reader that clients and the guard use;
 * what breaks RFC 6455 ends the test.
 */
#include "tests/support/frames.h"

#include "lib/wire/frame_head.h"
#include <stdio.h>
#include <stdlib.h>

static void require(const char *fault)
{
    if (!fault)
        return;
    fprintf(stderr, "the router breaks RFC 6455: %s\n", fault);
    abort();
}

bool frame_cut(struct mcpx_slice *stream, struct frame_view *out)
{
    struct mx_frame_head head;
    const char *fault = NULL;

    require(mx_frame_head_read(*stream, MX_FROM_SERVER, &head));
    if (!head.size || stream->len - head.size < head.len)
        return false;
    require(head.final ? NULL : "a frame is a fragment");
    out->opcode = (int)head.opcode;
    out->payload = (struct mcpx_slice){stream->text + head.size, (size_t)head.len};
    out->close_code = 0;
    if (head.opcode == MX_CLOSE && head.len)
        mx_close_read(out->payload, &out->close_code, &fault);
    require(fault);
    stream->text += head.size + head.len;
    stream->len -= head.size + (size_t)head.len;
    return true;
}
