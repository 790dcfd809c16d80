/*
 * What breaks for whom: a head that passes here by mistake lets a web page act in the topic; an id
 * that comes back changed is an answer that its client never recognises, and a status that is not
 * the one of the table sends programs the wrong way.
 */
#include "tests/support/envelope_text.h"
#include "tools/mcpx-bridge/expose/edge/post.h"

#include <criterion/criterion.h>

Test(expose_post, this_machine_has_few_names)
{
    static const struct {
        struct mcpx_slice host;
        bool is_own;
    } rows[] = {
        {T("localhost"), true},
        {T("LocalHost:8808"), true},
        {T("127.0.0.1"), true},
        {T("127.255.0.254:65535"), true},
        {T("[::1]"), true},
        {T("[::1]:0"), true},
        {T(""), false},
        {{NULL, 0}, false},
        {T("localhost."), false},
        {T("localhost:"), false},
        {T("localhost:65536"), false},
        {T("localhost:1:1"), false},
        {T("localhost.example.org"), false},
        {T("xlocalhost"), false},
        {T("a@localhost"), false},
        {T("127.0.0.1.example.org"), false},
        {T("127.1"), false},
        {T("127.0.0.01"), false},
        {T("127.0.0.256"), false},
        {T("127.0.0."), false},
        {T("127.0.0.1."), false},
        {T("127..0.1"), false},
        {T("0.0.0.0"), false},
        {T("128.0.0.1"), false},
        {T("2130706433"), false},
        {T("0x7f.0.0.1"), false},
        {T("::1"), false},
        {T("[::1"), false},
        {T("[::1]x"), false},
        {T("[::ffff:127.0.0.1]"), false},
        {T("localhost/"), false},
        {T("localhost "), false},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(expose_post_is_loopback(rows[i].host), rows[i].is_own, "%s",
                     rows[i].host.text ? rows[i].host.text : "absent");
}

/* A head that passes, with one field changed. */
Test(expose_post, a_head_passes_or_has_the_status_of_its_first_fault)
{
#define GOOD                                                                                  \
    .method = T("POST"), .path = T("/mcp"), .host = T("localhost:1"),                         \
    .type = T("application/json"), .length = T("100")
    static const struct {
        struct expose_post_head head;
        int status;
    } rows[] = {
        {{GOOD}, 0},
        {{.method = T("POST"),
          .path = T("/mcp"),
          .host = T("localhost"),
          .type = T("Application/JSON;charset=utf-8"),
          .encoding = T("Chunked"),
          .origin = T("https://127.0.0.1:5173")},
         0},
        {{.is_twice = true, GOOD}, 400},
        {{.has_nul = true, GOOD}, 400},
        {{GOOD, .encoding = T("chunked")}, 400},
        {{.method = T("POST"),
          .path = T("/mcp"),
          .host = T("localhost"),
          .type = T("application/json"),
          .encoding = T("gzip, chunked")},
         400},
        {{GOOD, .origin = T("null")}, 403},
        {{GOOD, .origin = T("")}, 403},
        {{GOOD, .origin = T("http://")}, 403},
        {{GOOD, .origin = T("localhost")}, 403},
        {{GOOD, .origin = T("http://localhost/")}, 403},
        {{GOOD, .origin = T("http://localhost.example.org")}, 403},
        {{GOOD, .origin = T("file://localhost")}, 403},
        {{.method = T("GET"), .path = T("/x"), .host = T("example.org")}, 403},
        {{.method = T("GET"), .path = T("/x"), .host = T("localhost")}, 404},
        {{.method = T("POST"), .path = T("/MCP"), .host = T("localhost")}, 404},
        {{.method = T("GET"), .path = T("/mcp"), .host = T("localhost")}, 405},
        {{.method = T("post"), .path = T("/mcp"), .host = T("localhost")}, 405},
        {{.method = T("POST"), .path = T("/mcp"), .host = T("localhost")}, 415},
        {{.method = T("POST"),
          .path = T("/mcp"),
          .host = T("localhost"),
          .type = T("application/json-seq")},
         415},
        {{.method = T("POST"),
          .path = T("/mcp"),
          .host = T("localhost"),
          .type = T("text/plain; application/json")},
         415},
        {{.method = T("POST"),
          .path = T("/mcp"),
          .host = T("localhost"),
          .type = T("application/json"),
          .length = T("1001")},
         413},
        {{.method = T("POST"),
          .path = T("/mcp"),
          .host = T("localhost"),
          .type = T("application/json"),
          .length = T("99999999999999999999999999")},
         413},
        {{.method = T("POST"),
          .path = T("/mcp"),
          .host = T("localhost"),
          .type = T("application/json"),
          .length = T("+1")},
         400},
    };
#undef GOOD

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct expose_post_fault *fault = expose_post_judge(&rows[i].head, 1000);

        cr_expect_eq(fault ? fault->status : 0, rows[i].status, "row %zu: %s", i,
                     fault ? fault->sentence : "passes");
    }
}

