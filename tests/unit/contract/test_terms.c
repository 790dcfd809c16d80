/*
 * What breaks for whom: terms with a slip in them start an edge that does not do what they say, or
 * lists show what a client cannot use.
 */
#include "lib/base/scoped.h"
#include "tests/support/count.h"
#include "tests/support/rows.h"
#include "tests/unit/contract/schema_stage.h"

#include <mcpx/terms.h>

#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>

TestSuite(terms, .init = stage_set_up, .fini = stage_tear_down);

static struct mcpx_terms *read_terms(const char *json)
{
    struct mcpx_terms *terms = NULL;

    cr_assert_eq(mcpx_terms_read(contracts, mcpx_slice_of(json), &report, &terms), MCPX_OK,
                 "%s", json);
    return terms;
}

static struct mcpx_tools *tools_of(const char *result)
{
    struct mcpx_tools *tools = mcpx_tools_new(shelf, (struct mcpx_slice){0});

    cr_assert_eq(mcpx_tools_add(tools, mcpx_slice_of(result), NULL), MCPX_OK);
    return tools;
}

static void refuse(char *const row[])
{
    struct mcpx_terms *terms = NULL;

    cr_expect_eq(mcpx_terms_read(contracts, mcpx_slice_of(row[0]), &report, &terms),
                 MCPX_EINVALID);
    cr_expect_null(terms);
    cr_expect_str_eq(stage_errors(), row[1], "%s", row[0]);
}

Test(terms, R001_2_name_each_fault_with_its_path)
{
    rows_each("contract/rows/terms", "faults", refuse);
}

