/*
 * fuzz_frames.c - any bytes, as a stream of frames: cut byte by byte they give what they give in
 * one piece, what comes out lies within the bound, and the bytes of unmasked messages are those
 * that came in. The first byte of the input says what to expect of the stream.
 */
#include "lib/wire/frames.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

static void add_found(struct mcpx_text *out, enum mx_frames_step step,
                      const struct mx_frames_found *found)
{
    mcpx_text_number(out, step);
    mcpx_text_number(out, found->opcode);
    mcpx_text_number(out, found->code);
    mcpx_text_number(out, found->err);
    mcpx_text_slice(out, found->payload);
    mcpx_text_puts(out, "|");
    mcpx_text_slice(out, found->raw);
    mcpx_text_puts(out, "\n");
}

static void check_found(const struct mx_frames *frames, enum mx_frames_step step,
                        const struct mx_frames_found *found)
{
    must(step != MX_FRAMES_NOMEM);
    must(step != MX_FRAMES_MESSAGE || found->payload.len <= frames->max);
    must(frames->side == MX_FROM_SERVER || !found->raw.text);
    must(found->raw.len <= frames->max || step == MX_FRAMES_CONTROL);
    must(step != MX_FRAMES_BAD || (found->reason && mcpx_error_close(found->err)));
}

/* Everything a stream gives, in one text, when it comes in pieces. */
static void read_all(struct mcpx_slice stream, size_t piece, bool own, struct mx_frames frames,
                     struct mcpx_text *out)
{
    char *buffer = malloc(piece); /* exact, and written to by the one who reads */
    enum mx_frames_step step = MX_FRAMES_MORE;
    struct mx_frames_found found;

    must(buffer);
    for (size_t at = 0; at < stream.len && step != MX_FRAMES_BAD; at += piece) {
        size_t len = stream.len - at < piece ? stream.len - at : piece;

        memcpy(buffer, stream.text + at, len);
        if (own)
            mx_frames_feed_own(&frames, buffer, len);
        else
            mx_frames_feed(&frames, (struct mcpx_slice){stream.text + at, len});
        while ((step = mx_frames_next(&frames, &found)) != MX_FRAMES_MORE) {
            check_found(&frames, step, &found);
            add_found(out, step, &found);
            if (step == MX_FRAMES_BAD)
                break;
        }
    }
    mcpx_text_number(out, (int64_t)frames.tiny_frames);
    free(buffer);
    mx_frames_fini(&frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_text whole = {0}, bytes = {0};
    struct mcpx_slice stream = {(const char *)data + 1, size - 1};
    struct mx_frames frames = {0};

    if (!size)
        return 0;
    frames.side = data[0] & 1 ? MX_FROM_CLIENT : MX_FROM_SERVER;
    frames.keep_raw = (data[0] & 0x80) != 0;
    frames.max = 16 + (size_t)(data[0] >> 1 & 0x3f) * 16;
    read_all(stream, stream.len ? stream.len : 1, true, frames, &whole);
    read_all(stream, 1, false, frames, &bytes);
    must(mcpx_slice_equal(mcpx_text_view(&whole), mcpx_text_view(&bytes)));
    mcpx_text_fini(&whole);
    mcpx_text_fini(&bytes);
    return 0;
}
