/*
 * frame.h - unmasked WebSocket frames, as a server sends them. RFC 6455 section 5.2.
 */
#ifndef HUB_FRAME_H
#define HUB_FRAME_H

#include "lib/wire/frame_head.h"
#include <mcpx/text.h>

/** The longest head of them. */
enum { FRAME_HEAD_MAX = 10 };

/** Appends the frame of a whole text message. */
void frame_add(struct mcpx_text *out, struct mcpx_slice text);

/**
 * Makes room for so many bytes of frames, or leaves the text as it was: one that stayed `failed`
 * would swallow every later frame without a word. False when memory runs out.
 */
bool frame_reserve(struct mcpx_text *out, size_t more);

/** Begins a text message whose length is known last: what is added to `out`, which it returns. */
struct mcpx_text *frame_begin(struct mcpx_text *out);

/** Ends it. `frame` is lent until `out` changes. False when memory ran out. */
bool frame_end(struct mcpx_text *out, struct mcpx_slice *frame);

#endif
