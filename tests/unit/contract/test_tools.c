/*
 * What breaks for whom: a call whose arguments cannot work reaches the server, or a tool with a
 * broken schema takes all others with it.
 */
#include "lib/json/json_write.h"
#include "lib/schema/program.h"

#include "tests/support/fault_alloc.h"
#include "tests/unit/contract/schema_stage.h"

#include <criterion/criterion.h>

static const char page[] =
    "{\"tools\":["
    "{\"name\":\"search\",\"inputSchema\":{\"required\":[\"q\"],\"$ref\":\"#/$defs/o\","
    "\"$defs\":{\"o\":{\"type\":\"object\"}}},\"outputSchema\":{\"type\":\"array\"}},"
    "{\"name\":\"pl\\u0061in\",\"inputSchema\":{\"type\":\"object\"}},"
    "{\"name\":\"twin\",\"inputSchema\":{\"type\":\"object\"}},"
    "{\"name\":\"twin\",\"inputSchema\":false},"
    "{\"name\":\"broken\",\"inputSchema\":{\"properties\":{\"a\":{\"pattern\":\"(\"}}}},"
    "{\"name\":\"two-faced\",\"inputSchema\":{\"type\":\"object\",\"type\":\"array\"}}"
    "],\"nextCursor\":\"2\"}";

/* The schema of a tool, which has to be there. */
static struct mcpx_tool_schema schema_of(struct mcpx_tools *of, const char *name,
                                         enum mcpx_tool_side side)
{
    struct mcpx_tool_schema found = {NULL, false};

    cr_assert_eq(mcpx_tools_schema(of, mcpx_slice_of(name), side, NULL, &found), MCPX_OK, "%s",
                 name);
    return found;
}

static struct mcpx_tools *tools;

/* The tools are those of the page. */
static void set_up(void)
{
    stage_set_up();
    tools = mcpx_tools_new(shelf, (struct mcpx_slice){0});
    cr_assert_eq(mcpx_tools_add(tools, mcpx_slice_of(page), NULL), MCPX_OK);
}

static void tear_down(void)
{
    mcpx_tools_free(tools);
    stage_tear_down();
}

TestSuite(tools, .init = set_up, .fini = tear_down);

Test(tools, have_both_schemas_of_each_name)
{
    struct mcpx_tool_schema schema;

    cr_assert_eq(mcpx_tools_count(tools), 5);
    cr_expect(mcpx_slice_equal(mcpx_tools_name(tools, 1), MCPX_SLICE("plain")));
    schema = schema_of(tools, "search", MCPX_TOOL_INPUT);
    cr_expect(schema.declared);
    cr_expect_eq(mcpx_schema_validate(schema.schema, MCPX_SLICE("{}"), &report),
                 MCPX_EINVALID);
    cr_expect(mcpx_slice_equal(report.errors[0].path, MCPX_SLICE("/q")));
    cr_expect_eq(mcpx_schema_validate(schema.schema, MCPX_SLICE("{\"q\":1}"), &report),
                 MCPX_OK);
    schema = schema_of(tools, "mcp.tool:search", MCPX_TOOL_OUTPUT);
    cr_expect(schema.declared);
    cr_expect_eq(mcpx_schema_validate(schema.schema, MCPX_SLICE("{}"), &report),
                 MCPX_EINVALID);
}

Test(tools, say_when_a_schema_is_not_declared)
{
    struct mcpx_tool_schema schema;

    schema = schema_of(tools, "plain", MCPX_TOOL_OUTPUT);
    cr_expect(!schema.declared);
    cr_expect_eq(mcpx_schema_validate(schema.schema, MCPX_SLICE("[1]"), &report), MCPX_OK);
}

Test(tools, share_equal_schemas)
{
    cr_expect_eq(schema_of(tools, "plain", MCPX_TOOL_INPUT).schema,
                 schema_of(tools, "twin", MCPX_TOOL_INPUT).schema);
    cr_expect_eq(mcpx_shelf_count(shelf), 1);
}

