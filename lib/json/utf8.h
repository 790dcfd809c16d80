/*
 * utf8.h - is it UTF-8 (RFC 3629)? One sequence, or a whole text.
 */
#ifndef MX_UTF8_H
#define MX_UTF8_H

#include <mcpx/text.h>

/** Cuts a byte order mark off, with which some editors begin a file. */
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
 * The length, 1..4, of the UTF-8 sequence that begins at `at`, which is before `end`; 0 when
 * none does: overlong forms, surrogates, code points beyond U+10FFFF and cut sequences are none.
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

#endif
