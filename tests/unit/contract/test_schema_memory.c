/*
 * What breaks for whom: whoever sends a message of a megabyte takes many of them from the machine,
 * or every call leaves a little behind.
 */
#include <mcpx/schema.h>

#include "tests/support/count.h"
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Bytes of a document, and what an evaluation may take for each;
   for the patterns, and in any case. */
#define SIZE (1024 * 1024)
#define PER_BYTE 24
#define FIXED (1536 * 1024)

/* Sanitizers keep what is freed, and a shadow of all of it. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_MEASURED false
#else
#define IS_MEASURED true
#endif

/* Lets this process have so many bytes of address space more, and not one beyond them. */
static void allow(size_t bytes)
{
    FILE *file = fopen("/proc/self/statm", "r");
    size_t pages = 0;
    struct rlimit limit;

    cr_assert_not_null(file);
    cr_assert_eq(fscanf(file, "%zu", &pages), 1);
    fclose(file);
    cr_assert_eq(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = pages * (size_t)sysconf(_SC_PAGESIZE) + bytes;
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

/* A document of SIZE bytes, about: `part` again and again, with a number in it if `counts`. */
static void compose(struct mcpx_text *out, const char *before, const char *part, bool counts,
                    const char *after)
{
    mcpx_text_reserve(out, SIZE + 64);
    mcpx_text_puts(out, before);
    for (int i = 0; out->len + 64 < SIZE; i++) {
        mcpx_text_puts(out, i ? "," : "");
        mcpx_text_puts(out, part);
        if (counts) {
            mcpx_text_number(out, i);
            mcpx_text_puts(out, "\":0");
        }
    }
    mcpx_text_puts(out, after);
}

static const struct {
    const char *schema;
    const char *before;
    const char *part;
    bool counts;
    const char *after;
    enum mcpx_err err;
} rows[] = {
    {"{\"type\":\"array\"}", "[", "0", false, "]", MCPX_OK},
    {"{\"uniqueItems\":true}", "[", "0", false, "]", MCPX_EINVALID},
    {"{\"unevaluatedItems\":false,\"anyOf\":[{\"items\":{\"type\":\"integer\"}},"
     "{\"prefixItems\":[true]}]}",
     "[", "0", false, "]", MCPX_OK},
    {"{\"items\":{\"uniqueItems\":true}}", "[", "[0,0]", false, "]", MCPX_EINVALID},
    {"{\"additionalProperties\":{\"type\":\"integer\"}}", "{", "\"", true, "}", MCPX_OK},
    {"{\"pattern\":\"^(\\\\n|,)*$\"}", "\"", "\\n", false, "\"", MCPX_ELIMIT},
    {"{\"items\":{\"pattern\":\"x\"}}", "[", "\"\\u0061\"", false, "]", MCPX_EINVALID},
    {"{\"not\":{\"uniqueItems\":true}}", "[", "{}", false, "]", MCPX_OK},
};

/* Each row in a process of its own: a limit stays. */
static void judge(size_t i)
{
    struct mcpx_shelf *shelf = mcpx_shelf_new();
    struct mcpx_schema_report report = {0};
    struct mcpx_schema *schema;
    struct mcpx_text text = {0};

    cr_assert_eq(
        mcpx_schema_compile(shelf, mcpx_slice_of(rows[i].schema), NULL, NULL, &schema),
        MCPX_OK);
    compose(&text, rows[i].before, rows[i].part, rows[i].counts, rows[i].after);
    cr_assert(!text.failed);
    if (IS_MEASURED)
        allow((size_t)PER_BYTE * SIZE + FIXED);
    cr_expect_eq(mcpx_schema_validate(schema, mcpx_text_view(&text), &report), rows[i].err,
                 "row %zu: %s", i, report.count ? report.errors[0].keyword.text : "");
    mcpx_schema_unref(schema);
    mcpx_schema_report_fini(&report);
    mcpx_text_fini(&text);
    mcpx_shelf_free(shelf);
}

#define ROW(n)                                                                                \
    Test(schema_memory, is_24_bytes_a_byte_at_most_##n)                                       \
    {                                                                                         \
        judge(n);                                                                             \
    }
ROW(0)
ROW(1)
ROW(2)
ROW(3)
ROW(4)
ROW(5)
ROW(6)
ROW(7)

Test(schema_memory, all_rows_are_run)
{
    cr_expect_eq(COUNT(rows), 8);
}

/* Bytes that are allocated and not given back. */
static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* A schema of 4 KiB, as tools have them; no two are equal. */
static void compose_tool(struct mcpx_text *out, int number)
{
    mcpx_text_reset(out);
    mcpx_text_puts(out,
                   "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"");
    mcpx_text_number(out, number);
    mcpx_text_puts(out, "\",\"type\":\"object\",\"required\":[\"argument-0\"],"
                        "\"additionalProperties\":false,\"properties\":{");
    for (int i = 0; out->len < 3950; i++) {
        mcpx_text_puts(out, i ? ",\"argument-" : "\"argument-");
        mcpx_text_number(out, i);
        mcpx_text_puts(out,
                       "\":{\"description\":\"what this argument is good for, in a line\",");
        mcpx_text_puts(out, i % 2 ? "\"type\":\"string\",\"maxLength\":9}"
                                  : "\"type\":\"integer\",\"minimum\":1}");
    }
    mcpx_text_puts(out, "}}");
}

Test(schema_memory, holds_a_thousand_tools_and_a_million_calls)
{
    static struct mcpx_schema *schemas[1000];
    const struct mcpx_slice calls[] = {
        MCPX_SLICE("{\"argument-0\":7,\"argument-1\":\"x\"}"),
        MCPX_SLICE("{\"argument-0\":0,\"argument-\\u0031\":\"0123456789\",\"more\":[]}"),
        MCPX_SLICE("{\"argument-0\":7,"),
    };
    struct mcpx_shelf *shelf = mcpx_shelf_new();
    struct mcpx_schema_report report = {0};
    struct mcpx_text text = {0};
    size_t begin = in_use(), before;

    for (int i = 0; i < 1000; i++) {
        compose_tool(&text, i);
        cr_assert_eq(
            mcpx_schema_compile(shelf, mcpx_text_view(&text), NULL, &report, &schemas[i]),
            MCPX_OK);
        mcpx_schema_unref(schemas[i]); /* the shelf has it */
    }
    if (IS_MEASURED)
        cr_expect_leq(in_use() - begin, 16 * 1024 * 1024);
    for (int i = 0; i < 3000; i++)
        mcpx_schema_validate(schemas[i % 1000], calls[i / 1000], &report);
    before = in_use();
    for (int i = 0; i < 1000000; i++)
        mcpx_schema_validate(schemas[i % 1000], calls[i % 3], &report);
    cr_expect_leq(in_use(), before);
    mcpx_schema_report_fini(&report);
    mcpx_text_fini(&text);
    mcpx_shelf_free(shelf);
}
