/*
 * What breaks for whom: a pipe hands over bytes as it likes. A message cut in two must come out
 * whole, and a server that never ends a line must not eat the memory of its bridge.
 */
#include <mcpx/lines.h>

#include "lib/base/scoped.h"
#include "tests/support/count.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Appends every line that is left: "[line]", "[!prefix]" for an overlong one, "[?]" for a lost. */
static void drain(struct mcpx_lines *lines, struct mcpx_text *out)
{
    struct mcpx_slice line;
    enum mcpx_err err;

    while (mcpx_lines_next(lines, &line, &err)) {
        mcpx_text_puts(out, "[");
        if (err)
            mcpx_text_puts(out, err == MCPX_ETOOBIG ? "!" : "?");
        mcpx_text_slice(out, line);
        mcpx_text_puts(out, "]");
    }
}

/* Feeds a copy of exactly this piece, which is gone afterwards. */
static void feed(struct mcpx_lines *lines, struct mcpx_text *out, const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);

    memcpy(copy, text, len);
    mcpx_lines_feed(lines, (struct mcpx_slice){copy, len});
    drain(lines, out);
    free(copy);
}

static const struct {
    const char *stream;
    size_t max;
    const char *lines;
} rows[] = {
    {"", 0, ""},
    {"a", 0, ""},
    {"a\n", 0, "[a]"},
    {"a\r\n", 0, "[a]"},
    {"\n", 0, "[]"},
    {"\r\n", 0, "[]"},
    {"\n\n\r\n", 0, "[][][]"},
    {"a\nb\nc", 0, "[a][b]"},
    {"a\r", 0, ""},
    {"a\rb\n", 0, "[a\rb]"},
    {"a\r\r\n", 0, "[a\r]"},
    {"\r\ra\n", 0, "[\r\ra]"},
    {"abc\n", 3, "[abc]"},
    {"abc\r\n", 3, "[abc]"},
    {"abcd\n", 3, "[!abc]"},
    {"abcd\r\n", 3, "[!abc]"},
    {"abc\r\r\n", 3, "[!abc]"},
    {"abcdefghij\nk\n", 3, "[!abc][k]"},
    {"abcdefghij", 3, "[!abc]"},
    {"abcd", 3, "[!abc]"},
    {"abc\r", 3, ""},
    {"abc\rd\n", 3, "[!abc]"},
    {"a\nbcdef\n\ng\nhijkl\nm\n", 3, "[a][!bcd][][g][!hij][m]"},
    {"abcd\nefgh\nijkl\n", 3, "[!abc][!efg][!ijk]"},
    {"\r\r\n", 1, "[\r]"},
    {"ab\n", 1, "[!a]"},
};

Test(lines, a_stream_gives_the_same_lines_however_it_is_split)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t len = strlen(rows[i].stream);

        for (size_t first = 0; first <= len; first++)
            for (size_t second = first; second <= len; second++) {
                struct mcpx_lines lines = {.max = rows[i].max};
                struct mcpx_text out = {0};

                mcpx_text_puts(&out, "");
                feed(&lines, &out, rows[i].stream, first);
                feed(&lines, &out, rows[i].stream + first, second - first);
                feed(&lines, &out, rows[i].stream + second, len - second);
                cr_expect_str_eq(out.text, rows[i].lines, "row %zu split at %zu and %zu: %s",
                                 i, first, second, out.text);
                mcpx_lines_fini(&lines);
                mcpx_text_fini(&out);
            }
    }
}

Test(lines, bytes_one_by_one_are_lines_too)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_lines lines = {.max = rows[i].max};
        struct mcpx_text out = {0};

        mcpx_text_puts(&out, "");
        for (const char *at = rows[i].stream; *at; at++)
            feed(&lines, &out, at, 1);
        cr_expect_str_eq(out.text, rows[i].lines, "row %zu: %s", i, out.text);
        mcpx_lines_fini(&lines);
        mcpx_text_fini(&out);
    }
}

