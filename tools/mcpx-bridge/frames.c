/*
 * frames.c - a frame is a head of 2 to 14 bytes and a body that is moved to where it belongs: to
 * the message that is open, or to the control frame that came in between. A message keeps the
 * bytes of its frames as they are, because who passes it on must not write them anew. Its payload
 * is the end of those bytes as long as it has one frame, which is nearly always; only a message
 * in several frames is joined in a second place. What grows beyond the bound is skipped, heads and
 * all, so that neither one huge frame nor a million empty ones costs memory.
 * Includes frames.h only. A library for WebSockets was refused: it would hand out messages, not
 * the bytes they came as.
 */
#include "tools/mcpx-bridge/frames.h"

enum { FIN = 0x80, RESERVED = 0x70, OPCODE = 0x0f, MASKED = 0x80, LENGTH = 0x7f };
enum { CONTROL_MAX = 125 };

void frames_fini(struct frames *frames)
{
    mcpx_text_fini(&frames->raw);
    mcpx_text_fini(&frames->payload);
    mcpx_text_fini(&frames->control);
}

void frames_feed(struct frames *frames, struct mcpx_slice bytes)
{
    frames->fed = bytes;
}

/* ---- the head ---- */

static bool is_control(const struct frames *frames)
{
    return frames->head[0] & 0x08;
}

/* Bytes of the length that follow the second byte. */
static size_t length_size(const struct frames *frames)
{
    switch (frames->head[1] & LENGTH) {
    case 126:
        return 2;
    case 127:
        return 8;
    default:
        return 0;
    }
}

static size_t head_size(const struct frames *frames)
{
    if (frames->head_len < 2)
        return 2;
    return 2 + length_size(frames) + (frames->head[1] & MASKED ? 4 : 0);
}

static uint64_t length_of(const struct frames *frames)
{
    uint64_t length = 0;

    if (!length_size(frames))
        return frames->head[1] & LENGTH;
    for (size_t i = 0; i < length_size(frames); i++)
        length = length << 8 | frames->head[2 + i];
    return length;
}

static bool is_shortest(const struct frames *frames)
{
    uint64_t length = length_of(frames);

    if (length_size(frames) == 2)
        return length > CONTROL_MAX;
    return length_size(frames) == 0 || length > UINT16_MAX;
}

/* RFC 6455 sections 5.2, 5.4 and 5.5. NULL when the head is in order. */
static const char *fault_of_head(const struct frames *frames)
{
    unsigned opcode = frames->head[0] & OPCODE;
    bool final = frames->head[0] & FIN;

    if (frames->head[0] & RESERVED)
        return "a frame has reserved bits set; no extension was agreed on";
    if (opcode > FRAMES_PONG || (opcode > FRAMES_BINARY && opcode < FRAMES_CLOSE))
        return "a frame has an opcode that does not exist";
    if ((frames->head[1] & MASKED ? true : false) != frames->masked)
        return frames->masked ? "a frame is not masked" : "a frame is masked";
    if (!is_shortest(frames))
        return "a frame writes its length longer than needed";
    if (length_of(frames) > INT64_MAX)
        return "a frame is longer than a frame may be";
    if (is_control(frames) && (!final || length_of(frames) > CONTROL_MAX))
        return "a control frame is fragmented or longer than 125 bytes";
    if (opcode == FRAMES_CONTINUATION && !frames->open)
        return "a frame continues a message that has not begun";
    if ((opcode == FRAMES_TEXT || opcode == FRAMES_BINARY) && frames->open)
        return "a message begins before the one before it has ended";
    return NULL;
}

/* ---- where the bytes go ---- */

static void skip_message(struct frames *frames)
{
    frames->overlong = true;
    mcpx_text_reset(&frames->raw);
    mcpx_text_reset(&frames->payload);
}

/* A second frame: from here on the payload is no longer one piece of `raw`. */
static void join(struct frames *frames)
{
    if (frames->joined)
        return;
    frames->joined = true;
    mcpx_text_reset(&frames->payload);
    mcpx_text_add(&frames->payload, frames->raw.text + frames->payload_at,
                  frames->raw.len - frames->payload_at);
}

static void begin_data(struct frames *frames)
{
    if ((frames->head[0] & OPCODE) != FRAMES_CONTINUATION) {
        frames->opcode = (enum frames_opcode)(frames->head[0] & OPCODE);
        frames->open = true;
        frames->overlong = false;
        frames->joined = false;
        mcpx_text_reset(&frames->raw);
        frames->payload_at = frames->head_len;
    } else if (!frames->overlong) {
        join(frames);
    }
    if (frames->overlong)
        return;
    if (frames->left > frames->max || frames->raw.len > frames->max - frames->left ||
        frames->head_len > frames->max - frames->left - frames->raw.len) {
        skip_message(frames);
        return;
    }
    mcpx_text_add(&frames->raw, (const char *)frames->head, frames->head_len);
}

