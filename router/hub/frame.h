/*
 * frame.h - the head of an unmasked WebSocket frame, as a server sends it. RFC 6455 section 5.2.
 * Includes base.h only.
 */
#ifndef HUB_FRAME_H
#define HUB_FRAME_H

#include <mcpx/base.h>

enum frame_opcode { FRAME_TEXT = 1, FRAME_CLOSE = 8, FRAME_PING = 9 };

/** The longest head. */
enum { FRAME_HEAD_MAX = 10 };

/** Bytes of head in front of a payload of `len` bytes: 2, 4 or 10. */
size_t frame_head_len(size_t len);

/** Writes the head of a final frame; `out` has room for frame_head_len(len) bytes. */
void frame_head_write(char *out, enum frame_opcode opcode, size_t len);

#endif