Test(tools, are_never_permissive)
{
    static const struct {
        const char *name;
        enum mcpx_err err;
        const char *path;
    } rows[] = {
        {"nobody", MCPX_ENOTFOUND, NULL},
        {"", MCPX_ENOTFOUND, NULL},
        {"mcp.tool:", MCPX_ENOTFOUND, NULL},
        {"mcp.tool:mcp.tool:search", MCPX_ENOTFOUND, NULL},
        {"Search", MCPX_ENOTFOUND, NULL},
        {"broken", MCPX_EINVALID, "/inputSchema/properties/a/pattern"},
        {"two-faced", MCPX_EINVALID, "/inputSchema/type"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_tool_schema schema = {NULL, true};

        cr_expect_eq(mcpx_tools_schema(tools, mcpx_slice_of(rows[i].name), MCPX_TOOL_INPUT,
                                       &report, &schema),
                     rows[i].err, "%s", rows[i].name);
        cr_expect_null(schema.schema, "%s", rows[i].name);
        if (rows[i].path)
            cr_expect(mcpx_slice_equal(report.errors[0].path, mcpx_slice_of(rows[i].path)),
                      "%s", rows[i].name);
    }
    schema_of(tools, "search", MCPX_TOOL_INPUT);
}

/* One entry that is no tool, and nobody can call any tool of that server. */
Test(tools, that_are_none_are_left_out_and_told)
{
    struct mcpx_tools *odd = mcpx_tools_new(shelf, (struct mcpx_slice){0});
    mx_scoped_text out = {0};

    cr_assert_eq(
        mcpx_tools_add(odd, MCPX_SLICE("{\"tools\":[{\"name\":\"a\"},{\"name\":5}]}"), NULL),
        MCPX_OK);
    mcpx_text_puts(&draft, "{\"tools\":[7,{\"name\":\"deep\\u0001\",\"inputSchema\":");
    repeat(&draft, "[", 600);
    repeat(&draft, "]", 600);
    mcpx_text_puts(&draft, "},{},{\"name\":\"b\"}]}");
    cr_assert_eq(mcpx_tools_add(odd, mcpx_text_view(&draft), NULL), MCPX_OK);
    cr_expect_eq(mcpx_tools_count(odd), 2);
    cr_expect(mcpx_slice_equal(mcpx_tools_name(odd, 1), MCPX_SLICE("b")));
    mcpx_tools_doubts_add(&out, odd);
    cr_expect_str_eq(out.text,
                     "entry 2 of the list of tools is left out: expected an object with a "
                     "string 'name'\n"
                     "entry 3 of the list of tools is left out: expected an object with a "
                     "string 'name'\n"
                     "entry 4 of the list of tools, \"deep\\u0001\", is left out: nesting is "
                     "deeper than the limit\n"
                     "entry 5 of the list of tools is left out: expected an object with a "
                     "string 'name'\n");
    for (int i = 0; i < 10; i++)
        cr_assert_eq(mcpx_tools_add(odd, MCPX_SLICE("{\"tools\":[0]}"), NULL), MCPX_OK);
    mcpx_text_reset(&out);
    mcpx_tools_doubts_add(&out, odd);
    cr_expect(strstr(out.text, "\n4 more entries of the list of tools are left out\n"), "%s",
              out.text);
    mcpx_tools_free(odd);
}

/* A tool whose schema cannot be used is known to be one before somebody calls it. */
Test(tools, whose_schemas_cannot_be_used_are_named_once)
{
    static const char more[] =
        "{\"tools\":[{\"name\":\"out\",\"inputSchema\":{},\"outputSchema\":{\"type\":7}},"
        "{\"name\":\"twice\",\"inputSchema\":{},\"inputSchema\":{}}]}";
    static const char said[] =
        "a schema of the tool \"broken\" cannot be used: /inputSchema/properties/a/pattern "
        "must "
        "be a regular expression that PCRE2 can match: missing closing parenthesis\n"
        "a schema of the tool \"two-faced\" cannot be used: /inputSchema/type must not be "
        "readable in two ways\n"
        "a schema of the tool \"out\" cannot be used: /outputSchema/type must be valid in at "
        "least one of 2 ways\n"
        "a schema of the tool \"twice\" cannot be used: /inputSchema must have one value at "
        "the "
        "pointer\n";
    struct mcpx_tool_schema schema;
    mx_scoped_text out = {0};

    cr_assert_eq(mcpx_tools_add(tools, mcpx_slice_of(more), NULL), MCPX_OK);
    for (int i = 0; i < 2; i++) {
        mcpx_text_reset(&out);
        mcpx_tools_doubts_add(&out, tools);
        cr_expect_str_eq(out.text, said);
    }
    cr_expect_eq(shelf->held.held, 0, "nobody has called one");
    schema_of(tools, "search", MCPX_TOOL_OUTPUT);
    cr_expect_eq(mcpx_tools_schema(tools, MCPX_SLICE("twice"), MCPX_TOOL_INPUT, NULL, &schema),
                 MCPX_EINVALID);
}

Test(tools, are_added_page_by_page_or_not_at_all)
{
    static const struct {
        const char *result;
        size_t offset;
    } rows[] = {
        {"[]", 0},
        {"{\"tools\":{}}", 9},
        {"{\"tools\":[", 10},
    };
    struct mcpx_fault fault;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_expect_eq(mcpx_tools_add(tools, mcpx_slice_of(rows[i].result), &fault),
                     MCPX_EINVALID);
        cr_expect_eq(fault.offset, rows[i].offset, "%s: %zu", rows[i].result, fault.offset);
        cr_expect_eq(mcpx_tools_count(tools), 5);
    }
    cr_expect_eq(mcpx_tools_add(tools, MCPX_SLICE("{\"tools\":[{\"name\":\"next\"}]}"), NULL),
                 MCPX_OK);
    cr_expect_eq(mcpx_tools_count(tools), 6);
}

