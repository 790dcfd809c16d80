/*
 * frames.h - one direction of a WebSocket connection, cut into messages: bytes in pieces of any
 * size go in, whole messages and control frames come out, each with the bytes it came as. RFC
 * 6455 section 5.
 * Includes mcpx/text.h only.
 */
#ifndef BRIDGE_FRAMES_H
#define BRIDGE_FRAMES_H

#include <mcpx/text.h>

/** Opcodes; a message has that of its first frame. */
enum frames_opcode {
    FRAMES_CONTINUATION = 0,
    FRAMES_TEXT = 1,
    FRAMES_BINARY = 2,
    FRAMES_CLOSE = 8,
    FRAMES_PING = 9,
    FRAMES_PONG = 10
};

/**
 * What frames_next found.
 *
 *   MORE       nothing whole is left of what was fed
 *   MESSAGE    a whole text or binary message
 *   CONTROL    a close, ping or pong; it may come between the frames of a message, and then comes
 *              out before that message does
 *   OVERLONG   a message of more than `max` bytes has ended; it was skipped
 *   BAD        the bytes break RFC 6455; `reason` says how, and nothing more comes out
 *   NOMEM      memory ran out; as BAD
 */
enum frames_step {
    FRAMES_MORE,
    FRAMES_MESSAGE,
    FRAMES_CONTROL,
    FRAMES_OVERLONG,
    FRAMES_BAD,
    FRAMES_NOMEM
};

/**
 * One thing found; lent until the next call.
 *
 * raw       its frames exactly as they came, heads included, without the control frames between
 *           them. Absent for OVERLONG, and where frames are masked: unmasking is done in place
 * payload   what they carry, joined and unmasked. Absent for OVERLONG
 */
struct frames_found {
    enum frames_opcode opcode;
    struct mcpx_slice raw;
    struct mcpx_slice payload;
    const char *reason;
};

/**
 * A direction being cut. Zero-initialised and with `max` and `masked` set it is ready.
 *
 * max      most bytes of one message, heads included, that are kept
 * masked   this is what a client sends: every frame must be masked. Otherwise none may be
 */
struct frames {
    size_t max;
    bool masked;

    /* private: the frame being read */
    struct mcpx_slice fed;
    unsigned char head[14];
    size_t head_len;
    uint64_t left;  /* bytes of its payload still to come */
    size_t mask_at; /* bytes of its payload unmasked so far, modulo 4 */
    bool reading;   /* its head is complete */
    const char *bad;
    bool nomem;

    /* private: the message it belongs to */
    enum frames_opcode opcode;
    bool open;     /* frames of it are still to come */
    bool overlong; /* it is being skipped */
    bool joined;   /* its payload stands in `payload`, otherwise at the end of `raw` */
    size_t payload_at;
    struct mcpx_text raw;
    struct mcpx_text payload;
    struct mcpx_text control;
    bool done; /* the message was lent by the last step */
};

/** Frees what is kept. */
void frames_fini(struct frames *frames);

/** Gives the next piece; borrowed until frames_next has returned something final or MORE. */
void frames_feed(struct frames *frames, struct mcpx_slice bytes);

/** The next thing. `found` is filled as its step says; `opcode` for MESSAGE and CONTROL. */
enum frames_step frames_next(struct frames *frames, struct frames_found *found);

#endif
