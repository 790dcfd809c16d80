/*
 * What breaks for whom: a schema that cannot be used lets everything pass, or takes down the tools
 * beside it; a file or an address that somebody names in a schema is opened.
 */
#include "tests/support/count.h"
#include "tests/support/rows.h"
#include "tests/unit/contract/schema_stage.h"

#include "lib/json/json_write.h"

#include <criterion/criterion.h>

TestSuite(schema, .init = stage_set_up, .fini = stage_tear_down);
TestSuite(shelf, .init = stage_set_up, .fini = stage_tear_down);

/* A schema that cannot be used, and why. */
static void refuse(char *const row[])
{
    struct mcpx_schema *schema;

    cr_expect_eq(stage_compile(mcpx_slice_of(row[0]), NULL, &schema), MCPX_EINVALID, "%s",
                 row[0]);
    cr_expect_null(schema, "%s", row[0]);
    cr_expect_str_eq(stage_errors(), row[1], "%s", row[0]);
    mcpx_schema_unref(schema);
}

Test(schema, is_refused_when_it_cannot_be_used)
{
    rows_each("contract/rows/unusable", "unusable", refuse);
    cr_expect_eq(mcpx_shelf_count(shelf), 0);
}

Test(schema, with_a_pattern_that_only_PCRE2_understands_is_refused)
{
    rows_each("contract/rows/unusable", "what PCRE2 would take, or read in its own way",
              refuse);
}

/* Bounds of a schema: as much as is allowed, and one more. */
static void write_nested(int count)
{
    repeat(&draft, "{\"not\":", count - 1);
    mcpx_text_puts(&draft, "{}");
    repeat(&draft, "}", count - 1);
}

Test(schema, has_bounds)
{
    static const struct {
        const char *before, *part, *after; /* no part: nested */
        int given, most;                   /* `given` of them are there anyway */
        const char *message;
    } bounds[] = {
        {"", NULL, "", 0, MCPX_SCHEMA_DEPTH_MAX, "must not be nested deeper than 64 schemas"},
        {"{\"anyOf\":[{}", ",{}", "]}", 2, MCPX_SCHEMA_COUNT_MAX,
         "must not have more than 10000 schemas"},
        {"{\"pattern\":\"", "a", "\"}", 0, MCPX_SCHEMA_PATTERN_MAX,
         "must not be a pattern longer than 4096 bytes"},
        {"{}", " ", "", 2, MCPX_SCHEMA_BYTES_MAX, "must not be longer than 256 KiB"},
    };

    for (size_t i = 0; i < 2 * COUNT(bounds); i++) {
        struct mcpx_slice message = mcpx_slice_of(bounds[i / 2].message);
        int more = i % 2, count = bounds[i / 2].most + more - bounds[i / 2].given;
        struct written written =
            PARTS(bounds[i / 2].before, bounds[i / 2].part, count, bounds[i / 2].after);
        struct mcpx_schema *schema;

        mcpx_text_reset(&draft);
        if (written.part)
            write_parts(&written, &draft);
        else
            write_nested(count);
        cr_assert_eq(stage_compile(mcpx_text_view(&draft), NULL, &schema),
                     more ? MCPX_EINVALID : MCPX_OK, "%s", message.text);
        cr_expect(!more || mcpx_slice_equal(report.errors[0].message, message));
        cr_expect(!more || mcpx_slice_equal(report.errors[0].keyword, MCPX_SLICE("bounds")));
        mcpx_schema_unref(schema);
    }
}