Test(lines, an_overlong_line_is_told_at_once_and_its_rest_is_not_kept)
{
    struct mcpx_lines lines = {.max = 1000};
    struct mcpx_slice line;
    enum mcpx_err err;
    char piece[700];

    memset(piece, 'x', sizeof piece);
    mcpx_lines_feed(&lines, (struct mcpx_slice){piece, sizeof piece});
    cr_expect_not(mcpx_lines_next(&lines, &line, &err));
    cr_expect_eq(lines.skipped, 0);
    mcpx_lines_feed(&lines, (struct mcpx_slice){piece, sizeof piece});
    cr_assert(mcpx_lines_next(&lines, &line, &err));
    cr_expect_eq(err, MCPX_ETOOBIG);
    cr_expect_eq(line.len, 256);
    cr_expect_eq(lines.skipped, 1400);
    cr_expect_not(mcpx_lines_next(&lines, &line, &err));
    for (int i = 0; i < 1000; i++) {
        mcpx_lines_feed(&lines, (struct mcpx_slice){piece, sizeof piece});
        cr_assert_not(mcpx_lines_next(&lines, &line, &err));
    }
    cr_expect_eq(lines.skipped, 701400);
    cr_expect_lt(lines.kept.size, 4096, "%zu bytes are kept", lines.kept.size);
    mcpx_lines_feed(&lines, MCPX_SLICE("x\nnext\n"));
    cr_assert(mcpx_lines_next(&lines, &line, &err));
    cr_expect_eq(err, MCPX_OK);
    cr_expect(mcpx_slice_equal(line, MCPX_SLICE("next")));
    cr_expect_eq(lines.skipped, 0);
    mcpx_lines_fini(&lines);
}

Test(lines, a_line_that_lies_whole_in_a_piece_is_not_copied)
{
    static const char piece[] = "one\ntwo\r\n";
    struct mcpx_lines lines = {0};
    struct mcpx_slice line;
    enum mcpx_err err;

    fault_alloc_arm(1);
    mcpx_lines_feed(&lines, (struct mcpx_slice){piece, sizeof piece - 1});
    cr_assert(mcpx_lines_next(&lines, &line, &err));
    cr_expect_eq(line.text, piece);
    cr_assert(mcpx_lines_next(&lines, &line, &err));
    cr_expect_eq(line.text, piece + 4);
    cr_expect_eq(line.len, 3);
    cr_expect_not(mcpx_lines_next(&lines, &line, &err));
    cr_expect_not(fault_alloc_disarm());
    mcpx_lines_fini(&lines);
}

Test(lines, nul_bytes_are_bytes)
{
    struct mcpx_lines lines = {0};
    struct mcpx_slice line;
    enum mcpx_err err;

    mcpx_lines_feed(&lines, MCPX_SLICE("a\0b\n"));
    cr_assert(mcpx_lines_next(&lines, &line, &err));
    cr_expect(mcpx_slice_equal(line, MCPX_SLICE("a\0b")));
    cr_expect_not(mcpx_lines_next(&lines, &line, &err));
    mcpx_lines_fini(&lines);
}

/* What a child writes after a line was lost is not taken for a line of its own. */
Test(lines, lack_of_memory_loses_one_line_and_only_that)
{
    char big[600];
    size_t nth = 0;
    bool failed;

    memset(big, 'b', sizeof big);
    do {
        struct mcpx_lines lines = {0};
        struct mcpx_text out = {0};

        mcpx_text_reserve(&out, 8000);
        fault_alloc_arm(0);
        feed(&lines, &out, "", 0);
        fault_alloc_arm(++nth);
        mcpx_lines_feed(&lines, MCPX_SLICE("one\ntw"));
        drain(&lines, &out);
        mcpx_lines_feed(&lines, (struct mcpx_slice){big, sizeof big});
        drain(&lines, &out);
        mcpx_lines_feed(&lines, MCPX_SLICE("o\nthree\n"));
        drain(&lines, &out);
        failed = fault_alloc_disarm();
        cr_expect(strncmp(out.text, "[one]", 5) == 0, "allocation %zu: %s", nth, out.text);
        cr_expect(strstr(out.text, "][three]"), "allocation %zu: %s", nth, out.text);
        cr_expect_eq(strstr(out.text, "[?]") != NULL, failed, "allocation %zu: %s", nth,
                     out.text);
        cr_expect_eq(strstr(out.text, "[twb") != NULL, !failed, "allocation %zu: %s", nth,
                     out.text);
        mcpx_lines_fini(&lines);
        mcpx_text_fini(&out);
    } while (failed);
    cr_expect_geq(nth, 3, "%zu", nth);
}

Test(lines, a_stream_can_be_given_up_at_any_time)
{
    struct mcpx_lines lines = {.max = 10};
    mx_scoped_text out = {0};

    feed(&lines, &out, "half", 4);
    mcpx_lines_fini(&lines);
    feed(&lines, &out, "new\n", 4);
    cr_expect_str_eq(out.text, "[new]");
    mcpx_lines_fini(&lines);
    mcpx_lines_fini(&lines);
}
