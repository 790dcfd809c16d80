/*
 * lines.c - lines cut out of pieces of any size. A line within one piece is lent from there. Only a
 * line that began in an earlier piece is joined, so whole messages of a child cost no copy.
 * Each byte is looked at once. An overlong line is reported at once and then skipped: a line
 * without end costs its reader at most `max` bytes.
 */
#include <mcpx/lines.h>

#include "lib/base/digits.h"

enum { PREFIX_MAX = 256 };

static const struct mcpx_slice absent;

void mcpx_lines_fini(struct mcpx_lines *lines)
{
    mcpx_text_fini(&lines->kept);
    lines->fed = absent;
    lines->skipped = lines->done = 0;
}

void mcpx_lines_feed(struct mcpx_lines *lines, struct mcpx_slice bytes)
{
    lines->fed = bytes;
}

/* Cuts the bytes up to the next newline off what was fed; all of them when there is none. */
static struct mcpx_slice take(struct mcpx_lines *lines, bool *whole)
{
    struct mcpx_slice taken = mx_cut_at(&lines->fed, '\n');

    *whole = lines->fed.text;
    return taken;
}

/* Passes over the rest of an overlong line; true when its end was found. */
static bool skip(struct mcpx_lines *lines)
{
    bool whole;
    struct mcpx_slice taken = take(lines, &whole);

    lines->skipped = whole ? 0 : lines->skipped + taken.len;
    return whole;
}

/* The length of kept + piece as a line, a final "\r" left out: it may belong to the end. */
static size_t line_len(const struct mcpx_lines *lines, struct mcpx_slice piece)
{
    size_t len = lines->kept.len + piece.len;
    char last = '\0';

    if (piece.len)
        last = piece.text[piece.len - 1];
    else if (len)
        last = lines->kept.text[len - 1];
    return len - (last == '\r');
}

/* Lends what was kept and the piece after it, as far as `len`; false when memory ran out. */
static bool join(struct mcpx_lines *lines, struct mcpx_slice piece, size_t len,
                 struct mcpx_slice *line)
{
    if (lines->kept.len == 0) {
        *line = (struct mcpx_slice){piece.text, len};
        return true;
    }
    if (len > lines->kept.len)
        mcpx_text_add(&lines->kept, piece.text, len - lines->kept.len);
    lines->done = lines->kept.len;
    *line = (struct mcpx_slice){lines->kept.text, len};
    return !lines->kept.failed;
}

/* Drops the kept beginning of a line, and skips the rest of it. */
static enum mcpx_err drop_line(struct mcpx_lines *lines, size_t len, bool whole,
                               struct mcpx_slice *line)
{
    lines->skipped = whole ? 0 : len;
    mcpx_text_reset(&lines->kept);
    lines->done = 0;
    *line = MCPX_SLICE("");
    return MCPX_ENOMEM;
}

static enum mcpx_err tell_overlong(struct mcpx_lines *lines, struct mcpx_slice piece,
                                   bool whole, struct mcpx_slice *line)
{
    size_t len = lines->kept.len + piece.len;
    /* no more than `max`, so that it does not depend on how the stream was split */
    size_t prefix = lines->max < PREFIX_MAX ? lines->max : PREFIX_MAX;

    if (!join(lines, piece, prefix, line))
        return drop_line(lines, len, whole, line);
    lines->skipped = whole ? 0 : len;
    return MCPX_ETOOBIG;
}

bool mcpx_lines_next(struct mcpx_lines *lines, struct mcpx_slice *line, enum mcpx_err *err)
{
    struct mcpx_slice piece;
    size_t len;
    bool whole;

    if (lines->done) {
        mcpx_text_reset(&lines->kept);
        lines->done = 0;
    }
    if (lines->skipped && !skip(lines))
        return false;
    piece = take(lines, &whole);
    len = line_len(lines, piece);
    *err = MCPX_OK;
    if (lines->max && len > lines->max) {
        *err = tell_overlong(lines, piece, whole, line);
        return true;
    }
    if (whole) {
        if (!join(lines, piece, len, line))
            *err = drop_line(lines, lines->kept.len + piece.len, true, line);
        return true;
    }
    if (piece.len)
        mcpx_text_slice(&lines->kept, piece);
    if (!lines->kept.failed)
        return false;
    *err = drop_line(lines, lines->kept.len + piece.len, false, line);
    return true;
}
