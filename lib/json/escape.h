/* escape.h - escapes of JSON strings, decoded and written; strings compared unescaped; UTF-8. */
#ifndef MX_ESCAPE_H
#define MX_ESCAPE_H

#include <mcpx/base.h>
#include <mcpx/text.h>

/** The bytes between the quotes of a string, still escaped. */
static inline struct mcpx_slice mx_inside_of(struct mcpx_slice string)
{
    return (struct mcpx_slice){string.text + 1, string.len - 2};
}

/** A decoded escape. */
struct mx_escape {
    /* `bytes`, `len`: 1..4 bytes of UTF-8; for half a surrogate pair three bytes of the same bit
     * pattern, so two different halves stay different. */
    char bytes[4];
    size_t len;
    size_t raw_len; /* bytes of the escape itself: 2, 6, or 12 for a pair */
    bool is_lone;   /* half a surrogate pair without its other half */
};

/**
 * Decodes the escape at raw.text[at], a backslash. `raw` is the inside of a string that mx_scan
 * accepted. RFC 8259 section 7.
 */
void mx_escape_decode(struct mcpx_slice raw, size_t at, struct mx_escape *out);

/**
 * Undoes the escapes of a well-formed JSON string's inside.
 *
 * raw   the bytes between the quotes, as mx_scan accepted them
 * out   room for raw.len bytes
 * len   filled with the bytes written
 *
 * Returns false when an escape stands for half a surrogate pair, written as U+FFFD; true otherwise.
 * U+0000 becomes a NUL byte.
 */
bool mx_unescape(struct mcpx_slice raw, char *out, size_t *len);

/** True when half a surrogate pair is escaped in a string's inside. */
bool mx_inside_has_half(struct mcpx_slice raw);

/** A walk through the unescaped bytes of a string's inside, without writing them anywhere. */
struct mx_inside {
    struct mcpx_slice raw;
    size_t at;
    struct mx_escape escape;
    size_t done; /* bytes of the escape already given */
};

/** Starts a walk. `raw` is the inside of a string that mx_scan accepted. */
struct mx_inside mx_inside_start(struct mcpx_slice raw);

/** The next byte, 0..255, or -1 after the last. Halves of pairs come as mx_escape has them. */
int mx_inside_next(struct mx_inside *inside);

/** True when the inside of a string, unescaped, is this text. */
bool mx_inside_is(struct mcpx_slice raw, struct mcpx_slice text);

/** Order of two insides by their unescaped bytes: negative, 0 or positive. */
int mx_inside_compare(struct mcpx_slice a, struct mcpx_slice b);

/* ---- writing escapes ---- */

/** Appends `prefix` and the last `digits` hexadecimal digits of a number. */
void mx_hex_add(struct mcpx_text *out, const char *prefix, uint32_t number, int digits);

/** Appends the escape of a character: "\u202e", and a pair of them above U+FFFF. */
void mx_escape_add(struct mcpx_text *out, uint32_t character);

/* ---- is it UTF-8 (RFC 3629)? One sequence, or a whole text. ---- */

/** Cuts off a byte order mark; some editors write one at the start of a file. */
static inline void mx_utf8_skip_mark(struct mcpx_text *text)
{
    if (!text->failed && text->len >= 3 && memcmp(text->text, "\xef\xbb\xbf", 3) == 0)
        memmove(text->text, text->text + 3, (text->len -= 3) + 1);
}

/**
 * True when the whole text is UTF-8 (RFC 3629).
 *
 * offset   when not NULL and the text is not: the first byte of the first bad sequence
 */
bool mx_utf8_is_valid(struct mcpx_slice text, size_t *offset);

/**
 * The length, 1..4, of the UTF-8 sequence at `at`, a place before `end`; 0 when it is invalid: an
 * overlong form, a surrogate, a code point beyond U+10FFFF or a cut sequence.
 */
static inline size_t mx_utf8_sequence(const unsigned char *at, const unsigned char *end)
{
    size_t left = (size_t)(end - at);
    unsigned char lead = at[0], second;

    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4 || left < 2)
        return 0;
    second = at[1];
    if ((second & 0xc0) != 0x80)
        return 0;
    if (lead < 0xe0)
        return 2;
    if (left < 3 || (at[2] & 0xc0) != 0x80)
        return 0;
    if (lead < 0xf0)
        return (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ? 0 : 3;
    if (left < 4 || (at[3] & 0xc0) != 0x80)
        return 0;
    return (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f) ? 0 : 4;
}

/** Likewise at the start of a nonempty text. `character` is filled; when invalid, with the byte. */
static inline size_t mx_utf8_decode(struct mcpx_slice text, uint32_t *character)
{
    const unsigned char *at = (const unsigned char *)text.text;
    size_t len = mx_utf8_sequence(at, at + text.len);

    *character = len > 1 ? at[0] & (0x7fu >> len) : at[0];
    for (size_t i = 1; i < len; i++)
        *character = *character << 6 | (at[i] & 0x3fu);
    return len;
}

#endif
