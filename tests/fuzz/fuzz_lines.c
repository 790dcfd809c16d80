/*
 * fuzz_lines.c - any stream, split anyhow, gives the lines of the whole; and those are the ones
 * that cutting at "\n" by hand gives. The first two bytes are the bound and the way of splitting.
 */
#include "tests/fuzz/fuzz.h"

#include <mcpx/lines.h>

#include <stdlib.h>

static void put(struct mcpx_text *out, struct mcpx_slice line, bool overlong)
{
    mcpx_text_puts(out, overlong ? "!" : "=");
    mcpx_text_slice(out, line);
    mcpx_text_puts(out, "\n");
}

/* Feeds a copy of exactly this piece and appends the lines that come of it. */
static void feed(struct mcpx_lines *lines, struct mcpx_slice piece, struct mcpx_text *out)
{
    char *copy = malloc(piece.len ? piece.len : 1);
    struct mcpx_slice line;
    enum mcpx_err err = MCPX_ENOMEM;

    must(copy != NULL);
    if (piece.len)
        memcpy(copy, piece.text, piece.len);
    mcpx_lines_feed(lines, (struct mcpx_slice){copy, piece.len});
    while (mcpx_lines_next(lines, &line, &err)) {
        must(err == MCPX_OK || err == MCPX_ETOOBIG);
        must(line.text && (err || !lines->max || line.len <= lines->max));
        must(line.len <= 256 || err == MCPX_OK);
        put(out, line, err != MCPX_OK);
    }
    free(copy);
}

/* The lines, cut by hand; a last one without end is left out, unless it is too long already. */
static void expect(struct mcpx_slice stream, size_t max, struct mcpx_text *out)
{
    while (stream.len > 0) {
        const char *end = memchr(stream.text, '\n', stream.len);
        struct mcpx_slice line = {stream.text, end ? (size_t)(end - stream.text) : stream.len};
        size_t used = line.len + (end != NULL);
        size_t prefix = max < 256 ? max : 256;

        if (line.len && line.text[line.len - 1] == '\r')
            line.len--;
        if (max && line.len > max)
            put(out, (struct mcpx_slice){line.text, prefix}, true);
        else if (end)
            put(out, line, false);
        stream.text += used;
        stream.len -= used;
    }
}

/* Splits by a sequence of lengths that depends on `how` alone. */
static void split(struct mcpx_slice stream, size_t max, unsigned how, struct mcpx_text *out)
{
    struct mcpx_lines lines = {.max = max};

    while (stream.len > 0) {
        size_t len = how % 8 == 0 ? stream.len : (how >> 3) % 23;

        len = len < stream.len ? len : stream.len;
        feed(&lines, (struct mcpx_slice){stream.text, len}, out);
        stream.text += len;
        stream.len -= len;
        how = how % 8 == 0 ? how : how * 1103515245u + 12345u;
    }
    mcpx_lines_fini(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_text expected = {0};
    struct mcpx_slice stream;
    unsigned seed;
    size_t max;

    if (size < 2)
        return 0;
    stream = (struct mcpx_slice){(const char *)data + 2, size - 2};
    max = data[0];
    seed = data[1];
    expect(stream, max, &expected);
    for (unsigned how = 0; how < 4; how++) {
        struct mcpx_text out = {0};

        split(stream, max, how == 0 ? 0 : (seed + how) * 2654435761u | 1, &out);
        must(mcpx_slice_equal(mcpx_text_view(&out), mcpx_text_view(&expected)));
        mcpx_text_fini(&out);
    }
    mcpx_text_fini(&expected);
    return 0;
}