/* Documents that the caller has. */
static bool find(void *context, struct mcpx_slice uri, struct mcpx_slice *text)
{
    static const struct {
        const char *uri;
        const char *text;
    } known[] = {
        {"x:whole",
         "{\"type\":\"integer\",\"$defs\":{\"p\":{\"$anchor\":\"q\",\"minimum\":5}}}"},
        {"x:broken", "{\"type\":\"integer\",\"minimum\":\"5\"}"},
        {"x:meta",
         "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":\"x:meta\","
         "\"$vocabulary\":{\"https://json-schema.org/draft/2020-12/vocab/core\":true,"
         "\"https://json-schema.org/draft/2020-12/vocab/validation\":true,\"x:v\":false},"
         "\"properties\":{\"title\":{\"const\":\"t\"}}}"},
        {"x:lacking", "{\"$vocabulary\":{\"x:v\":true}}"},
        {"x:circle", "{\"$schema\":\"x:circle\"}"},
    };

    *(int *)context += 1;
    for (size_t i = 0; i < COUNT(known); i++) {
        if (mcpx_slice_equal(uri, mcpx_slice_of(known[i].uri))) {
            *text = mcpx_slice_of(known[i].text);
            return true;
        }
    }
    return false;
}

static int asked;

static void refer(char *const row[])
{
    struct mcpx_schema_options options = {.find = find, .context = &asked};
    struct mcpx_schema *schema;
    enum mcpx_err err = stage_compile(mcpx_slice_of(row[0]), &options, &schema);

    cr_expect_eq(err == MCPX_OK, row[1] != NULL, "%s: %s", row[0], stage_errors());
    if (!err)
        mcpx_schema_validate(schema, mcpx_slice_of(row[1]), &report);
    cr_expect_str_eq(stage_errors(), row[2], "%s", row[0]);
    mcpx_schema_unref(schema);
}

Test(schema, refers_to_what_the_caller_has)
{
    rows_each("contract/rows/unusable", "what the caller has", refer);
    cr_expect_gt(asked, 0);
    cr_expect_eq(mcpx_shelf_count(shelf), 0, "what others may change is compiled each time");
}

Test(schema, may_be_a_part_of_a_text)
{
    struct mcpx_slice tool =
        MCPX_SLICE("{\"name\":\"t\",\"inputSchema\":{\"$defs\":{\"n\":{\"minimum\":5}},"
                   "\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}}}}");
    struct mcpx_schema_options options = {.pointer = MCPX_SLICE("/inputSchema")};
    struct mcpx_schema *schema;

    cr_assert_eq(stage_compile(tool, &options, &schema), MCPX_OK, "%s", stage_errors());
    mcpx_schema_validate(schema, MCPX_SLICE("{\"a\":1}"), &report);
    cr_expect_str_eq(stage_errors(), "/a minimum must be at least 5");
    mcpx_schema_unref(schema);
}

/* A list of tools is used as it came: its icons are large, its descriptions cut in the middle of a
 * character, its `_meta` odd. One of that, and no tool of it could be called. */
static void judge_part(char *const row[])
{
    struct mcpx_schema_options options = {.pointer = mcpx_slice_of(row[1])};
    const char *icon = strchr(row[0], '#');
    struct mcpx_schema *schema;
    enum mcpx_err err;

    mcpx_text_reset(&draft);
    icon = icon && icon[1] == '"' ? icon : row[0];
    mcpx_text_add(&draft, row[0], (size_t)(icon - row[0]));
    repeat(&draft, "0123456789", icon > row[0] ? 30000 : 0);
    mcpx_text_puts(&draft, icon > row[0] ? icon + 1 : icon);
    err = stage_compile(mcpx_text_view(&draft), &options, &schema);
    cr_expect_eq(err, row[2] ? MCPX_EINVALID : MCPX_OK, "%s", row[0]);
    if (err)
        cr_expect_str_eq(stage_errors(), row[2], "%s", row[0]);
    mcpx_schema_unref(schema);
}

Test(schema, is_judged_without_what_stands_around)
{
    rows_each("contract/rows/unusable", "what stands around", judge_part);
    cr_expect_eq(mcpx_shelf_count(shelf), 1, "they are one schema");
}

