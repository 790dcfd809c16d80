/*
 * What breaks for whom: two transports answer differently and the logs that should show it count as
 * equal; or a run is taken for different because its clock was another one.
 */
#include "lib/base/scoped.h"
#include "tests/support/count.h"
#include "tests/support/fault_alloc.h"

#include <mcpx/record.h>

#include <criterion/criterion.h>
#include <stdio.h>

static struct mcpx_text told;

/* Lines and paths, as "1 /status;". */
static void tell(void *context, size_t line, struct mcpx_slice path)
{
    char number[32];

    (void)context;
    snprintf(number, sizeof number, "%zu ", line);
    mcpx_text_puts(&told, number);
    mcpx_text_slice(&told, path);
    mcpx_text_puts(&told, ";");
}

static void tear_down(void)
{
    mcpx_text_fini(&told);
}

TestSuite(parity, .fini = tear_down);

/* Cuts off the next line; absent when there is none. */
static struct mcpx_slice next_line(const char **rest)
{
    struct mcpx_slice line = {*rest, strcspn(*rest, "\n")};

    if (!**rest)
        return (struct mcpx_slice){0};
    *rest += line.len + (line.text[line.len] == '\n');
    return line;
}

static enum mcpx_err compare_all(const char *golden, const char *other,
                                 struct mcpx_parity *parity, struct mcpx_fault *fault)
{
    enum mcpx_err err = MCPX_OK;

    while (!err && (*golden || *other)) {
        const struct mcpx_slice lines[2] = {next_line(&golden), next_line(&other)};

        err = mcpx_parity_next(parity, lines, fault);
    }
    mcpx_parity_fini(parity);
    return err;
}

static enum mcpx_err compare(const char *golden, const char *other, struct mcpx_parity *parity,
                             struct mcpx_fault *fault)
{
    *parity = (struct mcpx_parity){.differ = tell};
    mcpx_text_reset(&told);
    mcpx_text_puts(&told, "");
    return compare_all(golden, other, parity, fault);
}

#define LINE(ts, id, status)                                                                  \
    "{\"ts\":\"" ts "\",\"transport\":\"" id "\",\"route\":\"" id "\",\"requestId\":\"" id    \
    "\",\"traceId\":\"" id "\",\"spanId\":\"" id "\",\"durationMs\":" id                      \
    ",\"status\":\"" status "\"}\n"

struct row {
    const char *golden;
    const char *other;
    const char *differences;
};

static void expect_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct mcpx_parity parity;
        size_t differences = 0;

        cr_expect_eq(compare(rows[i].golden, rows[i].other, &parity, NULL), MCPX_OK);
        cr_expect_str_eq(told.text ? told.text : "", rows[i].differences, "%s / %s",
                         rows[i].golden, rows[i].other);
        for (const char *at = rows[i].differences; *at; at++)
            differences += *at == ';';
        cr_expect_eq(parity.differences, differences);
        parity = (struct mcpx_parity){0};
        cr_expect_eq(compare_all(rows[i].golden, rows[i].other, &parity, NULL), MCPX_OK);
        cr_expect_eq(parity.differences, differences);
    }
}

Test(parity, R002_16_what_differs_between_runs_and_transports_does_not_count)
{
    static const struct row rows[] = {
        {"", "", ""},
        {LINE("a", "1", "ok"), LINE("b", "2", "ok"), ""},
        {LINE("a", "1", "ok"), LINE("a", "1", "error"), "1 /status;"},
        {LINE("a", "1", "ok") LINE("a", "1", "ok"), LINE("b", "2", "ok") LINE("b", "2", "ok"),
         ""},
        {"{\"ts\":1}", "{}", ""},
        {"{}", "{\"spanId\":{}}", ""},
        {"{\"t\\u0073\":1}", "{\"\\u0074s\":2}", ""},
        {"{\"error\":{\"ts\":1}}", "{\"error\":{\"ts\":2}}", "1 /error/ts;"},
        {"{\"error\":{\"route\":1}}", "{\"error\":{}}", "1 /error/route;"},
    };

    expect_rows(rows, COUNT(rows));
}

Test(parity, R002_16_every_member_that_differs_is_told)
{
    static const struct row rows[] = {
        {"{\"a\":1,\"b\":2}", "{\"b\":2.0,\"a\":1}\n", ""},
        {"{\"a\":1,\"b\":2}", "{\"b\":1,\"a\":2}", "1 /a;1 /b;"},
        {"{\"a\":1}", "{\"b\":1}", "1 /a;1 /b;"},
        {"{\"a\":null}", "{}", "1 /a;"},
        {"{\"e\":null}", "{\"e\":{\"path\":1}}", "1 /e;"},
        {"{\"e\":{\"path\":null,\"x\":1}}", "{\"e\":{\"path\":\"\",\"x\":1}}", "1 /e/path;"},
        {"{\"l\":[1,2,3]}", "{\"l\":[1,0,3]}", "1 /l/1;"},
        {"{\"l\":[1,2,3]}", "{\"l\":[1,2]}", "1 /l;"},
        {"{\"l\":[[0],{\"a\":1}]}", "{\"l\":[[1],{\"a\":2}]}", "1 /l/0/0;1 /l/1/a;"},
        {"{\"a/b~c\":1,\"\":1}", "{\"a/b~c\":2,\"\":2}", "1 /a~1b~0c;1 /;"},
        {"{\"\\u0061\":\"\\u0041\"}", "{\"a\":\"A\"}", ""},
        {"{\"\\u00e9\":1}", "{\"\xc3\xa9\":2}", "1 /\xc3\xa9;"},
        {"{\"n\":12345678901234567890}", "{\"n\":12345678901234567891}", "1 /n;"},
        {"{\"n\":1e400}", "{\"n\":10e399}", ""},
        {"{\"b\":true}", "{\"b\":false}", "1 /b;"},
        {"[1]", "[1]", ""},
        {"[1]", "{}", "1 ;"},
        {"\"a\"", "\"b\"", "1 ;"},
    };

    expect_rows(rows, COUNT(rows));
}

