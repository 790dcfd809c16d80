/*
 * frames.c - a frame is a head of 2 to 14 bytes and a body. Nearly all messages lie whole in the
 * bytes fed; such a message is lent where it lies. Other frames are moved: to the open message, or
 * to the control frame between its frames. A caller that passes messages on keeps the bytes of
 * their frames. The payload is then the end of those bytes; only a message in several frames is
 * joined in a second place. Frames beyond the bound are skipped with their heads, so neither one
 * huge frame nor a million empty ones cost memory. Rejected: a library for WebSockets. It would
 * hand out messages without their bytes, and accept frames that no client may send.
 */
#include "lib/wire/frames.h"

/* Room made at the first piece of a message; more grows with what arrives, never with a promise. */
enum { FIRST_ROOM = 65536 };

void mx_frames_fini(struct mx_frames *frames)
{
    mcpx_text_fini(&frames->raw);
    mcpx_text_fini(&frames->payload);
}

void mx_frames_feed(struct mx_frames *frames, struct mcpx_slice bytes)
{
    frames->fed = frames->fed_begin = (const unsigned char *)bytes.text;
    frames->fed_end = frames->fed + bytes.len;
    frames->own = NULL;
}

void mx_frames_feed_own(struct mx_frames *frames, char *bytes, size_t len)
{
    mx_frames_feed(frames, (struct mcpx_slice){bytes, len});
    frames->own = (unsigned char *)bytes;
}

static size_t fed_len(const struct mx_frames *frames)
{
    return (size_t)(frames->fed_end - frames->fed);
}

static bool is_control(const struct mx_frames *frames)
{
    return mx_is_control(frames->head.opcode);
}

/* ---- the head ---- */

static void fail(struct mx_frames *frames, enum mcpx_err err, const char *reason)
{
    frames->bad = reason;
    frames->bad_err = err;
}

/* RFC 6455 section 5.4. */
static const char *sequence_fault(const struct mx_frames *frames)
{
    if (frames->head.opcode == MX_CONTINUATION && !frames->open)
        return "a frame continues a message that has not begun";
    if (frames->head.opcode != MX_CONTINUATION && !is_control(frames) && frames->open)
        return "a message begins before the one before it has ended";
    return NULL;
}

void mx_frames_skip(struct mx_frames *frames)
{
    frames->overlong = true;
    mcpx_text_fini(&frames->raw);
    mcpx_text_fini(&frames->payload);
}

/* A second frame: from here on the payload is no longer one piece of `raw`. */
static void join(struct mx_frames *frames)
{
    if (frames->joined || !frames->keep_raw)
        return;
    frames->joined = true;
    mcpx_text_reset(&frames->payload);
    mcpx_text_add(&frames->payload, frames->raw.text + frames->payload_at,
                  frames->raw.len - frames->payload_at);
}

static void begin_message(struct mx_frames *frames)
{
    frames->opcode = frames->head.opcode;
    frames->open = true;
    frames->overlong = false;
    frames->joined = false;
    mcpx_text_reset(&frames->raw);
    frames->payload_at = frames->keep_raw ? frames->head.size : 0;
}

/* Does the frame fit below `max`, with what is kept already? */
static bool fits(const struct mx_frames *frames)
{
    size_t kept = frames->raw.len + (frames->keep_raw ? frames->head.size : 0);

    return frames->left <= frames->max && kept <= frames->max - frames->left;
}

/* Returns OVERLONG when this frame makes the message so; otherwise MORE. */
static enum mx_frames_step begin_data(struct mx_frames *frames)
{
    if (frames->head.opcode != MX_CONTINUATION)
        begin_message(frames);
    else if (!frames->overlong)
        join(frames);
    if (!frames->head.final && frames->left < MX_TINY_FRAME_MAX)
        frames->tiny_frames++;
    if (frames->overlong)
        return MX_FRAMES_MORE;
    if (!fits(frames)) {
        mx_frames_skip(frames);
        return MX_FRAMES_OVERLONG;
    }
    if (frames->keep_raw)
        mcpx_text_add(&frames->raw, (const char *)frames->bytes, frames->head.size);
    return MX_FRAMES_MORE;
}