Test(expose_post, event_streams_are_named_or_not)
{
    static const struct {
        struct mcpx_slice accept;
        bool wants;
    } rows[] = {
        {T("application/json, text/event-stream"), true},
        {T("text/Event-Stream;q=0.5"), true},
        {T(" text/event-stream "), true},
        {T("*/*"), false},
        {T("text/*"), false},
        {T("application/json;x=text/event-stream"), false},
        {T(",,"), false},
        {T(""), false},
        {{NULL, 0}, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(expose_post_wants_events(rows[i].accept), rows[i].wants, "row %zu", i);
}

Test(expose_post, a_request_has_our_number_inside_and_its_own_id_outside)
{
    static const struct {
        struct mcpx_slice body;
        const char *line, *id, *answer;
    } rows[] = {
        {T("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"),
         "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}", "1",
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"id\":7}}"},
        {T(" {\"id\" : \"a\\u0062\\\"\" ,\"jsonrpc\":\"2.0\",\n\"method\":\"ping\"}\n"),
         "{\"id\" : 7 ,\"jsonrpc\":\"2.0\",\n\"method\":\"ping\"}", "\"a\\u0062\\\"\"",
         "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0062\\\"\",\"result\":{\"id\":7}}"},
        {T("{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890123,\"method\":\"ping\"}"),
         "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}", "12345678901234567890123",
         "{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890123,\"result\":{\"id\":7}}"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_slice id;
        struct mcpx_text line = {0}, answer;

        cr_expect_eq(expose_post_read(rows[i].body, 7, &line, &id), EXPOSE_POST_REQUEST);
        cr_expect_str_eq(line.text, rows[i].line);
        cr_expect(mcpx_slice_equal(id, mcpx_slice_of(rows[i].id)), "row %zu", i);
        answer = expose_post_answer(
            MCPX_SLICE("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"id\":7}}"), id);
        cr_expect_str_eq(answer.text, rows[i].answer);
        mcpx_text_fini(&line);
        mcpx_text_fini(&answer);
    }
}

Test(expose_post, what_is_no_request_is_told_apart)
{
    static const struct {
        struct mcpx_slice body;
        enum expose_post_form form;
        const char *line;
    } rows[] = {
        {T("{\"jsonrpc\":\"2.0\",\"method\":\"x\"}"), EXPOSE_POST_NOTICE, NULL},
        {T("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"), EXPOSE_POST_NOTICE, NULL},
        {T("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}"), EXPOSE_POST_NOTICE, NULL},
        {T("{\"method\":\"x\"}"), EXPOSE_POST_BROKEN, "{\"method\":\"x\"}"},
        {T("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"x\"}"), EXPOSE_POST_BROKEN,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"x\"}"},
        {T("[]"), EXPOSE_POST_BROKEN, "[]"},
        {T("nonsense"), EXPOSE_POST_BROKEN, "nonsense"},
        {T(""), EXPOSE_POST_BROKEN, " "},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text line = {0};
        struct mcpx_slice id;

        cr_expect_eq(expose_post_read(rows[i].body, 7, &line, &id), rows[i].form, "row %zu",
                     i);
        cr_expect_null(id.text, "row %zu", i);
        cr_expect(rows[i].line ? strcmp(line.text, rows[i].line) == 0 : line.len == 0,
                  "row %zu", i);
        mcpx_text_fini(&line);
    }
}

Test(expose_post, an_answer_names_whose_it_is)
{
    static const struct {
        struct mcpx_slice line;
        bool is_answer;
        int64_t number;
    } rows[] = {
        {T("{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}"), true, 9},
        {T("{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{}}"), true, 9},
        {T("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}"), true, 0},
        {T("{\"jsonrpc\":\"2.0\",\"id\":\"9\",\"result\":{}}"), true, 9},
        {T("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"elicitation/create\"}"), false, 9},
        {T("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}"), false, 0},
    };
    struct mcpx_text cancel = expose_post_cancel(9);

    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_expect_eq(expose_post_is_answer(rows[i].line), rows[i].is_answer, "row %zu", i);
        cr_expect_eq(expose_post_number(rows[i].line), rows[i].number, "row %zu", i);
    }
    cr_expect_str_eq(cancel.text,
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                     "{\"requestId\":9,\"reason\":\"the client is gone\"}}");
    mcpx_text_fini(&cancel);
}

Test(expose_post, R002_9_an_answer_has_the_status_of_the_table)
{
#define ERROR(code, data) "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":" code data "}}"
#define CODE(name) ",\"data\":{\"canonical_code\":\"" name "\"}"
    static const struct {
        struct mcpx_slice answer;
        int status;
    } rows[] = {
        {T("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"error\":{\"code\":-32601}}}"), 200},
        {T(ERROR("-32602", CODE("INVALID_INPUT"))), 400},
        {T(ERROR("-32002", CODE("INVALID_OUTPUT"))), 502},
        {T(ERROR("-32004", CODE("NOT_FOUND"))), 404},
        {T(ERROR("-32001", CODE("UNAUTHORIZED"))), 401},
        {T(ERROR("-32603", CODE("INTERNAL_ERROR"))), 500},
        {T(ERROR("-32601", CODE("INVALID_INPUT"))), 400},
        {T(ERROR("-32700", "")), 400},
        {T(ERROR("-32600", "")), 400},
        {T(ERROR("-32601", "")), 404},
        {T(ERROR("-32602", "")), 500},
        {T(ERROR("-32000", CODE("SOMETHING"))), 500},
        {T(ERROR("404", ",\"data\":{\"canonical_code\":404}")), 500},
    };
#undef ERROR
#undef CODE

    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_expect_eq(expose_post_status(rows[i].answer, false), rows[i].status, "row %zu", i);
        cr_expect_eq(expose_post_status(rows[i].answer, true), 200, "row %zu", i);
    }
}
