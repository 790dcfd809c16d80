/*
 * What breaks for whom: "safe_tool" in the kind, "rm" in the payload. The router matched the kind;
 * whoever then executes the payload has made the grant worthless. Each row is one way to try it.
 * Protocol: section 2.
 */
#include <mcpx/rpc.h>

#include "tests/support/count.h"
#include "tests/support/rows.h"

#include <criterion/criterion.h>

#define HEAD "{\"jsonrpc\":\"2.0\","
#define CALL(id, name) HEAD id "\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"
#define WITH_ID "\"id\":1,"

/* The field that disagrees; NULL: none does; "?": the payload is not readable at all. */
static const char *judged(const char *kind_text, const char *payload)
{
    struct mcpx_fault fault = {"", "", 0};
    struct mcpx_kind kind;
    struct mcpx_rpc rpc;

    cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(kind_text), &kind, NULL), MCPX_OK, "%s",
                 kind_text);
    if (mcpx_rpc_read(mcpx_slice_of(payload), &rpc, NULL))
        return "?";
    if (mcpx_rpc_agrees(&rpc, &kind, NULL) == MCPX_OK) {
        cr_expect_eq(mcpx_rpc_agrees(&rpc, &kind, &fault), MCPX_OK);
        cr_expect_str_empty(fault.reason);
        return NULL;
    }
    cr_expect_eq(mcpx_rpc_agrees(&rpc, &kind, &fault), MCPX_EINVALID);
    cr_expect(*fault.reason, "%s", kind_text);
    return fault.field;
}

static void expect_judgement(char *const row[])
{
    const char *found = judged(row[0], row[1]);

    cr_expect_str_eq(found ? found : "nothing", row[2] ? row[2] : "nothing", "%s with %s",
                     row[0], row[1]);
}

Test(rpc_agrees, a_request_is_what_its_kind_says)
{
    rows_each("core/rows/rpc", "a request is what its kind says", expect_judgement);
}

Test(rpc_agrees, a_response_answers_something)
{
    rows_each("core/rows/rpc", "a response answers something", expect_judgement);
}

Test(rpc_agrees, a_proposal_asks_nobody_for_an_answer)
{
    rows_each("core/rows/rpc", "a proposal asks nobody for an answer", expect_judgement);
}

Test(rpc_agrees, other_types_are_not_judged)
{
    rows_each("core/rows/rpc", "other types are not judged", expect_judgement);
}

/* The kind that a message would be given is always true of it. */
Test(rpc_agrees, the_derived_kind_is_true)
{
    static const char *const payloads[] = {
        CALL(WITH_ID, "safe"),
        CALL(WITH_ID, "a:b/c*\\u00e9"),
        CALL(WITH_ID, "not\\nin\\na kind"),
        "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":7}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks/"
        "status\",\"params\":{\"taskId\":"
        "\"t\"}}",
    };

    for (size_t i = 0; i < COUNT(payloads); i++) {
        char text[MCPX_KIND_MAX + 1];
        struct mcpx_kind kind;
        struct mcpx_rpc rpc;

        cr_assert_eq(mcpx_rpc_read(mcpx_slice_of(payloads[i]), &rpc, NULL), MCPX_OK);
        cr_assert_eq(mcpx_rpc_kind(&rpc, "mcp/request", text), MCPX_OK);
        cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(text), &kind, NULL), MCPX_OK, "%s", text);
        cr_expect_eq(mcpx_rpc_agrees(&rpc, &kind, NULL), MCPX_OK, "%s", text);
    }
}
