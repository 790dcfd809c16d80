/*
 * frames.h - one direction of a WebSocket connection, cut into messages: bytes in pieces of any
 * size go in, whole messages and control frames come out. RFC 6455 section 5.
 */
#ifndef MX_FRAMES_H
#define MX_FRAMES_H

#include "lib/wire/frame_head.h"
#include <mcpx/text.h>

/** A frame with a shorter body than this is tiny, unless it is the last one of its message. */
enum { MX_TINY_FRAME_MAX = 1024 };

/**
 * The result of mx_frames_next.
 *
 *   MORE       no whole message or control frame is left
 *   MESSAGE    a whole text or binary message
 *   CONTROL    a close, ping or pong; one between the frames of a message comes out first
 *   OVERLONG   a head shows that a message is longer than `max`; its rest is skipped
 *   BAD        the bytes break RFC 6455; `reason` says how, and nothing more comes out
 *   NOMEM      memory ran out; as BAD
 */
enum mx_frames_step {
    MX_FRAMES_MORE,
    MX_FRAMES_MESSAGE,
    MX_FRAMES_CONTROL,
    MX_FRAMES_OVERLONG,
    MX_FRAMES_BAD,
    MX_FRAMES_NOMEM
};

/** One thing found; lent until the next call, or until what was fed goes away. */
struct mx_frames_found {
    enum mx_opcode opcode;     /* of a MESSAGE or CONTROL */
    struct mcpx_slice payload; /* what its frames carry, joined and unmasked */
    /* With `keep_raw`: its frames exactly as they came, heads included, without the control
     * frames between them; absent where frames are masked, because unmasking is done in place. */
    struct mcpx_slice raw;
    int code;           /* of a close frame: its code, or MX_CLOSE_NONE */
    enum mcpx_err err;  /* of BAD: MCPX_EFRAMES or MCPX_EUTF8 */
    const char *reason; /* of BAD: a static sentence */
};

/** A direction being cut. Zero-initialised and with the first members set it is ready. */
struct mx_frames {
    enum mx_side side; /* who sends */
    /* Most bytes of one message that are kept: its payload, and with `keep_raw` its heads. */
    size_t max;
    bool keep_raw;    /* `raw` is wanted */
    size_t keep_size; /* a buffer that has grown beyond this is given back after its message */
    /* Counts frames that cost more than they carry; the caller may set it back. */
    size_t tiny_frames;

    /* private: the frame being read */
    const unsigned char *fed, *fed_begin, *fed_end;
    unsigned char *own;                     /* `fed_begin`, when it may be written to */
    unsigned char bytes[MX_FRAME_HEAD_MAX]; /* its head, as far as it came */
    size_t bytes_len;
    struct mx_frame_head head;
    uint64_t left; /* bytes of its payload still to come */
    const char *bad;
    enum mcpx_err bad_err;
    bool nomem;

    /* private: the message it belongs to */
    enum mx_opcode opcode;
    bool open;     /* frames of it are still to come */
    bool overlong; /* it is being skipped */
    bool joined; /* with keep_raw: its payload stands in `payload`, not at the end of `raw` */
    size_t payload_at;
    struct mcpx_text raw; /* without keep_raw: the payload */
    struct mcpx_text payload;
    unsigned char control[MX_FRAME_HEAD_MAX + MX_CONTROL_MAX];
    size_t control_len;
    bool done; /* the message was lent by the last step */
};

/** Frees what is kept. */
void mx_frames_fini(struct mx_frames *frames);

/** Gives the next piece, borrowed until mx_frames_next has returned MORE or something final. */
void mx_frames_feed(struct mx_frames *frames, struct mcpx_slice bytes);

/** mx_frames_feed for bytes that may be changed: masked bytes are unmasked in place. */
void mx_frames_feed_own(struct mx_frames *frames, char *bytes, size_t len);

/** The next thing. `found` is filled as its step says. */
enum mx_frames_step mx_frames_next(struct mx_frames *frames, struct mx_frames_found *found);

/** The unread rest of the piece last fed. Lent as that piece is. */
static inline struct mcpx_slice mx_frames_left(const struct mx_frames *frames)
{
    return (struct mcpx_slice){(const char *)frames->fed,
                               (size_t)(frames->fed_end - frames->fed)};
}

/** Frees the received part of the current message; the rest of it is skipped. */
void mx_frames_skip(struct mx_frames *frames);

/** True while a message has begun and not ended; its first frame's opcode is `opcode`. */
static inline bool mx_frames_is_open(const struct mx_frames *frames)
{
    return frames->open;
}

/** True after BAD. */
static inline bool mx_frames_are_bad(const struct mx_frames *frames)
{
    return frames->bad != NULL;
}

/** Memory that an unfinished message takes now. */
static inline size_t mx_frames_held(const struct mx_frames *frames)
{
    return frames->open ? frames->raw.size + frames->payload.size : 0;
}

#endif
