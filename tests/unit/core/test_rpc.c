/*
 * What breaks for whom: grants are judged by the kind of an envelope. If a payload can say
 * something else than its kind and is acted on, whoever holds a grant for one tool holds it for
 * all of them. Protocol: section 2.
 */
#include <mcpx/rpc.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Compares a part with what is expected; "" and NULL both stand for absent. */
static void expect_part(struct mcpx_slice part, const char *expected, const char *what,
                        const char *row)
{
    if (!expected || !*expected)
        cr_expect_null(part.text, "%s of %s is %.*s", what, row, (int)part.len, part.text);
    else
        cr_expect(part.text && mcpx_slice_equal(part, mcpx_slice_of(expected)),
                  "%s of %s is %.*s", what, row, (int)part.len, part.text ? part.text : "");
}

Test(rpc, a_message_is_read_for_what_it_is)
{
    static const struct {
        const char *text;
        enum mcpx_rpc_form form;
        const char *id, *method, *context;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", MCPX_RPC_REQUEST, "1", "ping",
         ""},
        {"{\"id\":\"a\",\"method\":\"ping\"}", MCPX_RPC_REQUEST, "\"a\"", "ping", ""},
        {"{\"id\":-12345678901234567890123,\"method\":\"ping\"}", MCPX_RPC_REQUEST,
         "-12345678901234567890123", "ping", ""},
        {"{\"id\":\"\",\"method\":\"ping\"}", MCPX_RPC_REQUEST, "\"\"", "ping", ""},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
         MCPX_RPC_NOTIFICATION, "", "notifications/initialized", ""},
        {"{\"method\":\"tools/list\"}", MCPX_RPC_BODY, "", "tools/list", ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", MCPX_RPC_RESULT, "1", "", ""},
        {"{\"id\":1,\"result\":null}", MCPX_RPC_RESULT, "1", "", ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", MCPX_RPC_ERROR, "1", "", ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", MCPX_RPC_ERROR, "null", "", ""},
        {"{\"jsonrpc\":\"2.0\",\"error\":{}}", MCPX_RPC_ERROR, "", "", ""},
        {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"read_file\"}}",
         MCPX_RPC_REQUEST, "1", "tools/call", "read_file"},
        {"{ \"params\" : { \"name\" : \"x\" } , \"method\" : \"tools/call\" , \"id\" : 1 }",
         MCPX_RPC_REQUEST, "1", "tools/call", "x"},
        {"{\"\\u0069d\":1,\"m\\u0065thod\":\"tools\\/call\",\"p\\u0061rams\":{\"\\u006eame\":"
         "\"re\\u0061d\"}}",
         MCPX_RPC_REQUEST, "1", "tools/call", "read"},
        {"{\"id\":1,\"method\":\"ping\",\"params\":[1]}", MCPX_RPC_REQUEST, "1", "ping", ""},
        {"{\"id\":1,\"method\":\"ping\",\"x\":1,\"x\":2}", MCPX_RPC_REQUEST, "1", "ping", ""},
        {"{\"id\":1,\"method\":\"ping\",\"params\":{\"Name\":1,\"requestid\":2}}",
         MCPX_RPC_REQUEST, "1", "ping", ""},
        {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"arguments\":{"
         "\"Name\":\"b\",\"name\":1}}}",
         MCPX_RPC_REQUEST, "1", "tools/call", "a"},
        {"{\"id\":1,\"result\":{\"Result\":{},\"ID\":2}}", MCPX_RPC_RESULT, "1", "", ""},
        {"{\"id\":1,\"method\":\"ping\",\"params\":{\"name\":1,\"name\":2}}", MCPX_RPC_REQUEST,
         "1", "ping", ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_fault fault = {"", "", 0};
        struct mcpx_rpc rpc;
        const char *row = rows[i].text;

        cr_expect_eq(mcpx_rpc_read(mcpx_slice_of(row), &rpc, &fault), MCPX_OK, "%s: %s", row,
                     fault.reason);
        if (*fault.reason)
            continue;
        cr_expect_eq(rpc.form, rows[i].form, "%s", row);
        cr_expect_eq(rpc.text.text, row);
        expect_part(rpc.id, rows[i].id, "id", row);
        expect_part(rpc.method, rows[i].method, "method", row);
        expect_part(rpc.context, rows[i].context, "context", row);
    }
}

