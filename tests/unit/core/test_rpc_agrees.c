/*
 * What breaks for whom: "safe_tool" in the kind, "rm" in the payload. The router matched the kind;
 * whoever then executes the payload has made the grant worthless. Each row is one way to try it.
 * Protocol: section 2.
 */
#include <mcpx/rpc.h>

#include <criterion/criterion.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define HEAD "{\"jsonrpc\":\"2.0\","
#define CALL(id, name) HEAD id "\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"
#define WITH_ID "\"id\":1,"

struct claim {
    const char *kind;
    const char *payload;
    const char
        *disagrees; /* the field that does; NULL: nothing does; "?": not readable at all */
};

static const char *judged(const struct claim *claim)
{
    struct mcpx_fault fault = {"", "", 0};
    struct mcpx_kind kind;
    struct mcpx_rpc rpc;

    cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(claim->kind), &kind, NULL), MCPX_OK, "%s",
                 claim->kind);
    if (mcpx_rpc_read(mcpx_slice_of(claim->payload), &rpc, NULL))
        return "?";
    if (mcpx_rpc_agrees(&rpc, &kind, NULL) == MCPX_OK) {
        cr_expect_eq(mcpx_rpc_agrees(&rpc, &kind, &fault), MCPX_OK);
        cr_expect_str_empty(fault.reason);
        return NULL;
    }
    cr_expect_eq(mcpx_rpc_agrees(&rpc, &kind, &fault), MCPX_EINVALID);
    cr_expect(*fault.reason, "%s", claim->kind);
    return fault.field;
}

static void expect_judgements(const struct claim *claims, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *found = judged(&claims[i]);
        const char *expected = claims[i].disagrees;

        cr_expect_str_eq(found ? found : "nothing", expected ? expected : "nothing",
                         "%s with %s", claims[i].kind, claims[i].payload);
    }
}