/* Takes bytes for the head. Returns false when they do not suffice, or the head is bad. */
static bool take_head(struct mx_frames *frames)
{
    size_t had = frames->bytes_len, room = MX_FRAME_HEAD_MAX - had;
    size_t taken = fed_len(frames) < room ? fed_len(frames) : room;
    const char *fault;

    if (!taken)
        return false;
    memcpy(frames->bytes + had, frames->fed, taken);
    frames->bytes_len += taken;
    fault =
        mx_frame_head_read((struct mcpx_slice){(const char *)frames->bytes, frames->bytes_len},
                           frames->side, &frames->head);
    if (fault) {
        fail(frames, MCPX_EFRAMES, fault);
        return false;
    }
    if (!frames->head.size) {
        frames->fed += taken;
        return false;
    }
    frames->fed += frames->head.size - had;
    frames->bytes_len = frames->head.size;
    return true;
}

/* ---- the body ---- */

static void turn(const struct mx_frames *frames, unsigned char *bytes, size_t len)
{
    if (frames->side == MX_FROM_CLIENT)
        mx_unmask(bytes, len, frames->head.key,
                  (size_t)((frames->head.len - frames->left) & 3));
}

/* Appends body bytes; unmasked where they land. */
static void keep(struct mx_frames *frames, const unsigned char *bytes, size_t len)
{
    struct mcpx_text *raw = &frames->raw;

    if (!raw->size && frames->head.len > len)
        mcpx_text_reserve(raw, frames->head.len < FIRST_ROOM ? (size_t)frames->head.len
                                                             : FIRST_ROOM);
    mcpx_text_add(raw, (const char *)bytes, len);
    if (raw->failed)
        return;
    turn(frames, (unsigned char *)raw->text + raw->len - len, len);
    if (frames->joined)
        mcpx_text_add(&frames->payload, raw->text + raw->len - len, len);
}

static void take_body(struct mx_frames *frames)
{
    size_t len = fed_len(frames);

    if (len > frames->left)
        len = (size_t)frames->left;
    if (is_control(frames)) {
        memcpy(frames->control + frames->control_len, frames->fed, len);
        turn(frames, frames->control + frames->control_len, len);
        frames->control_len += len;
    } else if (!frames->overlong && len) {
        keep(frames, frames->fed, len);
    }
    frames->left -= len;
    frames->fed += len;
}

/* ---- what came out ---- */

static struct mcpx_slice part(const void *bytes, size_t from, size_t to)
{
    return (struct mcpx_slice){(const char *)bytes + from, to - from};
}

static enum mx_frames_step end_control(struct mx_frames *frames, struct mx_frames_found *found)
{
    enum mcpx_err err = MCPX_OK;

    found->opcode = frames->head.opcode;
    found->payload = part(frames->control, frames->head.size, frames->control_len);
    if (found->opcode == MX_CLOSE)
        err = mx_close_read(found->payload, &found->code, &found->reason);
    if (err) {
        fail(frames, err, found->reason);
        return MX_FRAMES_BAD;
    }
    if (frames->keep_raw && frames->side == MX_FROM_SERVER)
        found->raw = part(frames->control, 0, frames->control_len);
    return MX_FRAMES_CONTROL;
}

static enum mx_frames_step end_message(struct mx_frames *frames, struct mx_frames_found *found)
{
    const struct mcpx_text *raw = &frames->raw;

    frames->open = false;
    if (frames->overlong)
        return MX_FRAMES_MORE; /* that was told when it became so */
    frames->done = true;
    found->opcode = frames->opcode;
    if (frames->joined)
        found->payload = part(frames->payload.text, 0, frames->payload.len);
    else
        found->payload =
            raw->text ? part(raw->text, frames->payload_at, raw->len) : MCPX_SLICE("");
    if (frames->keep_raw && frames->side == MX_FROM_SERVER)
        found->raw = mcpx_text_view(raw);
    return MX_FRAMES_MESSAGE;
}

