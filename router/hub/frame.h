/*
 * frame.h - unmasked WebSocket frames, as a server sends them. RFC 6455 section 5.2.
 */
#ifndef HUB_FRAME_H
#define HUB_FRAME_H

#include <mcpx/base.h>
#include <mcpx/text.h>

enum frame_opcode { FRAME_TEXT = 1, FRAME_CLOSE = 8, FRAME_PING = 9 };

/** The longest head. */
enum { FRAME_HEAD_MAX = 10 };

/** Bytes of head in front of a payload of `len` bytes: 2, 4 or 10. */
size_t frame_head_len(size_t len);

/** Writes the head of a final frame; `out` has room for frame_head_len(len) bytes. */
void frame_head_write(char *out, enum frame_opcode opcode, size_t len);

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
