/*
 * What breaks for whom: grants are judged by the kind of an envelope. If a payload can say
 * something else than its kind and is acted on, whoever holds a grant for one tool holds it for
 * all of them. Protocol: section 2.
 */
#include <mcpx/rpc.h>

#include "lib/json/json_write.h"
#include "tests/support/count.h"
#include "tests/support/rows.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

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

static struct mcpx_slice or_dash(struct mcpx_slice part)
{
    return part.text ? part : MCPX_SLICE("-");
}

static void expect_message(char *const row[])
{
    static const char *const forms[] = {[MCPX_RPC_REQUEST] = "request",
                                        [MCPX_RPC_NOTIFICATION] = "notification",
                                        [MCPX_RPC_BODY] = "body",
                                        [MCPX_RPC_RESULT] = "result",
                                        [MCPX_RPC_ERROR] = "error"};
    struct mcpx_fault fault = {"", "", 0};
    struct mcpx_text found;
    struct mcpx_rpc rpc;

    cr_assert_eq(mcpx_rpc_read(mcpx_slice_of(row[0]), &rpc, &fault), MCPX_OK, "%s: %s", row[0],
                 fault.reason);
    cr_expect_eq(rpc.text.text, row[0]);
    found = mx_formatted("%s %s %s %s", forms[rpc.form], or_dash(rpc.id), or_dash(rpc.method),
                         or_dash(rpc.context));
    cr_expect_str_eq(found.text, row[1], "%s", row[0]);
    mcpx_text_fini(&found);
}

Test(rpc, a_message_is_read_for_what_it_is)
{
    rows_each("core/rows/rpc", "read", expect_message);
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

static void expect_refused(char *const row[])
{
    struct mcpx_slice text = mcpx_slice_of(row[0]);
    struct mcpx_fault fault = {"", "none", 0};
    struct mcpx_rpc rpc;

    cr_expect_eq(mcpx_rpc_read(text, &rpc, &fault), MCPX_EINVALID, "%s", row[0]);
    cr_expect_str_eq(fault.field, row[1], "%s: %s", row[0], fault.field);
    cr_expect(*fault.reason, "%s", row[0]);
    cr_expect_eq(mcpx_rpc_read(text, &rpc, NULL), MCPX_EINVALID, "%s", row[0]);
}

Test(rpc, what_could_be_read_in_two_ways_is_refused)
{
    rows_each("core/rows/rpc", "refused", expect_refused);
}

static void expect_context(char *const row[])
{
    struct mcpx_text text =
        mx_formatted("{\"id\":1,\"method\":\"%s\",\"params\":%s}", row[0], row[1]);
    struct mcpx_rpc rpc;

    cr_expect_eq(mcpx_rpc_read(mcpx_text_view(&text), &rpc, NULL), MCPX_OK, "%s", text.text);
    expect_part(rpc.context, row[2], "context", text.text);
    mcpx_text_fini(&text);
}

Test(rpc, the_context_is_taken_from_where_the_table_says)
{
    rows_each("core/rows/rpc", "context", expect_context);
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
