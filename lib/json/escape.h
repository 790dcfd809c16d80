/*
 * escape.h - one escape of a well-formed JSON string, decoded, and strings compared as what they
 * stand for.
 */
#ifndef MX_ESCAPE_H
#define MX_ESCAPE_H

#include <mcpx/base.h>

/**
 * What an escape stands for.
 *
 * bytes, len   1..4 bytes of UTF-8; for half a surrogate pair the three bytes that the same bit
 *              pattern would give, so that two different halves stay different
 * raw_len      bytes of the escape itself: 2, 6, or 12 for a pair
 * is_lone      half a surrogate pair without its other half
 */
struct mx_escape {
    char bytes[4];
    size_t len;
    size_t raw_len;
    bool is_lone;
};

/**
 * Decodes the escape whose backslash is raw.text[at]. `raw` is the inside of a string that
 * mx_scan accepted. RFC 8259 section 7.
 */
void mx_escape_decode(struct mcpx_slice raw, size_t at, struct mx_escape *out);

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

#endif