static void begin_frame(struct frames *frames)
{
    frames->bad = fault_of_head(frames);
    frames->left = length_of(frames);
    frames->mask_at = 0;
    frames->reading = true;
    if (frames->bad)
        return;
    if (!is_control(frames)) {
        begin_data(frames);
        return;
    }
    mcpx_text_reset(&frames->control);
    mcpx_text_add(&frames->control, (const char *)frames->head, frames->head_len);
}

/* Takes head bytes from what was fed. Returns false when they do not suffice. */
static bool read_head(struct frames *frames)
{
    while (frames->head_len < head_size(frames)) {
        if (!frames->fed.len)
            return false;
        frames->head[frames->head_len++] = (unsigned char)*frames->fed.text++;
        frames->fed.len--;
    }
    begin_frame(frames);
    return true;
}

static void unmask(struct frames *frames, char *bytes, size_t len)
{
    const unsigned char *key = frames->head + frames->head_len - 4;

    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(bytes[i] ^ key[(frames->mask_at + i) & 3]);
    frames->mask_at = (frames->mask_at + len) & 3;
}

/* Appends body bytes; unmasked where they land. */
static void keep(struct frames *frames, struct mcpx_text *into, struct mcpx_slice bytes)
{
    mcpx_text_slice(into, bytes);
    if (frames->masked && !into->failed)
        unmask(frames, into->text + into->len - bytes.len, bytes.len);
}

static void read_body(struct frames *frames)
{
    struct mcpx_slice part = frames->fed;

    if (part.len > frames->left)
        part.len = (size_t)frames->left;
    frames->left -= part.len;
    frames->fed.text += part.len;
    frames->fed.len -= part.len;
    if (is_control(frames)) {
        keep(frames, &frames->control, part);
        return;
    }
    if (frames->overlong || !part.len)
        return;
    keep(frames, &frames->raw, part);
    if (frames->joined && !frames->raw.failed)
        mcpx_text_add(&frames->payload, frames->raw.text + frames->raw.len - part.len,
                      part.len);
}

/* ---- what came out ---- */

static struct mcpx_slice tail(const struct mcpx_text *text, size_t from)
{
    return (struct mcpx_slice){text->text + from, text->len - from};
}

static enum frames_step end_control(struct frames *frames, struct frames_found *found)
{
    found->opcode = (enum frames_opcode)(frames->head[0] & OPCODE);
    found->payload = tail(&frames->control, frames->head_len);
    if (!frames->masked)
        found->raw = mcpx_text_view(&frames->control);
    return FRAMES_CONTROL;
}

static enum frames_step end_message(struct frames *frames, struct frames_found *found)
{
    frames->open = false;
    frames->done = true;
    if (frames->overlong)
        return FRAMES_OVERLONG;
    found->opcode = frames->opcode;
    found->payload =
        frames->joined ? tail(&frames->payload, 0) : tail(&frames->raw, frames->payload_at);
    if (!frames->masked)
        found->raw = mcpx_text_view(&frames->raw);
    return FRAMES_MESSAGE;
}

/* A message that needed much memory is rare: the next one does not keep it. */
static void let_go(struct frames *frames)
{
    enum { KEPT = 1 << 20 };

    if (frames->done && frames->raw.size > KEPT)
        mcpx_text_fini(&frames->raw);
    if (frames->done && frames->payload.size > KEPT)
        mcpx_text_fini(&frames->payload);
    frames->done = false;
}

static enum frames_step end_frame(struct frames *frames, struct frames_found *found)
{
    enum frames_step step = FRAMES_MORE;

    if (is_control(frames))
        step = end_control(frames, found);
    else if (frames->head[0] & FIN)
        step = end_message(frames, found);
    frames->reading = false;
    frames->head_len = 0;
    return step;
}

enum frames_step frames_next(struct frames *frames, struct frames_found *found)
{
    enum frames_step step = FRAMES_MORE;

    *found = (struct frames_found){.reason = frames->bad};
    let_go(frames);
    while (step == FRAMES_MORE && !frames->bad && !frames->nomem) {
        if (!frames->reading && !read_head(frames))
            return FRAMES_MORE;
        if (frames->bad)
            break;
        read_body(frames);
        frames->nomem = frames->raw.failed || frames->payload.failed || frames->control.failed;
        if (frames->left)
            return frames->nomem ? FRAMES_NOMEM : FRAMES_MORE;
        if (!frames->nomem)
            step = end_frame(frames, found);
    }
    found->reason = frames->bad;
    if (frames->bad)
        return FRAMES_BAD;
    return frames->nomem ? FRAMES_NOMEM : step;
}
