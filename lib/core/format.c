/*
 * format.c - printf was refused: its letters repeat types that the compiler knows, it knows no
 * slices, and nothing in it writes a JSON string. What is appended per delivered message goes
 * without: there, reading a pattern would cost more than the bytes do.
 */
#include "lib/core/format.h"

#include <mcpx/json.h>

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

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

/* Cut to a tenth of a unit, which is a power of 1024 as settings and limits are. */
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

/* In two neighbouring units: what follows says nothing to a person. */
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