Test(rpc, params_results_and_errors_are_lent_as_they_stand)
{
    struct mcpx_rpc rpc;

    cr_assert_eq(
        mcpx_rpc_read(MCPX_SLICE("{\"id\":1,\"method\":\"a\",\"params\":{\"n\": 1e400}}"),
                      &rpc, NULL),
        MCPX_OK);
    expect_part(rpc.params, "{\"n\": 1e400}", "params", "request");
    expect_part(rpc.result, NULL, "result", "request");
    expect_part(rpc.error, NULL, "error", "request");
    cr_assert_eq(mcpx_rpc_read(MCPX_SLICE("{\"id\":1,\"result\":[ ]}"), &rpc, NULL), MCPX_OK);
    expect_part(rpc.result, "[ ]", "result", "result");
    expect_part(rpc.params, NULL, "params", "result");
    cr_assert_eq(
        mcpx_rpc_read(MCPX_SLICE("{\"id\":1,\"error\":{\"code\":-32000}}"), &rpc, NULL),
        MCPX_OK);
    expect_part(rpc.error, "{\"code\":-32000}", "error", "error");
}

Test(rpc, what_could_be_read_in_two_ways_is_refused)
{
    static const struct {
        const char *text;
        const char *field;
    } rows[] = {
        {"[]", ""},
        {"[{\"id\":1,\"method\":\"a\"}]", ""}, /* a batch */
        {"1", ""},
        {"\"x\"", ""},
        {"null", ""},
        {"{}", "method"},
        {"{\"id\":1}", "method"},
        {"{\"jsonrpc\":\"2.0\"}", "method"},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"a\"}", "jsonrpc"},
        {"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"a\"}", "jsonrpc"},
        {"{\"jsonrpc\":null,\"id\":1,\"method\":\"a\"}", "jsonrpc"},
        /* twice, escaped or not, even when both say the same */
        {"{\"id\":1,\"method\":\"a\",\"method\":\"b\"}", "method"},
        {"{\"id\":1,\"method\":\"a\",\"method\":\"a\"}", "method"},
        {"{\"id\":1,\"method\":\"a\",\"\\u006dethod\":\"b\"}", "method"},
        {"{\"id\":1,\"id\":2,\"method\":\"a\"}", "id"},
        {"{\"id\":1,\"\\u0069d\":2,\"method\":\"a\"}", "id"},
        {"{\"id\":1,\"method\":\"a\",\"params\":{},\"params\":{}}", "params"},
        {"{\"id\":1,\"result\":1,\"result\":2}", "result"},
        {"{\"id\":1,\"error\":{},\"error\":{}}", "error"},
        {"{\"jsonrpc\":\"2.0\",\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}", "jsonrpc"},
        {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"name\":\"b\"}}",
         "name"},
        {"{\"id\":1,\"method\":\"tools/"
         "call\",\"params\":{\"name\":\"a\",\"\\u006eame\":\"b\"}}",
         "name"},
        {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":1,\"name\":\"b\"}}",
         "name"},
        {"{\"id\":1,\"method\":\"tools\\/call\",\"params\":{\"name\":\"a\",\"name\":\"b\"}}",
         "name"},
        {"{\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"a\",\"uri\":\"b\"}}",
         "uri"},
        {"{\"id\":1,\"method\":\"tasks/get\",\"params\":{\"taskId\":\"a\",\"taskId\":\"b\"}}",
         "taskId"},
        {"{\"id\":1,\"method\":\"completion/complete\",\"params\":{\"ref\":{},\"ref\":{}}}",
         "ref"},
        {"{\"id\":1,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"type\":\"ref/"
         "prompt\","
         "\"type\":\"ref/resource\",\"name\":\"a\",\"uri\":\"b\"}}}",
         "type"},
        {"{\"id\":1,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"type\":\"ref/"
         "prompt\","
         "\"name\":\"a\",\"name\":\"b\"}}}",
         "name"},
        /* a member that some readers take for another: Go's encoding/json and its kind */
        {"{\"id\":1,\"method\":\"a\",\"Method\":\"b\"}", "method"},
        {"{\"id\":1,\"method\":\"a\",\"ID\":2}", "id"},
        {"{\"id\":1,\"method\":\"a\",\"\\u0130d\":2}", "id"},
        {"{\"JSONRPC\":\"2.0\",\"id\":1,\"method\":\"a\"}", "jsonrpc"},
        {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"},\"param\xc5\xbf\":{"
         "\"name\":\"b\"}}",
         "params"},
        {"{\"id\":1,\"result\":{},\"Result\":{}}", "result"},
        {"{\"id\":1,\"result\":{},\"Error\":{}}", "error"},
        {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"Name\":\"b\"}}",
         "name"},
        {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"NAME\":\"b\"}}", "name"},
        {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"Task\":{}}}",
         "task"},
        {"{\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"a\",\"URI\":\"b\"}}",
         "uri"},
        {"{\"id\":1,\"method\":\"tasks/get\",\"params\":{\"taskId\":\"a\",\"tas\\u212aId\":"
         "\"b\"}}",
         "taskId"},
        {"{\"id\":1,\"method\":\"completion/complete\",\"params\":{\"Ref\":{}}}", "ref"},
        {"{\"id\":1,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"Type\":1}}}",
         "type"},
        {"{\"id\":1,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"type\":\"ref/"
         "resource\",\"uri\":\"a\",\"Uri\":\"b\"}}}",
         "uri"},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
         "\"requestId\":1,\"requestID\":2}}",
         "requestId"},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
         "\"ProgressToken\":2}}",
         "progressToken"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\","
         "\"arguments\":{\"path\":\"shown\"},\"Arguments\":{\"path\":\"used\"}}}",
         "arguments"},
        {"{\"id\":1,\"method\":\"elicitation/create\",\"params\":{\"elicitationID\":1}}",
         "elicitationId"},
        /* _meta, of every method and of results */
        {"{\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":{},\"_meta\":{}}}", "_meta"},
        {"{\"id\":1,\"method\":\"a\",\"params\":{\"_Meta\":{}}}", "_meta"},
        {"{\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":{\"progressToken\":1,"
         "\"progressToken\":2}}}",
         "progressToken"},
        {"{\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":{\"progre\\u017f\xc5\xbftoken\":2}}"
         "}",
         "progressToken"},
        {"{\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
         "related-task\":{\"taskId\":\"a\",\"taskID\":\"b\"}}}}",
         "taskId"},
        {"{\"id\":1,\"result\":{\"_META\":{}}}", "_meta"},
        /* ids */
        {"{\"id\":null,\"method\":\"a\"}", "id"},
        {"{\"id\":1.5,\"method\":\"a\"}", "id"},
        {"{\"id\":1.0,\"method\":\"a\"}", "id"},
        {"{\"id\":1e2,\"method\":\"a\"}", "id"},
        {"{\"id\":1E2,\"method\":\"a\"}", "id"},
        {"{\"id\":true,\"method\":\"a\"}", "id"},
        {"{\"id\":{},\"method\":\"a\"}", "id"},
        {"{\"id\":[1],\"method\":\"a\"}", "id"},
        {"{\"id\":null,\"result\":{}}", "id"},
        {"{\"id\":1.5,\"error\":{}}", "id"},
        {"{\"result\":{}}", "id"},
        {"{\"jsonrpc\":\"2.0\",\"result\":{}}", "id"},
        /* methods */
        {"{\"id\":1,\"method\":1}", "method"},
        {"{\"id\":1,\"method\":null}", "method"},
        {"{\"id\":1,\"method\":\"\"}", "method"},
        {"{\"id\":1,\"method\":\"a:b\"}", "method"},
        {"{\"id\":1,\"method\":\"tools/call:x\"}", "method"},
        {"{\"id\":1,\"method\":\"tools/call\\u003ax\"}", "method"},
        {"{\"id\":1,\"method\":\"tools//call\"}", "method"},
        {"{\"id\":1,\"method\":\"/ping\"}", "method"},
        {"{\"id\":1,\"method\":\"ping/\"}", "method"},
        {"{\"id\":1,\"method\":\"a/../b\"}", "method"},
        {"{\"id\":1,\"method\":\"tools call\"}", "method"},
        {"{\"id\":1,\"method\":\"*\"}", "method"},
        {"{\"id\":1,\"method\":\"ping\\u0000\"}", "method"},
        {"{\"id\":1,\"method\":\"p\\u00efng\"}", "method"},
        {"{\"id\":1,\"method\":\"\\ud83d\"}", "method"},
        /* params */
        {"{\"id\":1,\"method\":\"a\",\"params\":null}", "params"},
        {"{\"id\":1,\"method\":\"a\",\"params\":\"x\"}", "params"},
        {"{\"id\":1,\"method\":\"a\",\"params\":1}", "params"},
        /* request and answer in one */
        {"{\"id\":1,\"method\":\"a\",\"result\":{}}", "method"},
        {"{\"id\":1,\"method\":\"a\",\"error\":{}}", "method"},
        {"{\"id\":1,\"result\":{},\"error\":{}}", "error"},
        {"{\"id\":1,\"result\":null,\"error\":{}}", "error"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_fault fault = {"", "none", 0};
        struct mcpx_rpc rpc;
        struct mcpx_slice text = mcpx_slice_of(rows[i].text);

        cr_expect_eq(mcpx_rpc_read(text, &rpc, &fault), MCPX_EINVALID, "%s", rows[i].text);
        cr_expect_str_eq(fault.field, rows[i].field, "%s: %s", rows[i].text, fault.field);
        cr_expect(*fault.reason, "%s", rows[i].text);
        cr_expect_eq(mcpx_rpc_read(text, &rpc, NULL), MCPX_EINVALID, "%s", rows[i].text);
    }
}

/* Methods, their params, and the CONTEXT that follows. */
Test(rpc, the_context_is_taken_from_where_the_table_says)
{
    static const struct {
        const char *method, *params, *context;
    } rows[] = {
        {"tools/call", "{\"name\":\"a\",\"uri\":\"b\"}", "a"},
        {"prompts/get", "{\"name\":\"a\"}", "a"},
        {"resources/read", "{\"uri\":\"file:///a:b\",\"name\":\"x\"}", "file:///a:b"},
        {"resources/subscribe", "{\"uri\":\"u\"}", "u"},
        {"resources/unsubscribe", "{\"uri\":\"u\"}", "u"},
        {"completion/complete", "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"}}", "p"},
        {"completion/complete", "{\"ref\":{\"uri\":\"r\",\"type\":\"ref\\/resource\"}}", "r"},
        {"completion/complete", "{\"ref\":{\"type\":\"ref/prompt\",\"uri\":\"r\"}}", ""},
        {"completion/complete", "{\"ref\":{\"type\":\"ref/other\",\"name\":\"p\"}}", ""},
        {"completion/complete", "{\"ref\":{\"name\":\"p\"}}", ""},
        {"completion/complete", "{\"ref\":\"p\"}", ""},
        {"completion/complete", "{}", ""},
        {"tasks/get", "{\"taskId\":\"t\"}", "t"},
        {"tasks/cancel", "{\"taskId\":\"t\"}", "t"},
        {"tasks/result", "{\"taskId\":\"t\"}", "t"},
        {"tasks/update", "{\"taskId\":\"t\"}", "t"},
        {"tasks/list", "{\"taskId\":\"t\"}", ""},
        {"notifications/resources/updated", "{\"uri\":\"u\"}", "u"},
        {"notifications/tasks/status", "{\"taskId\":\"t\"}", "t"},
        {"notifications/progress", "{\"name\":\"x\",\"uri\":\"x\",\"taskId\":\"x\"}", ""},
        {"tools/list", "{\"name\":\"x\",\"uri\":\"x\",\"taskId\":\"x\"}", ""},
        {"tools/calls", "{\"name\":\"x\"}", ""},
        {"Tools/call", "{\"name\":\"x\"}", ""},
        /* no context that could stand in a kind */
        {"tools/call", "{}", ""},
        {"tools/call", "[\"a\"]", ""},
        {"tools/call", "{\"name\":1}", ""},
        {"tools/call", "{\"name\":null}", ""},
        {"tools/call", "{\"name\":{\"name\":\"a\"}}", ""},
        {"tools/call", "{\"name\":\"\"}", ""},
        {"tools/call", "{\"name\":\"a\\nb\"}", ""},
        {"tools/call", "{\"name\":\"a\\u0000b\"}", ""},
        {"tools/call", "{\"name\":\"a\\u007f\"}", ""},
        {"tools/call", "{\"name\":\"a\\ud83d\"}", ""},
        {"tools/call", "{\"name\":\"a\\u0085\"}", ""},
        {"tools/call", "{\"name\":\"a\xe2\x80\xaf\xe2\x80\xae\"}", ""},
        /* and odd ones that can */
        {"tools/call", "{\"name\":\"a:b c\\/d*\"}", "a:b c/d*"},
        {"tools/call", "{\"name\":\"\\ud83d\\ude00\xc3\xa9\"}", "\xf0\x9f\x98\x80\xc3\xa9"},
        {"tools/call", "{\"x\":{\"name\":\"b\"},\"name\":\"a\"}", "a"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[512];
        struct mcpx_rpc rpc;

        snprintf(text, sizeof text, "{\"id\":1,\"method\":\"%s\",\"params\":%s}",
                 rows[i].method, rows[i].params);
        cr_expect_eq(mcpx_rpc_read(mcpx_slice_of(text), &rpc, NULL), MCPX_OK, "%s", text);
        expect_part(rpc.context, rows[i].context, "context", text);
    }
}

Test(rpc, the_member_a_context_comes_from_can_be_asked_for)
{
    static const struct {
        const char *method, *member;
    } rows[] = {
        {"tools/call", "name"},     {"prompts/get", "name"},
        {"resources/read", "uri"},  {"completion/complete", "ref"},
        {"tasks/update", "taskId"}, {"notifications/resources/updated", "uri"},
        {"tools/list", NULL},       {"notifications/progress", NULL},
        {"tools/call:x", NULL},     {"", NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *member = mcpx_rpc_context_member(mcpx_slice_of(rows[i].method));

        cr_expect_str_eq(member ? member : "", rows[i].member ? rows[i].member : "", "%s",
                         rows[i].method);
    }
    cr_expect_null(mcpx_rpc_context_member((struct mcpx_slice){NULL, 0}));
}

/* {"id":1,"method":M*method,"params":{"name":N*context}}, every byte escaped when asked for */
static char *long_message(size_t method, size_t context, bool escaped)
{
    struct mcpx_text out = {0};

    mcpx_text_puts(&out, "{\"id\":1,\"method\":\"tools/call");
    for (size_t i = strlen("tools/call"); i < method; i++)
        mcpx_text_puts(&out, "M");
    mcpx_text_puts(&out, "\",\"params\":{\"name\":\"");
    for (size_t i = 0; i < context; i++)
        mcpx_text_puts(&out, escaped ? "\\u004e" : "N");
    mcpx_text_puts(&out, "\"}}");
    return out.text;
}

Test(rpc, a_kind_never_grows_beyond_its_bound)
{
    enum { REQUEST = sizeof "mcp/request:" - 1, CALL = sizeof "tools/call:" - 1 };
    const size_t fits = MCPX_KIND_MAX - REQUEST - CALL;
    const struct {
        size_t method, context;
        const char *type;
        bool readable;
        enum mcpx_err err;
        size_t len; /* of the kind */
    } rows[] = {
        {10, fits, "mcp/request", true, MCPX_OK, MCPX_KIND_MAX},
        {10, fits, "mcp/proposal", true, MCPX_OK, REQUEST + CALL},
        {10, fits - 1, "mcp/proposal", true, MCPX_OK, MCPX_KIND_MAX},
        {10, fits + 1, "mcp/request", true, MCPX_OK, REQUEST + CALL - 1},
        {10, 100000, "mcp/request", true, MCPX_OK, REQUEST + CALL - 1},
        {MCPX_KIND_MAX - REQUEST, 0, "mcp/request", true, MCPX_OK, MCPX_KIND_MAX},
        {MCPX_KIND_MAX - REQUEST, 0, "mcp/proposal", true, MCPX_EKIND, 0},
        {MCPX_KIND_MAX - REQUEST + 1, 0, "mcp/request", false, MCPX_OK, 0},
        {100000, 0, "mcp/request", false, MCPX_OK, 0},
    };

    for (size_t i = 0; i < COUNT(rows) * 2; i++) {
        size_t row = i / 2;
        char *text = long_message(rows[row].method, rows[row].context, i % 2);
        char kind[MCPX_KIND_MAX + 1] = "untouched";
        struct mcpx_rpc rpc;
        struct mcpx_kind parsed;

        cr_expect_eq(mcpx_rpc_read(mcpx_slice_of(text), &rpc, NULL) == MCPX_OK,
                     rows[row].readable, "row %zu", row);
        if (rows[row].readable) {
            cr_expect_eq(rpc.context.len, rows[row].context <= fits ? rows[row].context : 0,
                         "row %zu: %zu", row, rpc.context.len);
            cr_expect_eq(mcpx_rpc_kind(&rpc, rows[row].type, kind), rows[row].err, "row %zu",
                         row);
            if (rows[row].err)
                cr_expect_str_eq(kind, "untouched");
            else
                cr_expect_eq(strlen(kind), rows[row].len, "row %zu: %zu", row, strlen(kind));
            cr_expect(rows[row].err ||
                          mcpx_kind_parse(mcpx_slice_of(kind), &parsed, NULL) == MCPX_OK,
                      "row %zu", row);
        }
        free(text);
    }
}

Test(rpc, the_kind_follows_from_the_message)
{
    static const struct {
        const char *text, *type, *kind;
    } rows[] = {
        {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a:b\"}}", "mcp/request",
         "mcp/request:tools/call:a:b"},
        {"{\"method\":\"tools\\/call\",\"params\":{\"name\":\"a\"}}", "mcp/proposal",
         "mcp/proposal:tools/call:a"},
        {"{\"id\":1,\"method\":\"tools/list\",\"params\":{\"name\":\"a\"}}", "mcp/request",
         "mcp/request:tools/list"},
        {"{\"id\":1,\"result\":{}}", "mcp/response", NULL},
        {"{\"id\":1,\"error\":{}}", "mcp/response", NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char kind[MCPX_KIND_MAX + 1] = "untouched";
        struct mcpx_rpc rpc;

        cr_assert_eq(mcpx_rpc_read(mcpx_slice_of(rows[i].text), &rpc, NULL), MCPX_OK);
        cr_expect_eq(mcpx_rpc_kind(&rpc, rows[i].type, kind),
                     rows[i].kind ? MCPX_OK : MCPX_EINVALID, "%s", rows[i].text);
        cr_expect_str_eq(kind, rows[i].kind ? rows[i].kind : "untouched");
    }
}
