/*
 * json_write.c - escapes (RFC 8259 section 7) and commas for every JSON text that the program
 * composes. A text that needs no escape is copied whole. Rejected: a writer with a stack of open
 * containers; the last byte tells as much, and functions that compose a text need to share only the
 * text.
 */
#include "lib/json/json_write.h"

#include "lib/base/ident.h"
#include "lib/base/plain.h"

#include <mcpx/json.h>

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

/* Bytes that each byte takes in a string. DEL is legal in JSON, but a terminal that shows a log
 * would obey it. */
/* clang-format off */
static const unsigned char sizes[256] = {
    6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 2, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
    1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 6,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
};
/* clang-format on */

static bool is_plain(struct mcpx_slice text)
{
    const unsigned char *at = (const unsigned char *)text.text;

    return text.len == 0 ||
           (mx_plain_skip(at, at + text.len) == at + text.len && !memchr(at, 0x7f, text.len));
}

static char *put_escape(char *out, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    const char escape[] = {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
    size_t size = sizes[byte];

    memcpy(out, escape, size);
    if (size == 2)
        out[1] = byte == '\n' ? 'n' : (char)byte;
    return out + size;
}

/* A document within a string has an escape every few bytes: so room is made once, for all of it. */
void mcpx_json_add_string(struct mcpx_text *buf, struct mcpx_slice text)
{
    size_t size = 2;
    char *out;

    if (is_plain(text)) {
        mcpx_text_add(buf, "\"", 1);
        mcpx_text_slice(buf, text);
        mcpx_text_add(buf, "\"", 1);
        return;
    }
    for (size_t i = 0; i < text.len; i++)
        size += sizes[(unsigned char)text.text[i]];
    if (!mcpx_text_reserve(buf, size))
        return;
    out = buf->text + buf->len;
    buf->len += size;
    *out++ = '"';
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.text[i];

        if (sizes[byte] == 1)
            *out++ = (char)byte;
        else
            out = put_escape(out, byte);
    }
    *out++ = '"';
    *out = '\0';
}

