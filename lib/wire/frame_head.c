/*
 * frame_head.c - every rule about a single frame in one place, for the router, the guard and the
 * tests. A rule in one of them only would be a way around the others.
 */
#include "lib/wire/frame_head.h"

#include "lib/json/escape.h"

enum { FIN = 0x80, RESERVED = 0x70, OPCODE = 0x0f, MASKED = 0x80, LENGTH = 0x7f };
enum { LENGTH_16 = 126, LENGTH_64 = 127, KEY = 4 };

/* Returns the error of a frame's first byte, or NULL. */
static const char *first_fault(unsigned first)
{
    unsigned opcode = first & OPCODE;

    if (first & RESERVED)
        return "a frame has reserved bits set; no extension was agreed on";
    if (opcode > MX_PONG || (opcode > MX_BINARY && opcode < MX_CLOSE))
        return "a frame has an opcode that does not exist";
    if (mx_is_control((enum mx_opcode)opcode) && !(first & FIN))
        return "a control frame is fragmented";
    return NULL;
}

/* Returns the error of the second byte, or NULL. */
static const char *second_fault(unsigned first, unsigned second, enum mx_side side)
{
    if (side == MX_FROM_CLIENT && !(second & MASKED))
        return "a frame is not masked";
    if (side == MX_FROM_SERVER && (second & MASKED))
        return "a frame is masked";
    if (mx_is_control((enum mx_opcode)(first & OPCODE)) && (second & LENGTH) > MX_CONTROL_MAX)
        return "a control frame is longer than 125 bytes";
    return NULL;
}

/* Bytes of the length that follow the second byte. */
static size_t length_size(unsigned second)
{
    if ((second & LENGTH) == LENGTH_16)
        return 2;
    return (second & LENGTH) == LENGTH_64 ? 8 : 0;
}

static const char *read_length(const unsigned char *at, size_t size, uint64_t *len)
{
    *len = 0;
    for (size_t i = 0; i < size; i++)
        *len = *len << 8 | at[i];
    if (*len < (size == 2 ? LENGTH_16 : UINT16_MAX + UINT64_C(1)))
        return "a frame writes its length longer than needed";
    return *len > INT64_MAX ? "a frame is longer than a frame may be" : NULL;
}

const char *mx_frame_head_read(struct mcpx_slice bytes, enum mx_side side,
                               struct mx_frame_head *out)
{
    const unsigned char *at = (const unsigned char *)bytes.text;
    size_t extra, size;
    const char *fault;

    out->size = 0;
    fault = bytes.len > 0 ? first_fault(at[0]) : NULL;
    if (!fault && bytes.len > 1)
        fault = second_fault(at[0], at[1], side);
    if (fault || bytes.len < 2)
        return fault;
    extra = length_size(at[1]);
    size = 2 + extra + (side == MX_FROM_CLIENT ? KEY : 0);
    out->len = at[1] & LENGTH;
    if (extra && bytes.len >= 2 + extra)
        fault = read_length(at + 2, extra, &out->len);
    if (fault || bytes.len < size)
        return fault;
    out->size = size;
    out->final = at[0] & FIN;
    out->opcode = (enum mx_opcode)(at[0] & OPCODE);
    if (side == MX_FROM_CLIENT)
        memcpy(out->key, at + size - KEY, KEY);
    return NULL;
}

size_t mx_frame_head_len(size_t len)
{
    if (len < LENGTH_16)
        return 2;
    return len <= UINT16_MAX ? 4 : 10;
}

void mx_frame_head_write(char *out, enum mx_opcode opcode, size_t len)
{
    size_t head = mx_frame_head_len(len);

    out[0] = (char)(FIN | opcode);
    if (head == 2) {
        out[1] = (char)len;
        return;
    }
    out[1] = (char)(head == 4 ? LENGTH_16 : LENGTH_64);
    for (size_t at = head - 1; at >= 2; at--) {
        out[at] = (char)(len & 0xff);
        len >>= 8;
    }
}

size_t mx_frame_head_mask(char *out, enum mx_opcode opcode, size_t len,
                          const unsigned char key[4])
{
    size_t head = mx_frame_head_len(len);

    mx_frame_head_write(out, opcode, len);
    out[1] = (char)(out[1] | MASKED);
    memcpy(out + head, key, KEY);
    return head + KEY;
}

/* RFC 6455 section 7.4 and the registry it founded: 1004 to 1006 and 1015 are never sent. */
static bool may_be_sent(int code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

enum mcpx_err mx_close_read(struct mcpx_slice body, int *code, const char **reason)
{
    *code = MX_CLOSE_NONE;
    if (body.len == 0)
        return MCPX_OK;
    if (body.len == 1) {
        *reason = "a close frame has half a code";
        return MCPX_EFRAMES;
    }
    *code = (unsigned char)body.text[0] << 8 | (unsigned char)body.text[1];
    if (!may_be_sent(*code)) {
        *reason = "a close frame has a code that must not be sent";
        return MCPX_EFRAMES;
    }
    if (!mx_utf8_is_valid((struct mcpx_slice){body.text + 2, body.len - 2}, NULL)) {
        *reason = "the reason in a close frame is not UTF-8";
        return MCPX_EUTF8;
    }
    return MCPX_OK;
}

enum { VECTOR = 16 };

/* Of one vector, in standard C: compilers make one instruction of it, wherever the bytes begin. */
static inline void turn(unsigned char *restrict bytes, const unsigned char *restrict mask)
{
    for (size_t i = 0; i < VECTOR; i++)
        bytes[i] ^= mask[i];
}

void mx_unmask(unsigned char *bytes, size_t len, const unsigned char key[4], size_t phase)
{
    unsigned char mask[VECTOR];
    size_t at = 0;

    if (len >= VECTOR) {
        for (size_t i = 0; i < VECTOR; i++)
            mask[i] = key[(phase + i) & 3];
        for (; len - at >= VECTOR; at += VECTOR)
            turn(bytes + at, mask);
    }
    for (; at < len; at++)
        bytes[at] ^= key[(phase + at) & 3];
}
