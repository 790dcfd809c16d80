/*
 * frame_head.h - the head of a WebSocket frame and the body of a close frame, read strictly; the
 * mask undone. RFC 6455 sections 5.2, 5.3, 5.5 and 7.4.
 */
#ifndef MX_FRAME_HEAD_H
#define MX_FRAME_HEAD_H

#include <mcpx/base.h>
#include <mcpx/error.h>

/** Opcodes; a message has that of its first frame. */
enum mx_opcode {
    MX_CONTINUATION = 0,
    MX_TEXT = 1,
    MX_BINARY = 2,
    MX_CLOSE = 8,
    MX_PING = 9,
    MX_PONG = 10
};

/** The longest head; the longest body of a control frame. */
enum { MX_FRAME_HEAD_MAX = 14, MX_CONTROL_MAX = 125 };

/** Stands for a close frame without a code; it is never sent. RFC 6455 section 7.4.1. */
enum { MX_CLOSE_NONE = 1005 };

/** Which frames are right: a client masks every frame, a server none. */
enum mx_side { MX_FROM_SERVER, MX_FROM_CLIENT };

/** A head. */
struct mx_frame_head {
    size_t size;           /* its bytes, 2 to MX_FRAME_HEAD_MAX */
    bool final;            /* the message ends with this frame */
    enum mx_opcode opcode; /* one of the six */
    uint64_t len;          /* bytes of the body; below 2^63 */
    unsigned char key[4];  /* what the body is masked with; from clients only */
};

/**
 * Reads the head at the beginning of `bytes`.
 *
 * out     filled when the head is whole; `size` is 0 until then
 *
 * Returns NULL, or the breach of RFC 6455 as a static sentence: a reserved bit, an unknown opcode,
 * a missing or forbidden mask, a length in more bytes than needed or of 2^63 and more, a fragmented
 * control frame, or one longer than 125 bytes. An error shows with the byte that makes it.
 */
const char *mx_frame_head_read(struct mcpx_slice bytes, enum mx_side side,
                               struct mx_frame_head *out);

/** Bytes of head in front of a body of `len` bytes, without a key: 2, 4 or 10. */
size_t mx_frame_head_len(size_t len);

/**
 * Writes the head of a final frame as a server sends it; `out` has room for mx_frame_head_len(len)
 * bytes.
 */
void mx_frame_head_write(char *out, enum mx_opcode opcode, size_t len);

/**
 * Writes a client's frame head: it ends with the key, by which the body must be masked.
 *
 * out   room for MX_FRAME_HEAD_MAX bytes
 *
 * Returns the bytes written.
 */
size_t mx_frame_head_mask(char *out, enum mx_opcode opcode, size_t len,
                          const unsigned char key[4]);

/** True for close, ping and pong. */
static inline bool mx_is_control(enum mx_opcode opcode)
{
    return (opcode & 8) != 0;
}

/**
 * Reads the body of a close frame.
 *
 * code    the sender's code; MX_CLOSE_NONE when there is none
 * reason  filled with a static sentence when the body breaks RFC 6455
 *
 * Returns MCPX_OK; MCPX_EFRAMES for one byte or a code that must not be sent, MCPX_EUTF8.
 */
enum mcpx_err mx_close_read(struct mcpx_slice body, int *code, const char **reason);

/**
 * Undoes the mask of a client's frame, or puts it on, in place.
 *
 * key     the four bytes as they stand in the frame
 * phase   how many bytes of the payload came before these
 */
void mx_unmask(unsigned char *bytes, size_t len, const unsigned char key[4], size_t phase);

#endif
