/*
 * What breaks for whom: a tool is called with other bytes than were typed, a proposal is carried
 * out with other params than proposed, or a failed call looks like a good one to a script.
 */
#include "tests/support/count.h"
#include "tools/common/command.h"
#include "tools/mcpxctl/core/message.h"

#include <criterion/criterion.h>

/* The proposal of an operation has this method, and `body` behind it. */
static void expect_proposal(const struct operation *operation, const char *method,
                            const char *body)
{
    mx_scoped_text out = {0}, expected = {0};

    mcpx_text_puts(&expected, "{\"method\":\"");
    mcpx_text_puts(&expected, method);
    mcpx_text_puts(&expected, "\"");
    mcpx_text_puts(&expected, body);
    operation_write_proposal(&out, operation);
    cr_expect_str_eq(out.text, expected.text);
}

Test(message, operations_become_params)
{
    static const struct {
        const char *method;
        const char *words[2];
        size_t count;
        const char *body; /* behind {"method":...; NULL: refused */
    } rows[] = {
        {"tools/call", {"echo"}, 1, ",\"params\":{\"name\":\"echo\"}}"},
        {"tools/call",
         {"e\"o", " {\"n\": 1.10, \"n\":1e400} "},
         2,
         ",\"params\":{\"name\":\"e\\\"o\",\"arguments\":{\"n\": 1.10, \"n\":1e400}}}"},
        {"prompts/get", {"p", "{}"}, 2, ",\"params\":{\"name\":\"p\",\"arguments\":{}}}"},
        {"resources/read", {"file:///x"}, 1, ",\"params\":{\"uri\":\"file:///x\"}}"},
        {"tools/list", {NULL}, 0, "}"},
        {"tools/list", {"{\"cursor\":\"2\"}"}, 1, ",\"params\":{\"cursor\":\"2\"}}"},
        {"ping", {NULL}, 0, "}"},
        {"tools/call", {NULL}, 0, NULL},
        {"tools/call", {""}, 1, NULL},
        {"tools/call", {"x", "1"}, 2, NULL},
        {"tools/call", {"x", "{"}, 2, NULL},
        {"tools/call", {"x", ""}, 2, NULL},
        {"ping", {"{}", "{}"}, 2, NULL},
        {"ping", {"word"}, 1, NULL},
        {"", {NULL}, 0, NULL},
        {"a b", {NULL}, 0, NULL},
        {"ping:x", {NULL}, 0, NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct operation operation;
        int status =
            operation_read(rows[i].method, rows[i].words, rows[i].count, "JSON", &operation);

        cr_expect_eq(status, rows[i].body ? STATUS_OK : STATUS_USAGE, "row %zu", i);
        if (status == STATUS_OK && rows[i].body)
            expect_proposal(&operation, rows[i].method, rows[i].body);
    }
}

Test(message, a_request_has_an_id_and_may_ask_for_progress)
{
    const char *const words[] = {"echo", "{\"a\":1}"};
    struct operation operation;
    mx_scoped_text out = {0};

    cr_assert_eq(operation_read("tools/call", words, 2, "JSON", &operation), STATUS_OK);
    operation.token = MCPX_SLICE("t");
    operation_write_request(&out, &operation);
    cr_expect_str_eq(out.text,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                     "{\"name\":\"echo\",\"arguments\":{\"a\":1},\"_meta\":"
                     "{\"progressToken\":\"t\"}}}");
}

Test(message, an_approval_keeps_the_bytes_that_were_proposed)
{
    static const struct {
        const char *proposal, *request;
    } rows[] = {
        {"{\"params\": {\"b\":1e400, \"a\":\"\\u202e\"} ,\"method\":\"tools/call\"}",
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"b\":1e400, "
         "\"a\":\"\\u202e\"}}"},
        {"{\"method\":\"ping\"}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};

        request_write_as_proposed(&out, mcpx_slice_of(rows[i].proposal));
        cr_expect_str_eq(out.text, rows[i].request);
        mcpx_text_fini(&out);
    }
}

Test(message, results_are_shown_as_what_they_are)
{
    static const struct {
        const char *result;
        bool raw;
        const char *shown;
    } rows[] = {
        {"{\"content\":[{\"type\":\"text\",\"text\":\"a\\nb\\u001b\"}]}", false,
         "a\nb\\u001b\n"},
        {"{\"content\":[{\"type\":\"text\",\"text\":\"a\\nb\\u001b\"}]}", true, "a\nb\x1b\n"},
        {"{\"content\":[{\"type\":\"text\",\"text\":\"a\\n\"},{\"type\":\"text\",\"text\":"
         "\"\\tb\"}]}",
         false, "a\n\tb\n"},
        {"{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"QUJD\\/"
         "Q==\"}]}",
         false, "[image/png, 4 bytes]\n"},
        {"{\"content\":[{\"type\":\"audio\",\"data\":\"QUI=\"}]}", true, "[data, 2 bytes]\n"},
        {"{\"content\":[{\"type\":\"image\",\"data\":1}]}", false,
         "{\n  \"type\": \"image\",\n  \"data\": 1\n}\n"},
        {"{\"content\":[{\"type\":\"resource_link\",\"uri\":\"a:b\"}]}", true,
         "{\n  \"type\": \"resource_link\",\n  \"uri\": \"a:b\"\n}\n"},
        {"{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\",\"text\":\"c\"}},"
         "1]}",
         true, "c\n1\n"},
        {"{\"contents\":[{\"uri\":\"a:b\",\"text\":\"c\\nd\"},"
         "{\"uri\":\"a:c\",\"mimeType\":\"x/\\u001b\",\"blob\":\"QUJD\"}]}",
         true, "c\nd\n[x/\\u001b, 3 bytes]\n"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"say\"}},"
         "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}]}",
         false, "user: say\nassistant: a\n"},
        {"{\"content\":[]}", false, ""},
        {"{\"contents\":1}", false, "{\n  \"contents\": 1\n}\n"},
        {"{}", false, "{}\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};

        result_write(&out, mcpx_slice_of(rows[i].result), rows[i].raw);
        cr_expect_str_eq(out.text ? out.text : "", rows[i].shown);
        mcpx_text_fini(&out);
    }
    cr_expect(result_is_error(MCPX_SLICE("{\"isError\":true}")));
    cr_expect_not(result_is_error(MCPX_SLICE("{\"isError\":false}")));
    cr_expect_not(result_is_error(MCPX_SLICE("{}")));
}

Test(message, errors_have_a_sentence_and_an_exit_code)
{
    static const struct {
        const char *error, *sentence;
        int status;
    } rows[] = {
        {"{\"code\":-32601,\"message\":\"no such\\u001b\"}", "no such\\u001b (-32601)",
         STATUS_FAILED},
        {"{\"code\":-31001,\"message\":\"late\"}", "late (-31001)", STATUS_TIMEOUT},
        {"{\"code\":-31002,\"message\":\"no\"}", "no (-31002)", STATUS_REFUSED},
        {"{\"code\":-31003,\"message\":\"no\"}", "no (-31003)", STATUS_REFUSED},
        {"{\"code\":1}", "an error without message (1)", STATUS_FAILED},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};

        cr_expect_eq(error_write(&out, mcpx_slice_of(rows[i].error)), rows[i].status, "%s",
                     rows[i].error);
        cr_expect_str_eq(out.text, rows[i].sentence);
        mcpx_text_fini(&out);
    }
}

Test(message, meta_keeps_its_bytes_and_its_own_token)
{
    static const struct {
        const char *method;
        const char *words[2];
        size_t count;
        const char *meta;
        const char *body; /* behind {"method":...; NULL: refused */
    } rows[] = {
        {"tools/call",
         {"echo"},
         1,
         "{\"n\": 1.10}",
         ",\"params\":{\"name\":\"echo\",\"_meta\":{\"n\":1.10,\"progressToken\":\"t\"}}}"},
        {"tools/call",
         {"echo"},
         1,
         "{\"progressToken\":7}",
         ",\"params\":{\"name\":\"echo\",\"_meta\":{\"progressToken\":7}}}"},
        {"ping",
         {"{\"a\":1}"},
         1,
         "{}",
         ",\"params\":{\"a\":1,\"_meta\":{\"progressToken\":\"t\"}}}"},
        {"ping", {"{\"_meta\":{}}"}, 1, "{}", NULL},
        {"ping", {NULL}, 0, "[]", NULL},
        {"ping", {NULL}, 0, "{", NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct operation operation;
        int status;

        cr_assert_eq(
            operation_read(rows[i].method, rows[i].words, rows[i].count, "JSON", &operation),
            STATUS_OK);
        status = operation_read_meta(rows[i].meta, &operation);
        cr_expect_eq(status, rows[i].body ? STATUS_OK : STATUS_USAGE, "row %zu", i);
        if (status != STATUS_OK || !rows[i].body)
            continue;
        operation.token = MCPX_SLICE("t");
        expect_proposal(&operation, rows[i].method, rows[i].body);
    }
}

Test(message, R000_19_a_request_becomes_a_call)
{
    static const struct {
        const char *request;
        const char *body; /* behind {"method":"tools/call","params":; NULL: refused */
    } rows[] = {
        {"{\"schema_version\":\"mcp.request.v0.1\",\"tool\":{\"name\":\"g\\u0065t\"},"
         "\"params\":{},\"artifacts\":[]}",
         "{\"name\":\"get\",\"arguments\":{},\"_meta\":{\"io.mcpx/artifacts\":[]}}}"},
        {"{\"tool\":{\"name\":\"t\"},\"request_id\":\"r\","
         "\"params\":{\"n\":1.10,\"_meta\":{\"capture_provenance\":true,\"request_id\":"
         "\"old\"},"
         "\"m\":1e400},\"artifacts\":[{\"artifact_id\":\"a\"}],"
         "\"preferences\":{\"deterministic\":false}}",
         "{\"name\":\"t\",\"arguments\":{\"n\":1.10,\"m\":1e400},\"_meta\":"
         "{\"capture_provenance\":true,\"request_id\":\"r\","
         "\"io.mcpx/artifacts\":[{\"artifact_id\":\"a\"}],"
         "\"io.mcpx/preferences\":{\"deterministic\":false}}}}"},
        {"{\"tool\":{\"name\":\"t\"},\"params\":{\"_meta\":7},\"artifacts\":[]}", NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct operation operation;
        struct mcpx_text out = {0}, expected = {0};
        bool is_read = request_read(mcpx_slice_of(rows[i].request), &operation);

        cr_expect_eq(is_read, rows[i].body != NULL, "row %zu", i);
        if (is_read && rows[i].body) {
            operation_write_proposal(&out, &operation);
            mcpx_text_puts(&expected, "{\"method\":\"tools/call\",\"params\":");
            mcpx_text_puts(&expected, rows[i].body);
            cr_expect_str_eq(out.text, expected.text);
        }
        operation_fini(&operation);
        mcpx_text_fini(&expected);
        mcpx_text_fini(&out);
    }
}
