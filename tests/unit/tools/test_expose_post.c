/*
 * What breaks for whom: a head that passes here by mistake lets a web page act in the topic; an id
 * that comes back changed is an answer that its client never recognises, and a status that is not
 * the one of the table sends programs the wrong way.
 */
#include "lib/base/scoped.h"
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

/* A head of that request line and these fields. */
static void read_head(struct mx_http_head *out, const char *line, const char *fields)
{
    static struct mcpx_text text;

    mcpx_text_reset(&text);
    mcpx_text_puts(&text, line);
    mcpx_text_puts(&text, " HTTP/1.1\r\n");
    mcpx_text_puts(&text, fields);
    mcpx_text_puts(&text, "\r\n");
    cr_assert_null(mx_http_request_read(mcpx_text_view(&text), out), "%s", text.text);
}

Test(expose_post, a_head_passes_or_has_the_status_of_its_first_fault)
{
#define HOST "Host: localhost:1\r\n"
#define TYPE "Content-Type: application/json\r\n"
    static const struct {
        const char *line, *fields;
        int status;
    } rows[] = {
        {"POST /mcp", HOST TYPE, 0},
        {"POST /mcp",
         "host: LOCALHOST\r\nContent-Type: Application/JSON;charset=utf-8\r\n"
         "Origin: https://127.0.0.1:5173\r\n",
         0},
        {"POST /mcp", HOST TYPE TYPE, 400},
        {"POST /mcp", HOST TYPE "Origin: http://localhost\r\nORIGIN: http://localhost\r\n",
         400},
        {"POST /mcp", HOST TYPE "Origin: null\r\n", 403},
        {"POST /mcp", HOST TYPE "Origin:\r\n", 403},
        {"POST /mcp", HOST TYPE "Origin: http://\r\n", 403},
        {"POST /mcp", HOST TYPE "Origin: localhost\r\n", 403},
        {"POST /mcp", HOST TYPE "Origin: http://localhost/\r\n", 403},
        {"POST /mcp", HOST TYPE "Origin: http://localhost.example.org\r\n", 403},
        {"POST /mcp", HOST TYPE "Origin: file://localhost\r\n", 403},
        {"GET /x", "Host: example.org\r\n", 403},
        {"GET /x", HOST, 404},
        {"POST /MCP", HOST TYPE, 404},
        {"POST /mcp?", HOST TYPE, 404},
        {"POST http://localhost/mcp", HOST TYPE, 404},
        {"POST http://example.org/mcp", HOST TYPE, 404},
        {"GET /mcp", HOST, 405},
        {"post /mcp", HOST, 405},
        {"POST /mcp", HOST, 415},
        {"POST /mcp", HOST "Content-Type: application/json-seq\r\n", 415},
        {"POST /mcp", HOST "Content-Type: text/plain; application/json\r\n", 415},
    };
#undef HOST
#undef TYPE

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_http_head head;
        const struct mx_http_fault *fault;

        read_head(&head, rows[i].line, rows[i].fields);
        fault = expose_post_judge(&head);
        cr_expect_eq(fault ? fault->status : 0, rows[i].status, "row %zu: %s", i,
                     fault ? fault->detail : "passes");
    }
}

Test(expose_post, event_streams_are_named_or_not)
{
    static const struct {
        const char *fields;
        bool wants;
    } rows[] = {
        {"Accept: application/json, text/event-stream\r\n", true},
        {"Accept: text/Event-Stream;q=0.5\r\n", true},
        {"accept: */*\r\nACCEPT: text/event-stream\r\n", true},
        {"Accept: */*\r\n", false},
        {"Accept: text/*\r\n", false},
        {"Accept: application/json;x=text/event-stream\r\n", false},
        {"Accept: ,,\r\n", false},
        {"Accept:\r\n", false},
        {"X-Accept: text/event-stream\r\n", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_http_head head;

        read_head(&head, "POST /mcp HTTP/1.1\r\nHost: x\r\nX:", rows[i].fields);
        cr_expect_eq(expose_post_wants_events(&head), rows[i].wants, "row %zu", i);
    }
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
    mx_scoped_text cancel = expose_post_cancel(9);

    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t number;
        bool is_answer = expose_post_answers(rows[i].line, &number);

        cr_expect(is_answer == rows[i].is_answer && number == rows[i].number, "row %zu", i);
    }
    cr_expect_str_eq(cancel.text,
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                     "{\"requestId\":9,\"reason\":\"the client is gone\"}}");
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