Test(parity, R002_16_order_of_lines_counts_and_a_line_may_be_missing)
{
    static const struct row rows[] = {
        {"{\"a\":1}\n{\"a\":2}\n", "{\"a\":2}\n{\"a\":1}\n", "1 /a;2 /a;"},
        {"{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\n", "2 ;"},
        {"{\"a\":1}", "{\"a\":1}\r\n{\"a\":2}\n{\"a\":3}", "2 ;3 ;"},
        {"", "{}", "1 ;"},
    };

    expect_rows(rows, COUNT(rows));
}

Test(parity, lines_are_counted_on_both_sides)
{
    struct mcpx_parity parity;

    cr_assert_eq(compare("{}\n{}\n", "{}", &parity, NULL), MCPX_OK);
    cr_expect_eq(parity.lines[MCPX_PARITY_GOLDEN], 2);
    cr_expect_eq(parity.lines[MCPX_PARITY_NEW], 1);
}

Test(parity, a_line_that_cannot_be_read_proves_nothing)
{
    static const struct {
        const char *golden, *other;
        enum mcpx_err err;
        enum mcpx_parity_side side;
        size_t offset;
    } rows[] = {
        {"{}\n{\"a\":", "{}\n{}", MCPX_EINVALID, MCPX_PARITY_GOLDEN, 5},
        {"{}", "{", MCPX_EINVALID, MCPX_PARITY_NEW, 1},
        {"{}\n", "{}\n\n", MCPX_EINVALID, MCPX_PARITY_NEW, 0},
        {"{}", "{\"a\":1,\"a\":1}", MCPX_EINVALID, MCPX_PARITY_NEW, 7},
        {"{}\n{}\n", "{}\n{}\n\"\\ud800\"", MCPX_EINVALID, MCPX_PARITY_NEW, 0},
        {"\"\xff\"", "1", MCPX_EUTF8, MCPX_PARITY_GOLDEN, 1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_fault fault = {NULL, NULL, 0};
        struct mcpx_parity parity;

        cr_expect_eq(compare(rows[i].golden, rows[i].other, &parity, &fault), rows[i].err);
        cr_expect_eq(parity.side, rows[i].side, "row %zu", i);
        cr_expect_eq(fault.offset, rows[i].offset, "row %zu: %zu", i, fault.offset);
        cr_expect_not_null(fault.reason);
    }
}

/* Whoever calls a tool chooses names, and a log of theirs must not take an hour to compare. Names
 * of a line in another order, all of them, so that each has to be looked for: 200,000 looked for
 * one by one are 2 * 10^10 comparisons. */
Test(parity, a_line_may_have_many_members, .timeout = 60)
{
    enum { MEMBERS = 200000 };
    mx_scoped_text golden = {0}, other = {0};
    struct mcpx_parity parity;

    for (int i = 0; i < MEMBERS; i++) {
        char member[64];

        snprintf(member, sizeof member, "%c\"%d\":%d", i ? ',' : '{', i, i);
        mcpx_text_puts(&golden, member);
        snprintf(member, sizeof member, "%c\"%d\":%d", i ? ',' : '{', MEMBERS - i,
                 MEMBERS - i);
        mcpx_text_puts(&other, member);
    }
    mcpx_text_puts(&golden, "}");
    mcpx_text_puts(&other, "}");
    cr_assert_eq(compare(golden.text, other.text, &parity, NULL), MCPX_OK);
    cr_expect_str_eq(told.text, "1 /0;1 /200000;");
}

/* A difference that memory made, or one that it hides, is a fault. */
Test(parity, without_memory_there_is_no_answer)
{
    const char *golden = "{\"\\u00e9\":{\"a\":[1,{\"b\":2}]}}",
               *other = "{\"\xc3\xa9\":{\"a\":[1,{\"b\":3}]}}";
    struct mcpx_parity parity;

    FAULT_ALLOC_EACH(nth, 4) {
        enum mcpx_err err;

        parity = (struct mcpx_parity){.differ = NULL};
        err = compare_all(golden, other, &parity, NULL);
        cr_expect_eq(err, fault_alloc_disarm() ? MCPX_ENOMEM : MCPX_OK, "allocation %zu", nth);
    }
    cr_expect_eq(parity.differences, 1);
}