Test(terms, say_where_calls_are_written_down)
{
    static const struct {
        const char *text, *dir;
        size_t keep, file_bytes;
    } rows[] = {
        {"{}", NULL, 7, 7},
        {" {\"log\":{}}\n", "runs/mcp_server", 5, 16777216},
        {"{\"log\":{\"dir\":\"\\u0061b\",\"keep\":2.0}}", "ab", 2, 16777216},
        {"{\"log\":{\"keep\":1e3,\"file_bytes\":0}}", "runs/mcp_server", 1000, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_terms *terms = read_terms(rows[i].text);
        const char *dir = NULL;
        size_t keep = 7, file_bytes = 7;

        cr_expect_eq(mcpx_terms_log(terms, &dir, &keep, &file_bytes), rows[i].dir != NULL);
        if (rows[i].dir)
            cr_expect_str_eq(dir, rows[i].dir);
        cr_expect_eq(keep, rows[i].keep);
        cr_expect_eq(file_bytes, rows[i].file_bytes);
        mcpx_terms_free(terms);
    }
}

#define HANDSHAKE                                                                             \
    "\"capabilities\":{\"mcp_version\":\"2.0\",\"schema_version\":\"2026-03-01\"}"

static const char page[] = "{\"tools\": [ {\"name\":\"a\"} ,{\"name\": \"b\"} ], \"x\":1}";

/* What a list becomes; lent until the next one. */
static const char *shown(const char *text, const char *result, const struct mcpx_tools *tools)
{
    static struct mcpx_text out;
    struct mcpx_terms *terms = read_terms(text);

    mcpx_text_reset(&out);
    mcpx_terms_list_add(&out, terms, mcpx_slice_of(result), tools);
    cr_assert_not(out.failed);
    mcpx_terms_free(terms);
    return out.text;
}

Test(terms, R004_3_show_the_handshake_on_the_last_page)
{
    struct mcpx_tools *own = tools_of("{\"tools\":[{\"name\":\"mcp.capabilities.get\"}]}");

    cr_expect_str_eq(shown("{}", page, NULL), page);
    cr_expect_str_eq(shown("{" HANDSHAKE "}", "{\"tools\":5}", NULL), "{\"tools\":5}");
    cr_expect_not_null(strstr(shown("{" HANDSHAKE "}", page, NULL),
                              "{\"name\": \"b\"},{\"name\":\"mcp.capabilities.get\""));
    cr_expect_not_null(strstr(shown("{" HANDSHAKE "}", "{\"tools\":[]}", NULL),
                              "{\"tools\":[{\"name\":\"mcp.capabilities.get\""));
    cr_expect_null(strstr(
        shown("{" HANDSHAKE "}", "{\"tools\":[],\"nextCursor\":\"2\"}", NULL), "mcp.cap"));
    cr_expect_null(strstr(shown("{" HANDSHAKE "}", page, own), "mcp.cap"));
    mcpx_tools_free(own);
}

Test(terms, R001_1_show_the_outline_of_an_envelope)
{
    static const char only_a[] = "{\"tools\":{\"a\":{\"result\":\"response.v1\"}}}";
    const char *list = shown(only_a, page, NULL);

    cr_expect_not_null(strstr(list, "\"outputSchema\""));
    cr_expect_not_null(strstr(list, "{\"name\": \"b\"}], \"x\":1}"), "%s", list);
}

Test(terms, know_whether_they_change_lists)
{
    static const struct {
        const char *text;
        bool is_changed;
    } rows[] = {
        {"{}", false},
        {"{\"result\":\"as-is\",\"tools\":{\"a\":{\"tier\":\"pro\"}}}", false},
        {"{\"result\":\"response.v1\"}", true},
        {"{\"tools\":{\"a\":{},\"b\":{\"result\":\"mcp.envelope.v0.1\"}}}", true},
        {"{" HANDSHAKE "}", true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_terms *terms = read_terms(rows[i].text);

        cr_expect_eq(mcpx_terms_change_lists(terms), rows[i].is_changed, "%s", rows[i].text);
        cr_expect_eq(mcpx_terms_has_handshake(terms), i == COUNT(rows) - 1);
        mcpx_terms_free(terms);
    }
}

Test(terms, R004_12_say_what_does_not_fit_the_server)
{
    struct mcpx_terms *terms = read_terms(
        "{" HANDSHAKE ",\"tools\":{\"a\":{},\"tpyo\":{}},\"aliases\":{\"namespace\":\"n\","
        "\"names\":{\"a\":\"b\",\"old\":\"gone\",\"fine\":\"a\"}}}");
    struct mcpx_tools *tools =
        tools_of("{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"n.b\"},"
                 "{\"name\":\"mcp.capabilities.get\"}]}");
    mx_scoped_text out = {0};

    mcpx_terms_doubts_add(&out, terms, tools);
    cr_expect_str_eq(out.text,
                     "the alias \"a\" is the name of a tool: that one is called\n"
                     "the alias \"old\" is for \"gone\", and the server has no such tool\n"
                     "\"n.b\" is a tool, and so no alias of the tool \"b\"\n"
                     "the server has a tool \"mcp.capabilities.get\": it is called instead of "
                     "the handshake\n"
                     "there are terms for the tool \"tpyo\", and the server has none\n");
    mcpx_tools_free(tools);
    mcpx_terms_free(terms);
}

#define CONTEXT(id, flags, more)                                                              \
    "{\"requestId\":\"" id "\",\"traceId\":\"t\",\"mode\":\"quick\",\"workspaceId\":\"w\","   \
    "\"actor\":\"human\",\"timeRange\":{\"start\":\"1\",\"end\":\"2\",\"tz\":\"Z\"},"         \
    "\"contractVersions\":{\"mcp\":\"2\",\"tool\":\"1\",\"fixture\":\"1\"},"                  \
    "\"featureFlags\":" flags more "}"

Test(terms, R004_7_a_context_is_handed_on_whole)
{
    static const struct {
        const char *before, *after;
        bool keeps;
    } rows[] = {
        {CONTEXT("r", "[]", ""), CONTEXT("r", "[]", ""), true},
        {CONTEXT("r", "[]", ""), CONTEXT("r", "[\"x\"]", ",\"tenant\":1"), true},
        {"", CONTEXT("r", "[]", ""), true},
        {CONTEXT("r", "[\"x\"]", ""), CONTEXT("r", "[]", ""), false},
        {CONTEXT("r", "[]", ""), CONTEXT("", "[]", ""), false},
        {CONTEXT("r", "[]", ""), CONTEXT("r", "null", ""), false},
        {CONTEXT("r", "[]", ""), CONTEXT("r", "[]", ",\"traceId\":\"u\""), false},
        {CONTEXT("r", "[]", ""), "{}", false},
        {CONTEXT("r", "[]", ""), "", false},
        {"", "[]", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(
            mcpx_context_keeps(mcpx_slice_of(rows[i].before), mcpx_slice_of(rows[i].after)),
            rows[i].keeps, "%s", rows[i].after);
}

static const char full[] =
    "{" HANDSHAKE ",\"result\":\"response.v1\",\"context\":{\"policy\":\"default\"},"
    "\"aliases\":{\"namespace\":\"n\",\"names\":{\"o\":\"a\"}},"
    "\"tools\":{\"a\":{\"version\":\"1.0.0\"}},\"log\":{}}";

Test(terms, are_read_or_not_when_memory_runs_out)
{
    enum mcpx_err err = MCPX_ENOMEM;

    mcpx_terms_free(read_terms(full));
    FAULT_ALLOC_EACH(nth, 0) {
        struct mcpx_terms *terms = NULL;

        err = mcpx_terms_read(contracts, mcpx_slice_of(full), &report, &terms);
        cr_expect(err == MCPX_ENOMEM || (err == MCPX_OK && terms));
        mcpx_terms_free(terms);
    }
    cr_expect_eq(err, MCPX_OK);
}

/* One call of an alias and its end, or of the handshake. */
static enum mcpx_err one_call(struct mcpx_calls *calls, struct mcpx_tools *tools,
                              const char *payload)
{
    struct mcpx_call_request request = {.payload = mcpx_slice_of(payload), .tools = tools};
    struct mcpx_call_end end = {.text = MCPX_SLICE("{\"content\":[]}")};
    struct mcpx_admission admission;
    struct mcpx_call_answer answer;
    enum mcpx_err err = mcpx_calls_admit(calls, &request, &admission);

    cr_expect(err == MCPX_OK || (err == MCPX_ENOMEM && !admission.call));
    if (err || !admission.call)
        return err;
    err = mcpx_calls_answer(calls, admission.call, &end, &answer);
    cr_expect(err == MCPX_OK || (err == MCPX_ENOMEM && answer.is_error));
    return err;
}

static struct mcpx_slice handshake_of(struct mcpx_calls *calls, struct mcpx_tools *tools)
{
    struct mcpx_call_request request = {
        .payload = MCPX_SLICE(
            "{\"method\":\"tools/call\",\"params\":{\"name\":\"mcp.capabilities.get\"}}"),
        .tools = tools};
    struct mcpx_admission admission;

    cr_assert_eq(mcpx_calls_admit(calls, &request, &admission), MCPX_OK);
    cr_assert_not(admission.answer.is_error);
    return admission.answer.text;
}

/* Somebody asks for it again and again, and nobody else's call is served meanwhile: of 100,000
 * tools it takes half a second to compose. */
Test(terms, compose_the_handshake_once_for_the_same_tools)
{
    static const char one[] = "{\"tools\":[{\"name\":\"a\"}]}";
    struct mcpx_terms *terms = read_terms("{" HANDSHAKE "}");
    struct mcpx_calls_options options = {terms, contracts,       MCPX_SIDE_SERVER,
                                         "ws",  MCPX_SLICE("p"), true};
    struct mcpx_calls *calls = mcpx_calls_new(&options);
    struct mcpx_tools *tools = tools_of(one), *same = tools_of(one);
    struct mcpx_slice first = handshake_of(calls, tools), again;

    cr_expect_eq(handshake_of(calls, tools).text, first.text, "it was composed again");
    cr_expect_eq(handshake_of(calls, same).text, first.text, "it was composed again");
    cr_expect_null(strstr(first.text, "new-one"));
    cr_assert_eq(
        mcpx_tools_add(tools, MCPX_SLICE("{\"tools\":[{\"name\":\"new-one\"}]}"), NULL),
        MCPX_OK);
    again = handshake_of(calls, tools);
    cr_expect_not_null(strstr(again.text, "new-one"));
    cr_expect_null(strstr(handshake_of(calls, same).text, "new-one"));
    mcpx_calls_free(calls);
    mcpx_tools_free(tools);
    mcpx_tools_free(same);
    mcpx_terms_free(terms);
}

static const char invocation[] =
    "{\"id\":1,\"jsonrpc\":\"2.0\",\"method\":\"mcp.tool.invoke\",\"params\":"
    "{\"tool\":\"mcp.tool:a\",\"input\":{\"x\":1}}}";

Test(terms, calls_end_whenever_memory_runs_out)
{
    static const char *const payloads[] = {
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"n.a\",\"arguments\":{\"x\":1}}}",
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"arguments\":{\"x\":\"1\"}}}",
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"mcp.capabilities.get\"}}",
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"gone\"}}",
        "{\"method\":\"tools/call\",\"params\":7}",
        invocation,
    };
    struct mcpx_terms *terms = read_terms(full);
    struct mcpx_calls_options options = {terms, contracts,       MCPX_SIDE_SERVER,
                                         "ws",  MCPX_SLICE("p"), true};

    for (size_t i = 0; i < COUNT(payloads); i++) {
        size_t nth = 0;
        enum mcpx_err err = MCPX_ENOMEM;
        bool has_failed;

        options.side = payloads[i] == invocation ? MCPX_SIDE_CLIENT : MCPX_SIDE_SERVER;
        do {
            struct mcpx_tools *tools =
                tools_of("{\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"properties\":"
                         "{\"x\":{\"type\":\"integer\"}}}}]}");
            struct mcpx_calls *calls;

            fault_alloc_arm(++nth);
            calls = mcpx_calls_new(&options);
            if (calls)
                err = one_call(calls, tools, payloads[i]);
            has_failed = fault_alloc_disarm();
            cr_expect(!calls || mcpx_calls_count(calls) == 0);
            mcpx_calls_free(calls);
            mcpx_tools_free(tools);
        } while (has_failed);
        cr_expect_eq(err, MCPX_OK);
    }
    mcpx_terms_free(terms);
}
