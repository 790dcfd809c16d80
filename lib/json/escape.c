/*
 * escape.c - undoing JSON escapes. Texts come from mx_scan, so nothing is checked twice: every
 * backslash is followed by a letter of the grammar and every 'u' by four hexadecimal digits.
 */
#include "lib/json/escape.h"

#include "lib/base/digits.h"
#include "lib/base/plain.h"

/* The code unit of "\uXXXX" at `at`; 0 (not a surrogate) when no such escape is there. */
static uint32_t code_unit(struct mcpx_slice raw, size_t at)
{
    uint32_t unit = 0;

    if (raw.len - at < 6 || raw.text[at] != '\\' || raw.text[at + 1] != 'u')
        return 0;
    for (size_t i = at + 2; i < at + 6; i++)
        unit = unit << 4 | (uint32_t)mx_hex_digit(raw.text[i]);
    return unit;
}

static size_t put_code_point(uint32_t code, char out[4])
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = len - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(leads[len] | code);
    return len;
}

static void decode_unicode(struct mcpx_slice raw, size_t at, struct mx_escape *out)
{
    uint32_t code = code_unit(raw, at);
    uint32_t low;

    out->raw_len = 6;
    out->is_lone = code >= 0xd800 && code <= 0xdfff;
    if (code >= 0xd800 && code <= 0xdbff) {
        low = code_unit(raw, at + 6);
        if (low >= 0xdc00 && low <= 0xdfff) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            out->raw_len = 12;
            out->is_lone = false;
        }
    }
    out->len = put_code_point(code, out->bytes);
}

void mx_escape_decode(struct mcpx_slice raw, size_t at, struct mx_escape *out)
{
    static const char letters[] = "bfnrt";
    static const char meanings[] = "\b\f\n\r\t";
    char letter = raw.text[at + 1];
    const char *found;

    if (letter == 'u') {
        decode_unicode(raw, at, out);
        return;
    }
    found = memchr(letters, letter, sizeof letters - 1);
    out->bytes[0] = found ? meanings[found - letters] : letter;
    out->len = 1;
    out->raw_len = 2;
    out->is_lone = false;
}

bool mx_unescape(struct mcpx_slice raw, char *out, size_t *len)
{
    static const struct mcpx_slice replacement = {"\xef\xbf\xbd", 3};
    bool whole = true;
    size_t at = 0, put = 0;

    while (at < raw.len) {
        const char *found = memchr(raw.text + at, '\\', raw.len - at);
        size_t run = found ? (size_t)(found - raw.text) - at : raw.len - at;
        struct mx_escape escape;

        memcpy(out + put, raw.text + at, run);
        put += run;
        at += run;
        if (!found)
            break;
        mx_escape_decode(raw, at, &escape);
        memcpy(out + put, escape.is_lone ? replacement.text : escape.bytes, escape.len);
        whole = whole && !escape.is_lone;
        put += escape.len;
        at += escape.raw_len;
    }
    *len = put;
    return whole;
}

bool mx_inside_has_half(struct mcpx_slice raw)
{
    struct mx_escape escape;
    const char *found;
    size_t at = 0;

    while ((found = memchr(raw.text + at, '\\', raw.len - at)) != NULL) {
        at = (size_t)(found - raw.text);
        mx_escape_decode(raw, at, &escape);
        if (escape.is_lone)
            return true;
        at += escape.raw_len;
    }
    return false;
}

struct mx_inside mx_inside_start(struct mcpx_slice raw)
{
    struct mx_inside inside;

    inside.raw = raw;
    inside.at = 0;
    inside.escape.len = 0;
    inside.escape.is_lone = false;
    inside.done = 0;
    return inside;
}

int mx_inside_next(struct mx_inside *inside)
{
    if (inside->done < inside->escape.len)
        return (unsigned char)inside->escape.bytes[inside->done++];
    if (inside->at == inside->raw.len)
        return -1;
    if (inside->raw.text[inside->at] != '\\')
        return (unsigned char)inside->raw.text[inside->at++];
    mx_escape_decode(inside->raw, inside->at, &inside->escape);
    inside->at += inside->escape.raw_len;
    inside->done = 1;
    return (unsigned char)inside->escape.bytes[0];
}

bool mx_inside_is(struct mcpx_slice raw, struct mcpx_slice text)
{
    struct mx_inside walk = mx_inside_start(raw);

    if (raw.len < text.len) /* escapes only ever make a text longer */
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (mx_inside_next(&walk) != (unsigned char)text.text[i])
            return false;
    return mx_inside_next(&walk) < 0;
}

static bool has_escape(struct mcpx_slice raw)
{
    return raw.len > 0 && memchr(raw.text, '\\', raw.len);
}

int mx_inside_compare(struct mcpx_slice a, struct mcpx_slice b)
{
    struct mx_inside in_a, in_b;
    int byte_a, byte_b;

    if (!has_escape(a) && !has_escape(b))
        return mcpx_slice_compare(a, b);
    in_a = mx_inside_start(a);
    in_b = mx_inside_start(b);
    do {
        byte_a = mx_inside_next(&in_a);
        byte_b = mx_inside_next(&in_b);
    } while (byte_a == byte_b && byte_a >= 0);
    return byte_a - byte_b;
}

void mx_hex_add(struct mcpx_text *out, const char *prefix, uint32_t number, int digits)
{
    mcpx_text_puts(out, prefix);
    while (digits-- > 0)
        mcpx_text_add(out, &"0123456789abcdef"[number >> (4 * digits) & 15], 1);
}

void mx_escape_add(struct mcpx_text *out, uint32_t character)
{
    if (character >= 0x10000) {
        mx_hex_add(out, "\\u", 0xd800 + ((character - 0x10000) >> 10), 4);
        character = 0xdc00 + ((character - 0x10000) & 0x3ff);
    }
    mx_hex_add(out, "\\u", character, 4);
}

/* ---- UTF-8 ---- */

bool mx_utf8_is_valid(struct mcpx_slice text, size_t *offset)
{
    const unsigned char *begin = (const unsigned char *)(text.text ? text.text : "");
    const unsigned char *at = begin;
    const unsigned char *end = begin + text.len;

    while ((at = mx_plain_ascii(at, end)) < end) {
        size_t len = mx_utf8_sequence(at, end);

        if (len == 0) {
            if (offset)
                *offset = (size_t)(at - begin);
            return false;
        }
        at += len;
    }
    return true;
}