/* A server has ten tools of a megabyte each, compiled, and ten servers like it: what others use is
 * pushed out, or all memory goes. */
static struct mcpx_tools *ten_of(const char *owner)
{
    struct mcpx_tools *ten = mcpx_tools_new(shelf, mcpx_slice_of(owner));

    mcpx_text_reset(&draft);
    mcpx_text_puts(&draft, "{\"tools\":[");
    for (int i = 0; i < 10; i++) {
        mx_format(&draft, "%s{\"name\":\"t%s\",\"inputSchema\":{\"anyOf\":[{}", i ? "," : "",
                  i);
        repeat(&draft, ",{\"maximum\":1234567}", 9000);
        mcpx_text_puts(&draft, "]}}");
    }
    mcpx_text_puts(&draft, "]}");
    cr_assert_eq(mcpx_tools_add(ten, mcpx_text_view(&draft), NULL), MCPX_OK);
    return ten;
}

/* How many of a participant's tools can be called. */
static int count_usable(struct mcpx_tools *of)
{
    char name[] = "t0";
    int usable = 0;

    for (; name[1] <= '9'; name[1]++) {
        struct mcpx_tool_schema schema;

        usable += mcpx_tools_schema(of, mcpx_slice_of(name), MCPX_TOOL_INPUT, &report,
                                    &schema) == MCPX_OK;
    }
    return usable;
}

Test(tools, of_one_participant_have_a_share_and_who_holds_most_gives_way)
{
    struct mx_holders *held = &shelf->held;
    struct mcpx_tools *first = ten_of("greedy"), *second = ten_of("greedy"),
                      *other = ten_of("other"), *third = ten_of("third");
    uint64_t of_small, one;

    schema_of(tools, "plain", MCPX_TOOL_INPUT);
    of_small = held->held;
    cr_expect_eq(count_usable(first), 10);
    one = (held->held - of_small) / 10;
    cr_expect_gt(one, 1024 * 1024);
    held->cap = one * 10 + one / 2;
    held->total = one * 25;

    cr_expect_eq(count_usable(second), 0, "the other instance has used the share");
    cr_expect(strstr(report.errors[0].message.text, "limits.schema_bytes"), "%s",
              report.errors[0].message.text);
    cr_expect_eq(count_usable(other), 10);
    cr_expect_eq(count_usable(third), 10);
    cr_expect_leq(held->held, held->total);
    cr_expect_geq(mx_holders_held(held, MCPX_SLICE("third")), 8 * one, "the newcomer");
    cr_expect_eq(mx_holders_held(held, MCPX_SLICE("-")), of_small, "the small one");
    cr_expect_eq(count_usable(first), 10, "what gave way is compiled anew");

    mcpx_tools_free(first);
    mcpx_tools_free(second);
    cr_expect_eq(mx_holders_held(held, MCPX_SLICE("greedy")), 0);
    mcpx_tools_free(other);
    mcpx_tools_free(third);
}

/* Builds a set and asks it; true when memory ran out. */
static bool starves(void)
{
    struct mcpx_shelf *own = mcpx_shelf_new();
    struct mcpx_tools *found = own ? mcpx_tools_new(own, (struct mcpx_slice){0}) : NULL;
    struct mcpx_schema_report said = {0};
    struct mcpx_tool_schema schema;
    struct mcpx_text doubts = {0};
    enum mcpx_err err = MCPX_ENOMEM;

    if (found)
        err = mcpx_tools_add(found, mcpx_slice_of(page), NULL);
    if (!err) {
        mcpx_tools_doubts_add(&doubts, found);
        err = doubts.failed ? MCPX_ENOMEM : MCPX_OK;
    }
    mcpx_text_fini(&doubts);
    if (!err)
        err = mcpx_tools_schema(found, MCPX_SLICE("search"), MCPX_TOOL_INPUT, &said, &schema);
    if (!err) {
        err = mcpx_schema_validate(schema.schema, MCPX_SLICE("{\"p\":\"\\u0041\"}"), &said);
        cr_expect(err == MCPX_EINVALID || err == MCPX_ENOMEM);
    }
    mcpx_schema_report_fini(&said);
    mcpx_tools_free(found);
    mcpx_shelf_free(own);
    return err == MCPX_ENOMEM;
}

Test(tools, survive_an_end_of_memory)
{
    bool starved = true;

    FAULT_ALLOC_EACH(nth, 20)
        starved = starves();
    cr_expect(!starved, "with all the memory there is");
}