/* Servers name their dialect as they like; one wrong letter, and none of their tools works. */
Test(schema, names_its_dialect_with_http_or_https)
{
    static const struct {
        const char *uri;
        bool is_07;
    } rows[] = {
        {"http://json-schema.org/draft-07/schema#", true},
        {"https://json-schema.org/draft-07/schema#", true},
        {"https://json-schema.org/draft-07/schema", true},
        {"http://json-schema.org/draft-06/schema#", true},
        {"https://json-schema.org/draft-06/schema", true},
        {"http://json-schema.org/draft/2020-12/schema", false},
        {"https://json-schema.org/draft/2020-12/schema#", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_schema *schema;

        mcpx_text_reset(&draft);
        mx_format(&draft, "{\"$schema\":\"%s\",\"dependencies\":{\"a\":[\"b\"]}}",
                  rows[i].uri);
        cr_assert_eq(stage_compile(mcpx_text_view(&draft), NULL, &schema), MCPX_OK, "%s",
                     rows[i].uri);
        cr_expect_eq(mcpx_schema_validate(schema, MCPX_SLICE("{\"a\":1}"), &report),
                     rows[i].is_07 ? MCPX_EINVALID : MCPX_OK, "%s", rows[i].uri);
        mcpx_schema_unref(schema);
    }
}

Test(schema, is_compiled_once)
{
    static const char *const same[] = {
        "{\"type\":\"object\",\"minProperties\":1}",
        " { \"minProperties\" : 1.0, \"type\" : \"\\u006fbject\" }"};
    struct mcpx_schema_options draft_07 = {.dialect = MCPX_DIALECT_DRAFT_07};
    struct mcpx_schema *a = NULL, *b = NULL, *c = NULL, *d = NULL;

    mcpx_schema_compile(shelf, mcpx_slice_of(same[0]), NULL, NULL, &a);
    mcpx_schema_compile(shelf, mcpx_slice_of(same[1]), NULL, NULL, &b);
    mcpx_schema_compile(shelf, mcpx_slice_of(same[0]), &draft_07, NULL, &c);
    mcpx_schema_compile(shelf, MCPX_SLICE("{\"type\":\"object\"}"), NULL, NULL, &d);
    cr_expect_eq(a, b);
    cr_expect_neq(a, c);
    cr_expect_neq(a, d);
    cr_expect_eq(mcpx_shelf_count(shelf), 3);
    cr_expect(mcpx_slice_equal(
        mcpx_schema_fingerprint(d),
        MCPX_SLICE("a2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0")));
    cr_expect(mcpx_slice_equal(mcpx_schema_fingerprint(a), mcpx_schema_fingerprint(c)),
              "schemas that others hold live on");
    mcpx_schema_unref(a);
    mcpx_schema_unref(b);
    mcpx_schema_unref(c);
    mcpx_schema_unref(d);
}

Test(shelf, holds_64_MiB)
{
    struct mcpx_schema *first = NULL, *schema = NULL;
    size_t before = 0;

    for (int i = 0; i < 100 && mcpx_shelf_count(shelf) >= before; i++) {
        before = mcpx_shelf_count(shelf);
        mcpx_text_reset(&draft);
        mx_format(&draft, "{\"$comment\":\"%s\",\"anyOf\":[{}", i);
        repeat(&draft, ",{\"maximum\":1234567}", 9000);
        mcpx_text_puts(&draft, "]}");
        cr_assert_eq(mcpx_schema_compile(shelf, mcpx_text_view(&draft), NULL, NULL, &schema),
                     MCPX_OK);
        if (i == 0)
            first = mcpx_schema_ref(schema);
        mcpx_schema_unref(schema);
        cr_expect_leq(mcpx_shelf_bytes(shelf), 64 * 1024 * 1024);
    }
    cr_expect_lt(mcpx_shelf_count(shelf), 100, "nothing had to go");
    cr_expect_gt(mcpx_shelf_bytes(shelf), 32 * 1024 * 1024);
    mcpx_schema_unref(first);
}