Test(rpc_agrees, a_request_is_what_its_kind_says)
{
    static const struct claim rows[] = {
        {"mcp/request:tools/call:safe", CALL(WITH_ID, "safe"), NULL},
        {"mcp/request:tools/call", CALL(WITH_ID, "safe"),
         NULL}, /* matched as the short form */
        {"mcp/request:tools/call:a:b", CALL(WITH_ID, "a:b"), NULL},
        {"mcp/request:tools/call:a/b", CALL(WITH_ID, "a\\/b"), NULL},
        {"mcp/request:ping", "{\"id\":1,\"method\":\"ping\"}", NULL},
        {"mcp/request:tools/call:safe", CALL("", "safe"), NULL}, /* asks for no answer */
        {"mcp/request:notifications/progress",
         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}", NULL},
        {"mcp/request:notifications/progress", "{\"method\":\"notifications/progress\"}",
         NULL},
        {"mcp/request:notifications/resources/updated:u",
         "{\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"u\"}}", NULL},
        /* another tool, another method */
        {"mcp/request:tools/call:safe", CALL(WITH_ID, "rm"), "context"},
        {"mcp/request:tools/call:safe", CALL(WITH_ID, "safe2"), "context"},
        {"mcp/request:tools/call:safe", CALL(WITH_ID, "Safe"), "context"},
        {"mcp/request:tools/call:safe", CALL(WITH_ID, "safe "), "context"},
        {"mcp/request:tools/call:safe", CALL(WITH_ID, "s\\u0430fe"), "context"}, /* Cyrillic */
        {"mcp/request:tools/call:safe", CALL(WITH_ID, "safe\\u0000rm"), "context"},
        {"mcp/request:tools/call:safe", CALL(WITH_ID, ""), "context"},
        {"mcp/request:tools/call:safe", "{\"id\":1,\"method\":\"tools/call\"}", "context"},
        {"mcp/request:tools/call:safe",
         "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":[\"safe\"]}}", "context"},
        {"mcp/request:tools/call:safe",
         "{\"id\":1,\"method\":\"tools/call\",\"params\":[\"safe\"]}", "context"},
        {"mcp/request:tools/list", CALL(WITH_ID, "rm"), "method"},
        {"mcp/request:tools/list:rm", CALL(WITH_ID, "rm"), "method"},
        {"mcp/request:tools", CALL(WITH_ID, "rm"), "method"},
        {"mcp/request:Tools/call:rm", CALL(WITH_ID, "rm"), "method"},
        {"mcp/request", CALL(WITH_ID, "rm"), "method"},
        {"mcp/request:ping:x", "{\"id\":1,\"method\":\"ping\"}", "context"},
        {"mcp/request:tools/list:x",
         "{\"id\":1,\"method\":\"tools/list\",\"params\":{\"name\":\"x\"}}", "context"},
        {"mcp/request:resources/read:file:///a",
         "{\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"file:///b\"}}",
         "context"},
        {"mcp/request:resources/read:file:///a",
         "{\"id\":1,\"method\":\"resources/read\",\"params\":{\"name\":\"file:///a\"}}",
         "context"},
        {"mcp/request:completion/complete:p",
         "{\"id\":1,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"type\":"
         "\"ref/resource\",\"name\":\"p\",\"uri\":\"q\"}}}",
         "context"},
        /* two readers, two answers */
        {"mcp/request:tools/call:safe",
         "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"safe\",\"name\":\"rm\"}}",
         "?"},
        {"mcp/request:tools/call:safe",
         "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"safe\",\"\\u006eame\":"
         "\"rm\"}}",
         "?"},
        {"mcp/request:tools/list",
         "{\"id\":1,\"method\":\"tools/list\",\"method\":\"tools/call\"}", "?"},
        {"mcp/request:tools/call:safe",
         "{\"id\":1,\"method\":\"tools/"
         "call\",\"params\":{\"name\":\"safe\"},\"params\":{\"name\":"
         "\"rm\"}}",
         "?"},
        {"mcp/request:tools/call:safe", "[" CALL(WITH_ID, "safe") "," CALL(WITH_ID, "rm") "]",
         "?"},
        /* escapes hide nothing */
        {"mcp/request:tools/call:safe",
         "{\"id\":1,\"m\\u0065thod\":\"tools\\/call\",\"params\":{\"\\u006eame\":\"rm\"}}",
         "context"},
        {"mcp/request:tools/call:safe",
         "{\"id\":1,\"m\\u0065thod\":\"tools\\/"
         "call\",\"params\":{\"\\u006eame\":\"s\\u0061fe\"}}",
         NULL},
        /* not a request at all */
        {"mcp/request:tools/call:safe", "{\"id\":1,\"result\":{}}", "type"},
        {"mcp/request:tools/call:safe", "{\"id\":1,\"error\":{}}", "type"},
        {"mcp/request:tools/list", "{\"method\":\"tools/list\"}", "id"},
        {"mcp/request:notifications", "{\"method\":\"notifications\"}", "id"},
    };

    expect_judgements(rows, COUNT(rows));
}

Test(rpc_agrees, a_response_answers_something)
{
    static const struct claim rows[] = {
        {"mcp/response:tools/call:safe", "{\"id\":1,\"result\":{}}", NULL},
        {"mcp/response:tools/call", "{\"id\":\"a\",\"error\":{}}", NULL},
        {"mcp/response", "{\"id\":1,\"result\":{}}", NULL},
        {"mcp/response:tools/call", CALL(WITH_ID, "safe"), "type"},
        {"mcp/response:tools/call", "{\"method\":\"tools/call\"}", "type"},
        {"mcp/response:tools/call", "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\"}", "type"},
        {"mcp/response:tools/call", "{\"error\":{}}", "id"},
        {"mcp/response:tools/call", "{\"id\":null,\"error\":{}}", "id"},
        {"mcp/response:tools/call", "{\"id\":1,\"method\":\"tools/call\",\"result\":{}}", "?"},
        {"mcp/response:tools/call", "{\"id\":1,\"result\":{},\"error\":{}}", "?"},
        {"mcp/response:tools/call", "{\"id\":null,\"result\":{}}", "?"},
        {"mcp/response:tools/call", "{\"id\":1.5,\"result\":{}}", "?"},
        {"mcp/response:tools/call", "{\"id\":true,\"result\":{}}", "?"},
        {"mcp/response:tools/call", "{\"id\":{},\"result\":{}}", "?"},
        {"mcp/response:tools/call", "{\"result\":{}}", "?"},
    };

    expect_judgements(rows, COUNT(rows));
}

Test(rpc_agrees, a_proposal_asks_nobody_for_an_answer)
{
    static const struct claim rows[] = {
        {"mcp/proposal:tools/call:rm",
         "{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\"}}", NULL},
        {"mcp/proposal:tools/call", "{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\"}}",
         NULL},
        {"mcp/proposal:tools/call:rm", CALL("", "rm"), NULL},
        {"mcp/proposal:tools/call:rm", CALL(WITH_ID, "rm"), "id"},
        {"mcp/proposal:tools/call:rm", "{\"id\":1,\"method\":\"tools/call\"}", "id"},
        {"mcp/proposal:tools/call:rm", "{\"id\":null,\"method\":\"tools/call\"}", "?"},
        {"mcp/proposal:tools/call:safe", CALL("", "rm"), "context"},
        {"mcp/proposal:tools/list", CALL("", "rm"), "method"},
        {"mcp/proposal", CALL("", "rm"), "method"},
        {"mcp/proposal:tools/call", "{\"id\":1,\"result\":{}}", "type"},
        {"mcp/proposal:tools/call", "{\"id\":1,\"error\":{}}", "type"},
        {"mcp/proposal:tools/call", "{\"error\":{}}", "type"},
    };

    expect_judgements(rows, COUNT(rows));
}

Test(rpc_agrees, other_types_are_not_judged)
{
    static const struct claim rows[] = {
        {"chat", CALL(WITH_ID, "rm"), NULL},
        {"mcp/reject", "{\"id\":1,\"result\":{}}", NULL},
        {"mcp/requests:tools/call:x", CALL(WITH_ID, "rm"), NULL},
    };

    expect_judgements(rows, COUNT(rows));
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
