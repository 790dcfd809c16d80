/*
 * plain.h - runs of bytes that need no look of their own, eight at a time. The one place that a
 * vector unit would speed up.
 * Includes base.h only.
 */
#ifndef MX_PLAIN_H
#define MX_PLAIN_H

#include <mcpx/base.h>

#define MX_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight bytes, the first one lowest whatever the machine; compilers make one load of it. */
static inline uint64_t mx_plain_load(const unsigned char *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 |
           (uint64_t)at[3] << 24 | (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 |
           (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
}

/* How many bytes precede the lowest marked one; `marks` has at least one bit, all are 0x80s. */
static inline size_t mx_plain_before(uint64_t marks)
{
    uint64_t below = (marks - 1) & ~marks; /* one bit 0 in every byte up to the marked one */

    return (size_t)((((below & MX_EACH_BYTE(1)) * MX_EACH_BYTE(1)) >> 56) - 1);
}

/*
 * 0x80 in every byte that is a quote, a backslash, a control character or not ASCII. A borrow
 * may mark further bytes, but only above the first right one, and only the first one counts.
 */
static inline uint64_t mx_plain_marks(uint64_t word)
{
    uint64_t control = word - MX_EACH_BYTE(0x20);
    uint64_t quote = (word ^ MX_EACH_BYTE('"')) - MX_EACH_BYTE(1);
    uint64_t backslash = (word ^ MX_EACH_BYTE('\\')) - MX_EACH_BYTE(1);

    return (control | quote | backslash | word) & MX_EACH_BYTE(0x80);
}

/**
 * The first byte from `at` on that a JSON string's inside cannot simply hold (a quote, a
 * backslash, a control character below 0x20, or any byte from 0x80 on), or `end`.
 */
static inline const unsigned char *mx_plain_skip(const unsigned char *at,
                                                 const unsigned char *end)
{
    while (end - at >= 8) {
        uint64_t marks = mx_plain_marks(mx_plain_load(at));

        if (marks)
            return at + mx_plain_before(marks);
        at += 8;
    }
    while (at < end && *at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return at;
}

/** The first backslash or DEL from `at` on, or `end`. */
static inline const unsigned char *mx_plain_header(const unsigned char *at,
                                                   const unsigned char *end)
{
    while (end - at >= 8) {
        uint64_t word = mx_plain_load(at);
        uint64_t backslash = word ^ MX_EACH_BYTE('\\');
        uint64_t del = word ^ MX_EACH_BYTE(0x7f);

        backslash = (backslash - MX_EACH_BYTE(1)) & ~backslash;
        del = (del - MX_EACH_BYTE(1)) & ~del;
        if ((backslash | del) & MX_EACH_BYTE(0x80))
            return at + mx_plain_before((backslash | del) & MX_EACH_BYTE(0x80));
        at += 8;
    }
    while (at < end && *at != '\\' && *at != 0x7f)
        at++;
    return at;
}

/** The first byte from `at` on that is not ASCII, or `end`. */
static inline const unsigned char *mx_plain_ascii(const unsigned char *at,
                                                  const unsigned char *end)
{
    while (end - at >= 8 && !(mx_plain_load(at) & MX_EACH_BYTE(0x80)))
        at += 8;
    while (at < end && *at < 0x80)
        at++;
    return at;
}

#endif
