/*
 * What breaks for whom: a server is released that broke the programs that call it, because a tool
 * changed unseen, an alias answers something else, or a call left no trace; or one is held back for
 * nothing.
 */
#include "tools/mcpxctl/gate/compare.h"

#include <criterion/criterion.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

Test(gate, a_shape_has_names_and_types_and_nothing_else)
{
    static const struct {
        const char *value;
        const char *shape; /* NULL: there is none */
    } rows[] = {
        {"1", "\"number\""},
        {"1.5e400", "\"number\""},
        {"true", "\"boolean\""},
        {"null", "\"null\""},
        {"\"x\"", "\"string\""},
        {"{}", "{}"},
        {"[]", "[]"},
        {"{\"b\": 1, \"a\": \"x\"}", "{\"a\":\"string\",\"b\":\"number\"}"},
        {"{\"\\u0061\": 1}", "{\"a\":\"number\"}"},
        {"[1, \"x\", 2, \"y\"]", "[\"number\",\"string\"]"},
        {"[\"x\", 1]", "[\"number\",\"string\"]"},
        {"[{\"a\":1},{\"a\":2},{\"a\":null}]", "[{\"a\":\"null\"},{\"a\":\"number\"}]"},
        {"[[1],[2,3]]", "[[\"number\"]]"},
        {"{\"a\":1,\"a\":2}", NULL},
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct mcpx_text out = {0};
        bool added = shape_add(&out, mcpx_slice_of(rows[i].value));

        cr_expect_eq(added, rows[i].shape != NULL, "row %zu", i);
        if (rows[i].shape)
            cr_expect_str_eq(out.text, rows[i].shape);
        else
            cr_expect_eq(out.len, 0);
        mcpx_text_fini(&out);
    }
}

Test(gate, what_is_nested_too_deep_has_no_shape)
{
    struct mcpx_text deep = {0}, out = {0};

    for (int i = 0; i < 50000; i++)
        mcpx_text_puts(&deep, "[");
    for (int i = 0; i < 50000; i++)
        mcpx_text_puts(&deep, "]");
    cr_expect_not(shape_add(&out, mcpx_text_view(&deep)));
    mcpx_text_fini(&deep);
    mcpx_text_fini(&out);
}

Test(gate, a_difference_is_named_by_its_place)
{
    static const struct {
        const char *was;
        const char *is;
        enum difference found;
        const char *path;
    } rows[] = {
        {"{\"a\":1.0,\"b\":[]}", "{\"b\" : [], \"a\":1}", DIFFERENCE_NONE, ""},
        {"{\"a\":{\"b\":[1,2]}}", "{\"a\":{\"b\":[1,3]}}", DIFFERENCE_FOUND, "/a/b/1"},
        {"{\"a\":[1]}", "{\"a\":[1,2]}", DIFFERENCE_FOUND, "/a/1"},
        {"{\"a\":[1,2]}", "{\"a\":[1]}", DIFFERENCE_FOUND, "/a/1"},
        {"{\"a\":1}", "{\"a\":1,\"b\":2}", DIFFERENCE_FOUND, "/b"},
        {"{\"a\":1,\"b\":2}", "{\"a\":1}", DIFFERENCE_FOUND, "/b"},
        {"{\"a~/\":1}", "{\"a~/\":2}", DIFFERENCE_FOUND, "/a~0~1"},
        {"{}", "[]", DIFFERENCE_FOUND, ""},
        {"1", "2", DIFFERENCE_FOUND, ""},
        {"{\"a\":1,\"a\":1}", "{\"a\":1}", DIFFERENCE_UNKNOWN, ""},
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct mcpx_text path = {0};

        cr_expect_eq(
            gate_difference_find(&path, mcpx_slice_of(rows[i].was), mcpx_slice_of(rows[i].is)),
            rows[i].found, "row %zu", i);
        cr_expect_str_eq(path.text ? path.text : "", rows[i].path, "row %zu", i);
        mcpx_text_fini(&path);
    }
}

#define TOOL(name, input) "{\"name\":\"" name "\",\"inputSchema\":" input "}"
#define SHOWN(name, shown, own)                                                               \
    "{\"name\":\"" name "\",\"inputSchema\":{},\"outputSchema\":" shown                       \
    ",\"_meta\":{\"io.mcpx/outputSchema\":" own "}}"

