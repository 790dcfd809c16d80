/*
 * digits.c - decimal numbers. Rejected: strtol; it accepts blanks, signs and bytes after the
 * digits, and needs a text with a NUL at its end.
 */
#include "lib/base/digits.h"

#include "lib/base/rows.h"

enum { DIGITS_MAX = 18 }; /* always fit into 64 bits */

bool mx_decimal_clamp(struct mcpx_slice text, uint64_t max, uint64_t *out)
{
    uint64_t number = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint64_t digit = (uint64_t)(text.text[i] - '0');

        if (!mx_is_digit(text.text[i]))
            return false;
        number = number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : number * 10 + digit;
    }
    *out = number < max ? number : max;
    return true;
}

bool mx_decimal_read(struct mcpx_slice text, uint64_t max, uint64_t *out)
{
    uint64_t number;

    if (text.len > DIGITS_MAX || !mx_decimal_clamp(text, UINT64_MAX, &number) || number > max)
        return false;
    *out = number;
    return true;
}

void mx_percent_add(struct mcpx_text *out, struct mcpx_slice text)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.text[i];

        if (mx_percent_is_unreserved(text.text[i]))
            mcpx_text_add(out, text.text + i, 1);
        else
            mcpx_text_add(out, (char[]){'%', digits[byte >> 4], digits[byte & 15]}, 3);
    }
}

void mx_percent_decode(struct mcpx_text *out, struct mcpx_slice text)
{
    while (text.len > 0) {
        char byte;

        text = mx_behind(text, mx_percent_read(text, &byte));
        mcpx_text_add(out, &byte, 1);
    }
}

struct mcpx_slice mx_trim(struct mcpx_slice text, const char *blanks)
{
    size_t count = strlen(blanks);

    while (text.len > 0 && memchr(blanks, text.text[text.len - 1], count))
        text.len--;
    for (; text.len > 0 && memchr(blanks, *text.text, count); text.len--)
        text.text++;
    return text;
}

/* ---- base64url. Rejected: OpenSSL's decoder; it accepts white space, needs padding and ignores
 * unused bits ---- */

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void mx_base64url_encode(const unsigned char *bytes, size_t len, struct mcpx_text *out)
{
    uint32_t bits = 0;
    unsigned held = 0;

    for (size_t i = 0; i < len; i++) {
        bits = (bits << 8 | bytes[i]) & 0xffff;
        for (held += 8; held >= 6; held -= 6)
            mcpx_text_add(out, &alphabet[bits >> (held - 6) & 63], 1);
    }
    if (held > 0)
        mcpx_text_add(out, &alphabet[bits << (6 - held) & 63], 1);
}

bool mx_base64url_decode(struct mcpx_slice text, struct mcpx_text *out)
{
    size_t begin = out->len;
    uint32_t bits = 0;
    unsigned held = 0;
    bool valid = text.len % 4 != 1;

    for (size_t i = 0; valid && i < text.len; i++) {
        const char *at = memchr(alphabet, text.text[i], sizeof alphabet - 1);
        char byte;

        valid = at != NULL;
        bits = (bits << 6 | (valid ? (uint32_t)(at - alphabet) : 0)) & 0xffff;
        held += 6;
        if (held < 8)
            continue;
        held -= 8;
        byte = (char)(unsigned char)(bits >> held & 0xff);
        mcpx_text_add(out, &byte, 1);
    }
    valid = valid && (bits & ((1u << held) - 1)) == 0;
    if (!valid)
        mx_take_back(out, begin);
    return valid;
}