static enum mx_frames_step end_frame(struct mx_frames *frames, struct mx_frames_found *found)
{
    enum mx_frames_step step = MX_FRAMES_MORE;

    frames->bytes_len = 0;
    if (is_control(frames))
        step = end_control(frames, found);
    else if (frames->head.final)
        step = end_message(frames, found);
    return step;
}

/* A message that needed much memory is rare: the next one does not keep it. */
static void trim_buffers(struct mx_frames *frames)
{
    if (frames->done && frames->raw.size > frames->keep_size)
        mcpx_text_fini(&frames->raw);
    if (frames->done && frames->payload.size > frames->keep_size)
        mcpx_text_fini(&frames->payload);
    frames->done = false;
}

/* Is it a message of one frame, all there, that can be lent as it lies? */
static bool lies_whole(const struct mx_frames *frames)
{
    size_t before = (size_t)(frames->fed - frames->fed_begin);
    size_t head = frames->keep_raw ? frames->head.size : 0;

    if (is_control(frames) || frames->open || !frames->head.final)
        return false;
    if (frames->side == MX_FROM_CLIENT && !frames->own)
        return false;
    return frames->left <= fed_len(frames) && before >= head && frames->left <= frames->max &&
           head <= frames->max - frames->left;
}

static enum mx_frames_step lend(struct mx_frames *frames, struct mx_frames_found *found)
{
    size_t len = (size_t)frames->left;

    if (frames->own)
        turn(frames, frames->own + (frames->fed - frames->fed_begin), len);
    found->opcode = frames->head.opcode;
    found->payload = part(frames->fed, 0, len);
    if (frames->keep_raw && frames->side == MX_FROM_SERVER)
        found->raw = part(frames->fed - frames->head.size, 0, frames->head.size + len);
    frames->fed += len;
    frames->left = 0;
    frames->bytes_len = 0;
    frames->head.size = 0;
    return MX_FRAMES_MESSAGE;
}

/* The head is whole. Returns what can be told already, otherwise MORE. */
static enum mx_frames_step begin_frame(struct mx_frames *frames, struct mx_frames_found *found)
{
    const char *fault = sequence_fault(frames);

    frames->left = frames->head.len;
    if (fault) {
        fail(frames, MCPX_EFRAMES, fault);
        return MX_FRAMES_BAD;
    }
    if (lies_whole(frames))
        return lend(frames, found);
    if (!is_control(frames))
        return begin_data(frames);
    memcpy(frames->control, frames->bytes, frames->head.size);
    frames->control_len = frames->head.size;
    return MX_FRAMES_MORE;
}

/* Goes on with the frame at hand. Sets `stop` when nothing more can be said now. */
static enum mx_frames_step go_on(struct mx_frames *frames, struct mx_frames_found *found,
                                 bool *stop)
{
    enum mx_frames_step step;

    if (!frames->head.size || frames->bytes_len < frames->head.size) {
        frames->head.size = 0;
        if (!take_head(frames)) {
            *stop = true;
            return frames->bad ? MX_FRAMES_BAD : MX_FRAMES_MORE;
        }
        step = begin_frame(frames, found);
        if (step != MX_FRAMES_MORE)
            return step;
    }
    take_body(frames);
    frames->nomem = frames->raw.failed || frames->payload.failed;
    *stop = frames->left > 0;
    if (frames->nomem)
        return MX_FRAMES_NOMEM;
    return *stop ? MX_FRAMES_MORE : end_frame(frames, found);
}

enum mx_frames_step mx_frames_next(struct mx_frames *frames, struct mx_frames_found *found)
{
    enum mx_frames_step step = MX_FRAMES_MORE;
    bool stop = false;

    *found = (struct mx_frames_found){.code = 0};
    trim_buffers(frames);
    while (step == MX_FRAMES_MORE && !stop && !frames->bad && !frames->nomem)
        step = go_on(frames, found, &stop);
    found->reason = frames->bad;
    found->err = frames->bad_err;
    if (frames->bad)
        return MX_FRAMES_BAD;
    return frames->nomem ? MX_FRAMES_NOMEM : step;
}