Test(gate, R004_22_a_changed_surface_is_told_tool_by_tool)
{
    static const struct {
        const char *was;
        const char *is;
        const char *changes;
    } rows[] = {
        {"[" TOOL("a", "{\"type\": \"object\", \"x\": 1}") "," TOOL("b", "{}") "]",
         "[" TOOL("b", "{}") "," TOOL("a", "{\"x\":1.0,\"type\":\"object\"}") "]", ""},
        {"[" TOOL("a", "{}") "]", "[" TOOL("a", "{}") "," TOOL("b", "{}") "]",
         "b: the tool was added"},
        {"[" TOOL("a", "{}") "," TOOL("b", "{}") "]", "[" TOOL("a", "{}") "]",
         "b: the tool is gone"},
        {"[" TOOL("a", "{}") "]", "[" TOOL("a", "{\"type\":\"object\"}") "]",
         "a: its input schema changed"},
        {"[" SHOWN("a", "{}", "{\"x\":1}") "]", "[" SHOWN("a", "{\"y\":1}", "{\"x\":1}") "]",
         ""},
        {"[" SHOWN("a", "{}", "{\"x\":1}") "]", "[" SHOWN("a", "{}", "{\"x\":2}") "]",
         "a: its output schema changed"},
        {"[" TOOL("a", "{}") "," TOOL("b", "{}") "]", "[" SHOWN("a", "{}", "{}") "]",
         "a: its output schema changed; b: the tool is gone"},
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct mcpx_text was = {0}, is = {0}, changes = {0};
        struct mcpx_slice tool;

        cr_assert(fingerprints_add(&was, mcpx_slice_of(rows[i].was), &tool));
        cr_assert(fingerprints_add(&is, mcpx_slice_of(rows[i].is), &tool));
        cr_expect_eq(fingerprints_equal(&changes, mcpx_text_view(&was), mcpx_text_view(&is)),
                     rows[i].changes[0] == '\0', "row %zu", i);
        cr_expect_str_eq(changes.text ? changes.text : "", rows[i].changes, "row %zu", i);
        mcpx_text_fini(&was);
        mcpx_text_fini(&is);
        mcpx_text_fini(&changes);
    }
}

Test(gate, tools_without_fingerprints_are_named)
{
    static const char *const rows[] = {
        "[{\"name\":\"a\"}]",
        "[{\"inputSchema\":{}}]",
        "[" TOOL("a", "{\"x\":1,\"x\":2}") "]",
        "[" TOOL("a", "{}") "," TOOL("a", "{}") "]",
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct mcpx_text out = {0};
        struct mcpx_slice tool = {NULL, 0};

        cr_expect_not(fingerprints_add(&out, mcpx_slice_of(rows[i]), &tool));
        cr_expect_not_null(tool.text, "row %zu", i);
        cr_expect_eq(out.len, 0);
        mcpx_text_fini(&out);
    }
}

/* An event as far as its pairing goes. */
#define ALIAS(id, tool)                                                                       \
    "{\"eventName\":\"mcp.alias.call\",\"requestId\":\"" id                                   \
    "\",\"canonicalToolName\":\"" tool "\"}"
#define CALL(id, tool)                                                                        \
    "{\"eventName\":\"mcp.tool.call\",\"requestId\":\"" id "\",\"toolName\":\"" tool "\"}"
#define RESULT(id) "{\"eventName\":\"mcp.tool.result\",\"requestId\":\"" id "\"}"

