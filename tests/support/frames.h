/*
 * frames.h - takes a stream of server frames apart again, as a client would.
 */
#ifndef TESTS_FRAMES_H
#define TESTS_FRAMES_H

#include <mcpx/base.h>

/**
 * One frame.
 *
 * opcode     1 text, 2 binary, 8 close, 9 ping, 10 pong
 * payload    slice of the stream
 * close_code only for close frames with a body; 0 otherwise
 */
struct frame_view {
    int opcode;
    struct mcpx_slice payload;
    int close_code;
};

/**
 * Cuts the first whole, final, unmasked frame off a stream. Returns false, with nothing changed,
 * when there is none; aborts on bytes that no server may send (masked, reserved bits, a length
 * written longer than needed).
 */
bool frame_cut(struct mcpx_slice *stream, struct frame_view *out);

#endif
