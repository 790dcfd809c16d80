/*
 * digits.h - whole numbers in decimal digits, as headers, query strings and payloads have them;
 * percent-encoding, RFC 3986, section 2; base64url; blanks around them, and cutting texts.
 */
#ifndef MX_DIGITS_H
#define MX_DIGITS_H

#include <mcpx/text.h>

/**
 * Reads 1 to 18 digits and nothing else: no sign, no blank. Zeros may lead.
 *
 * max   the largest number that is taken
 */
bool mx_decimal_read(struct mcpx_slice text, uint64_t max, uint64_t *out);

/** True for 1 to 5 digits that are a port, 0 included. */
static inline bool mx_port_is_valid(struct mcpx_slice text)
{
    uint64_t port;

    return text.len <= 5 && mx_decimal_read(text, 65535, &port);
}

/**
 * Reads any number of digits and nothing else. A number above `max` counts as `max`: for limits and
 * pauses, because too large a number must not look like none.
 */
bool mx_decimal_clamp(struct mcpx_slice text, uint64_t max, uint64_t *out);

/** True for 0 to 9. */
static inline bool mx_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/** True for A to Z, in either case. */
static inline bool mx_is_letter(char byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

/** A letter of ASCII in lower case, any other byte unchanged; takes a char, too. */
static inline int mx_lower(int byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
}

/** True for characters that need no escape in any part of a URI: letters, digits, "-", ".", "_",
 * "~". */
static inline bool mx_percent_is_unreserved(char byte)
{
    return mx_is_letter(byte) || mx_is_digit(byte) || byte == '-' || byte == '.' ||
           byte == '_' || byte == '~';
}

/** The value of a hexadecimal digit; -1 for any other byte. */
static inline int mx_hex_digit(char byte)
{
    if (mx_is_digit(byte))
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/**
 * Reads the first byte of a nonempty text, percent-decoded if it is an escape. Returns the number
 * of bytes read: 3 for an escape, 1 otherwise.
 */
static inline size_t mx_percent_read(struct mcpx_slice text, char *byte)
{
    int high = text.text[0] == '%' && text.len >= 3 ? mx_hex_digit(text.text[1]) : -1;
    int low = high >= 0 ? mx_hex_digit(text.text[2]) : -1;

    *byte = low >= 0 ? (char)(high * 16 + low) : text.text[0];
    return low >= 0 ? 3 : 1;
}

/** Appends a text with everything but unreserved characters escaped, in capital letters. */
void mx_percent_add(struct mcpx_text *out, struct mcpx_slice text);

/** Appends a text with its percent escapes undone. Bytes that are not an escape stay. */
void mx_percent_decode(struct mcpx_text *out, struct mcpx_slice text);

/** A text without any of these bytes around it. */
struct mcpx_slice mx_trim(struct mcpx_slice text, const char *blanks);

/** The text behind its first `len` bytes. */
static inline struct mcpx_slice mx_behind(struct mcpx_slice text, size_t len)
{
    return (struct mcpx_slice){text.text + len, text.len - len};
}

/** Returns the text before the next `byte`, or all; `rest` then begins behind it, or is absent. */
static inline struct mcpx_slice mx_cut_at(struct mcpx_slice *rest, char byte)
{
    struct mcpx_slice whole = *rest;
    const char *found = whole.len ? memchr(whole.text, byte, whole.len) : NULL;
    size_t len = found ? (size_t)(found - whole.text) : whole.len;

    *rest = found ? mx_behind(whole, len + 1) : (struct mcpx_slice){0};
    return (struct mcpx_slice){whole.text, len};
}

/** True when both are the same, in any letter case of ASCII. */
static inline bool mx_same_word(struct mcpx_slice text, const char *word)
{
    size_t i = 0;

    if (text.len != strlen(word))
        return false;
    while (i < text.len && mx_lower(text.text[i]) == mx_lower(word[i]))
        i++;
    return i == text.len;
}

/** Appends `len` bytes as base64url, without padding: the encoding of JWTs and tickets. RFC 4648,
 * section 5. */
void mx_base64url_encode(const unsigned char *bytes, size_t len, struct mcpx_text *out);

/**
 * Appends the bytes that `text` encodes. Strict: no padding, no white space, no other byte, and
 * the unused bits of the last character are zero, so that every value has one spelling. Returns
 * false, with `out` unchanged, for any other text; `out->failed` shows when memory ran out.
 */
bool mx_base64url_decode(struct mcpx_slice text, struct mcpx_text *out);

#endif