Test(gate, R004_17_every_call_has_one_result_and_follows_its_alias)
{
    static const struct {
        const char *events[6];
        const char *fault;
    } rows[] = {
        {{NULL}, ""},
        {{CALL("1", "t"), RESULT("1")}, ""},
        {{CALL("1", "t"), CALL("2", "t"), RESULT("2"), RESULT("1")}, ""},
        {{CALL("1", "t"), RESULT("1"), CALL("1", "t"), RESULT("1")}, ""},
        {{CALL("1", "t"), CALL("1", "t"), RESULT("1"), RESULT("1")}, ""},
        {{ALIAS("1", "t"), CALL("1", "t"), RESULT("1")}, ""},
        {{CALL("1", "t")}, "line 1: this call has no result"},
        {{CALL("1", "t"), CALL("11", "t"), RESULT("11")}, "line 1: this call has no result"},
        {{RESULT("1")}, "line 1: there is no call that this result ends"},
        {{CALL("1", "t"), RESULT("1"), RESULT("1")},
         "line 3: there is no call that this result ends"},
        {{CALL("1", "t"), RESULT("2"), RESULT("1")},
         "line 2: there is no call that this result ends"},
        {{CALL("1", "t"), ALIAS("1", "t"), RESULT("1")}, "line 2: no call follows this alias"},
        {{ALIAS("1", "t"), CALL("1", "u"), RESULT("1")},
         "line 2: the alias before this call is one of another tool"},
        {{ALIAS("2", "t"), CALL("1", "t"), RESULT("1")}, "line 1: no call follows this alias"},
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct events events = {.count = 0};
        struct mcpx_text fault = {0};

        for (size_t line = 0; rows[i].events[line]; line++)
            events_add(&events, mcpx_slice_of(rows[i].events[line]), line + 1);
        cr_expect_eq(events_pair_up(&events, &fault), rows[i].fault[0] == '\0', "row %zu", i);
        cr_expect_str_eq(fault.text ? fault.text : "", rows[i].fault, "row %zu", i);
        cr_expect_eq(events_have(&events, MCPX_SLICE("11")), i == 7, "row %zu", i);
        mcpx_text_fini(&fault);
        events_fini(&events);
    }
}

Test(gate, a_long_log_is_paired_up)
{
    struct events events = {.count = 0};
    struct mcpx_text fault = {0};

    for (size_t i = 0; i < 500; i++) {
        events_add(&events, mcpx_slice_of(CALL("b", "t")), 2 * i + 1);
        events_add(&events, mcpx_slice_of(RESULT("b")), 2 * i + 2);
    }
    cr_expect(events_pair_up(&events, &fault), "%s", fault.text);
    mcpx_text_fini(&fault);
    events_fini(&events);
}

Test(gate, an_empty_bill_of_materials_is_none)
{
    static const struct {
        const char *bill;
        const char *fault; /* NULL: there is none */
    } rows[] = {
        {"{\"spdxVersion\":\"SPDX-2.3\",\"packages\":[{},{}]}", NULL},
        {"{\"bomFormat\":\"CycloneDX\",\"components\":[{},{}]}", NULL},
        {"{\"spdxVersion\":\"SPDX-2.3\",\"packages\":[]}", "its packages"},
        {"{\"spdxVersion\":\"SPDX-2.3\",\"packages\":{\"a\":1}}", "its packages"},
        {"{\"bomFormat\":\"CycloneDX\"}", "its components"},
        {"{\"packages\":[{}]}", "neither"},
        {"{\"spdxVersion\":2,\"packages\":[{}]}", "neither"},
        {"[]", "neither"},
        {"", "no JSON"},
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        size_t count = 0;
        const char *fault = bill_fault(mcpx_slice_of(rows[i].bill), &count);

        cr_expect_eq(fault != NULL, rows[i].fault != NULL, "row %zu: %s", i, fault);
        if (fault && rows[i].fault)
            cr_expect_not_null(strstr(fault, rows[i].fault), "row %zu: %s", i, fault);
        else
            cr_expect_eq(count, 2, "row %zu", i);
    }
}

Test(gate, the_code_of_an_answer_is_found_in_each_dress)
{
    static const struct {
        const char *response;
        const char *outcome;
    } rows[] = {
        {"{\"result\":{}}", "ok"},
        {"{\"result\":{\"isError\":false}}", "ok"},
        {"{\"error\":{\"code\":-32602,\"data\":{\"canonical_code\":\"INVALID_INPUT\"}}}",
         "INVALID_INPUT"},
        {"{\"error\":{\"code\":-32602}}", "error"},
        {"{\"error\":{\"code\":1,\"data\":{\"canonical_code\":\"OTHER\"}}}", "error"},
        {"{\"result\":{\"isError\":true}}", "error"},
        {"{\"result\":{\"isError\":true,\"structuredContent\":{\"error\":{\"error_details\":"
         "{\"canonical_code\":\"UNAUTHORIZED\"}}}}}",
         "UNAUTHORIZED"},
        {"{\"result\":{\"isError\":true,\"structuredContent\":{\"errors\":[{\"details\":"
         "{\"canonical_code\":\"NOT_FOUND\"}},{}]}}}",
         "NOT_FOUND"},
    };

    for (size_t i = 0; i < LENGTH(rows); i++)
        cr_expect_str_eq(outcome_of(mcpx_slice_of(rows[i].response)), rows[i].outcome,
                         "row %zu", i);
}