static bool is_white(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* True behind a value: the next member or item needs a comma. */
static bool needs_comma(const struct mcpx_text *out)
{
    size_t len = out->len;
    char last;

    while (len > 0 && is_white(out->text[len - 1]))
        len--;
    if (len == 0)
        return false;
    last = out->text[len - 1];
    return last != '{' && last != '[' && last != ':' && last != ',';
}

/* Appends a comma where one is needed, and the name of a value. */
static void put_name(struct mcpx_text *out, const char *name)
{
    size_t len = name ? strlen(name) : 0;
    char *at;

    if (!mcpx_text_reserve(out, sizeof ",\"\":" - 1 + len))
        return;
    at = out->text + out->len;
    if (needs_comma(out))
        *at++ = ',';
    if (name) {
        *at++ = '"';
        memcpy(at, name, len);
        at += len;
        *at++ = '"';
        *at++ = ':';
    }
    *at = '\0';
    out->len = (size_t)(at - out->text);
}

void mcpx_json_add_member(struct mcpx_text *buf, const char *name, struct mcpx_slice text)
{
    put_name(buf, name);
    mcpx_json_add_string(buf, text);
}

void mx_json_begin_object(struct mcpx_text *out, const char *name)
{
    put_name(out, name);
    mcpx_text_add(out, "{", 1);
}

void mx_json_end_object(struct mcpx_text *out)
{
    mcpx_text_add(out, "}", 1);
}

void mx_json_begin_array(struct mcpx_text *out, const char *name)
{
    put_name(out, name);
    mcpx_text_add(out, "[", 1);
}

void mx_json_end_array(struct mcpx_text *out)
{
    mcpx_text_add(out, "]", 1);
}

void mx_json_add_raw(struct mcpx_text *out, const char *name, struct mcpx_slice value)
{
    put_name(out, name);
    mcpx_text_slice(out, value);
}

void mx_json_add_number(struct mcpx_text *out, const char *name, int64_t number)
{
    put_name(out, name);
    mcpx_text_number(out, number);
}

void mx_json_add_bool(struct mcpx_text *out, const char *name, bool value)
{
    mx_json_add_raw(out, name, value ? MCPX_SLICE("true") : MCPX_SLICE("false"));
}

void mx_json_add_item(struct mcpx_text *out, struct mcpx_slice text)
{
    put_name(out, NULL);
    mcpx_json_add_string(out, text);
}

void mx_json_add_optional(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    if (text.text)
        mcpx_json_add_member(out, name, text);
}

void mx_json_add_time(struct mcpx_text *out, const char *name, int64_t wall_ms)
{
    char time[MX_TIME_LEN + 1];

    if (!wall_ms)
        return;
    mx_time_format(wall_ms, time);
    mcpx_json_add_member(out, name, mcpx_slice_of(time));
}

void mx_json_add_strings(struct mcpx_text *out, const char *name,
                         const struct mcpx_slice *texts, size_t count)
{
    mx_json_begin_array(out, name);
    for (size_t i = 0; i < count; i++)
        mx_json_add_item(out, texts[i]);
    mx_json_end_array(out);
}

/* Rejected: printf; its letters repeat types that the compiler knows, and it writes neither slices
 * nor JSON strings. Code that runs per delivered message appends without a format: reading the
 * format would cost more than the bytes do. */

enum { DIGITS_MAX = 24 }; /* a sign, 20 digits, a NUL */

/* The bytes of a piece; `digits` has room for those of a number. */
static struct mcpx_slice bytes_of(const struct mx_piece *piece, char digits[DIGITS_MAX])
{
    int len = 0;

    if (piece->type == MX_PIECE_TEXT)
        return piece->text;
    if (piece->type == MX_PIECE_SIGNED)
        len = snprintf(digits, DIGITS_MAX, "%" PRId64, (int64_t)piece->number);
    else
        len = snprintf(digits, DIGITS_MAX, "%" PRIu64, piece->number);
    return (struct mcpx_slice){digits, (size_t)len};
}

/* Cut to a tenth of a unit; units are powers of 1024, as in settings and limits. */
static void put_bytes(struct mcpx_text *out, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    uint64_t tenths = bytes < UINT64_MAX / 10 ? bytes * 10 : UINT64_MAX;
    size_t unit = 0;

    for (; tenths >= 10240 && unit < sizeof units / sizeof *units - 1; unit++)
        tenths /= 1024;
    mcpx_text_number(out, (int64_t)(tenths / 10));
    if (tenths % 10)
        mx_format(out, ".%s", tenths % 10);
    mx_format(out, " %s", units[unit]);
}

/* In two neighbouring units; smaller ones do not matter to a person. */
static void put_time(struct mcpx_text *out, uint64_t ms)
{
    uint64_t s = ms / 1000;

    if (s < 1)
        mx_format(out, "%s ms", ms);
    else if (s < 60)
        mx_format(out, "%s.%s s", s, ms % 1000 / 100);
    else if (s < 3600)
        mx_format(out, "%s min %s s", s / 60, s % 60);
    else if (s < 86400)
        mx_format(out, "%s h %s min", s / 3600, s % 3600 / 60);
    else
        mx_format(out, "%s d %s h", s / 86400, s % 86400 / 3600);
}

static void put_piece(struct mcpx_text *out, char sign, const struct mx_piece *piece)
{
    char digits[DIGITS_MAX];
    struct mcpx_slice bytes = bytes_of(piece, digits);

    if (sign == 'q')
        mcpx_json_add_string(out, bytes);
    else if (sign == 'b')
        put_bytes(out, piece->number);
    else if (sign == 't')
        put_time(out, piece->number);
    else
        mcpx_text_slice(out, bytes);
    out->failed |= piece->failed;
}

void mx_format_pieces(struct mcpx_text *out, const char *format, size_t count,
                      const struct mx_piece *pieces)
{
    size_t done = 0;
    bool agrees = true;
    const char *sign;

    while (agrees && (sign = strchr(format, '%')) != NULL) {
        mcpx_text_add(out, format, (size_t)(sign - format));
        format = sign + 2;
        if (sign[1] == '%')
            mcpx_text_add(out, "%", 1);
        else if (sign[1] && strchr("sqbt", sign[1]) && done < count)
            put_piece(out, sign[1], &pieces[done++]);
        else
            agrees = false;
    }
    agrees = agrees && done == count;
    assert(agrees);
    if (agrees)
        mcpx_text_puts(out, format);
    else
        out->failed = true;
}

struct mcpx_text mx_formatted_pieces(const char *format, size_t count,
                                     const struct mx_piece *pieces)
{
    struct mcpx_text out = {0};

    mx_format_pieces(&out, format, count, pieces);
    return out;
}
