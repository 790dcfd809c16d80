/*
 * fuzz_frames.c - any bytes, as a stream of frames: cut byte by byte they give what they give in
 * one piece, what comes out lies within the bound, and the bytes of unmasked messages are those
 * that came in. The first byte of the input says what to expect of the stream.
 * Includes frames.h only.
 */
#include "tools/mcpx-bridge/frames.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(bool condition)
{
    if (!condition)
        abort();
}

static void add_found(struct mcpx_text *out, enum frames_step step,
                      const struct frames_found *found)
{
    mcpx_text_number(out, step);
    mcpx_text_number(out, found->opcode);
    mcpx_text_slice(out, found->payload);
    mcpx_text_puts(out, "|");
    mcpx_text_slice(out, found->raw);
    mcpx_text_puts(out, "\n");
}

/* Everything a stream gives, in one text, when it comes in pieces. */
static void read_all(struct mcpx_slice stream, size_t piece, size_t max, bool masked,
                     struct mcpx_text *out)
{
    struct frames frames = {.max = max, .masked = masked};
    struct frames_found found;
    enum frames_step step = FRAMES_MORE;

    for (size_t at = 0; at < stream.len && step != FRAMES_BAD; at += piece) {
        size_t len = stream.len - at < piece ? stream.len - at : piece;

        frames_feed(&frames, (struct mcpx_slice){stream.text + at, len});
        while ((step = frames_next(&frames, &found)) != FRAMES_MORE && step != FRAMES_BAD) {
            add_found(out, step, &found);
            insist(step != FRAMES_NOMEM);
            insist(step != FRAMES_MESSAGE || found.payload.len <= max);
            insist(!masked || !found.raw.text);
            insist(found.raw.len <= max || step == FRAMES_CONTROL);
        }
        insist(step != FRAMES_BAD || found.reason);
    }
    frames_fini(&frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_text whole = {0}, bytes = {0};
    struct mcpx_slice stream = {(const char *)data + 1, size - 1};
    bool masked;
    size_t max;

    if (!size)
        return 0;
    masked = data[0] & 1;
    max = 16 + (size_t)(data[0] >> 1) * 16;
    read_all(stream, stream.len ? stream.len : 1, max, masked, &whole);
    read_all(stream, 1, max, masked, &bytes);
    insist(mcpx_slice_equal(mcpx_text_view(&whole), mcpx_text_view(&bytes)));
    mcpx_text_fini(&whole);
    mcpx_text_fini(&bytes);
    return 0;
}
