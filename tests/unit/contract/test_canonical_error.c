/*
 * What breaks for whom: programs branch on the canonical code, and on nothing else. One that is
 * missing, renamed or numbered otherwise makes a client retry what can never work.
 * Requirements: R002-9, R002-10, R002-11.
 */
#include <mcpx/contract.h>

#include <criterion/criterion.h>
#include <stdlib.h>

static const struct {
    enum mcpx_code code;
    const char *name;
    int status;
    int rpc;
    const char *error;
} codes[] = {
    {MCPX_CODE_INVALID_INPUT, "INVALID_INPUT", 400, -32602,
     "{\"code\":-32602,\"message\":\"Invalid params\","
     "\"data\":{\"canonical_code\":\"INVALID_INPUT\"}}"},
    {MCPX_CODE_INVALID_OUTPUT, "INVALID_OUTPUT", 502, -32002,
     "{\"code\":-32002,\"message\":\"Invalid tool output\","
     "\"data\":{\"canonical_code\":\"INVALID_OUTPUT\"}}"},
    {MCPX_CODE_NOT_FOUND, "NOT_FOUND", 404, -32004,
     "{\"code\":-32004,\"message\":\"Resource not found\","
     "\"data\":{\"canonical_code\":\"NOT_FOUND\"}}"},
    {MCPX_CODE_UNAUTHORIZED, "UNAUTHORIZED", 401, -32001,
     "{\"code\":-32001,\"message\":\"Unauthorized\","
     "\"data\":{\"canonical_code\":\"UNAUTHORIZED\"}}"},
    {MCPX_CODE_INTERNAL_ERROR, "INTERNAL_ERROR", 500, -32603,
     "{\"code\":-32603,\"message\":\"Internal error\","
     "\"data\":{\"canonical_code\":\"INTERNAL_ERROR\"}}"},
};

Test(canonical_error, R002_9_each_code_has_its_http_status)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        enum mcpx_code found = MCPX_CODE_COUNT;

        cr_expect_eq(mcpx_code_status(codes[i].code), codes[i].status, "%s", codes[i].name);
        cr_expect(mcpx_code_find(mcpx_slice_of(codes[i].name), &found), "%s", codes[i].name);
        cr_expect_eq(found, codes[i].code, "%s", codes[i].name);
        cr_expect_str_eq(mcpx_code_name(found), codes[i].name);
    }
}

Test(canonical_error, R002_10_each_code_has_its_json_rpc_error_object)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct mcpx_text out = {0};

        cr_expect_eq(mcpx_code_rpc(codes[i].code), codes[i].rpc, "%s", codes[i].name);
        cr_assert(mcpx_canonical_error(&out, codes[i].code), "%s", codes[i].name);
        cr_expect_str_eq(out.text, codes[i].error);
        cr_expect_not_null(strstr(codes[i].error, mcpx_code_message(codes[i].code)));
        mcpx_text_fini(&out);
    }
}

Test(canonical_error, R002_11_there_are_five_and_a_sixth_is_an_error_of_the_caller)
{
    static const int outside[] = {-1, MCPX_CODE_COUNT, 1000};
    struct mcpx_text out = {0};
    enum mcpx_code kept = MCPX_CODE_NOT_FOUND;

    cr_expect_eq(MCPX_CODE_COUNT, 5);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        enum mcpx_code code = (enum mcpx_code)outside[i];

        cr_expect_not(mcpx_canonical_error(&out, code));
        cr_expect_null(mcpx_code_name(code));
        cr_expect_null(mcpx_code_message(code));
        cr_expect_eq(mcpx_code_status(code), 0);
        cr_expect_eq(mcpx_code_rpc(code), 0);
    }
    cr_expect_eq(out.len, 0);
    cr_expect_not(mcpx_code_find(MCPX_SLICE("TIMEOUT"), &kept));
    cr_expect_not(mcpx_code_find(MCPX_SLICE("invalid_input"), &kept));
    cr_expect_not(mcpx_code_find((struct mcpx_slice){0}, &kept));
    cr_expect_eq(kept, MCPX_CODE_NOT_FOUND);
}

Test(canonical_error, R002_13_numbers_of_others_count_as_one_of_the_five)
{
    static const struct {
        int64_t rpc;
        enum mcpx_code of_protocol, of_server;
    } rows[] = {
        {-32700, MCPX_CODE_INVALID_INPUT, MCPX_CODE_INTERNAL_ERROR},
        {-32600, MCPX_CODE_INVALID_INPUT, MCPX_CODE_INTERNAL_ERROR},
        {-32601, MCPX_CODE_NOT_FOUND, MCPX_CODE_NOT_FOUND},
        {-32602, MCPX_CODE_COUNT, MCPX_CODE_INVALID_INPUT},
        {-32002, MCPX_CODE_COUNT, MCPX_CODE_NOT_FOUND},
        {-32603, MCPX_CODE_COUNT, MCPX_CODE_INTERNAL_ERROR},
        {-32001, MCPX_CODE_COUNT, MCPX_CODE_INTERNAL_ERROR},
        {-32004, MCPX_CODE_COUNT, MCPX_CODE_INTERNAL_ERROR},
        {0, MCPX_CODE_COUNT, MCPX_CODE_INTERNAL_ERROR},
        {INT64_MIN, MCPX_CODE_COUNT, MCPX_CODE_INTERNAL_ERROR},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum mcpx_code found = MCPX_CODE_COUNT;

        cr_expect_eq(mcpx_code_of_protocol(rows[i].rpc, &found),
                     rows[i].of_protocol != MCPX_CODE_COUNT, "row %zu", i);
        cr_expect_eq(found, rows[i].of_protocol, "row %zu", i);
        cr_expect_eq(mcpx_code_of_server(rows[i].rpc), rows[i].of_server, "row %zu", i);
    }
}

Test(canonical_error, a_cause_on_the_wire_says_its_code_its_name_and_what_else_is_known)
{
    static const struct {
        enum mcpx_cause cause;
        struct mcpx_slice errors, more;
        const char *error;
    } rows[] = {
        {MCPX_CAUSE_TOOL_UNKNOWN,
         {NULL, 0},
         {NULL, 0},
         "{\"code\":-32004,\"message\":\"Resource not found\","
         "\"data\":{\"canonical_code\":\"NOT_FOUND\",\"cause\":\"tool_unknown\"}}"},
        {MCPX_CAUSE_INPUT,
         {"[{}]", 4},
         {NULL, 0},
         "{\"code\":-32602,\"message\":\"Invalid params\",\"data\":{\"canonical_code\":"
         "\"INVALID_INPUT\",\"cause\":\"input\",\"errors\":[{}]}}"},
        {MCPX_CAUSE_UNAVAILABLE,
         {NULL, 0},
         {"\"signal\":9", 10},
         "{\"code\":-32603,\"message\":\"Internal error\",\"data\":{\"canonical_code\":"
         "\"INTERNAL_ERROR\",\"cause\":\"unavailable\",\"signal\":9}}"},
        {MCPX_CAUSE_OUTPUT,
         {"[]", 2},
         {"\"a\":1,\"b\":2", 11},
         "{\"code\":-32002,\"message\":\"Invalid tool output\",\"data\":{\"canonical_code\":"
         "\"INVALID_OUTPUT\",\"cause\":\"output\",\"errors\":[],\"a\":1,\"b\":2}}"},
    };
    struct mcpx_text out = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mcpx_text_reset(&out);
        cr_assert(mcpx_cause_error(&out, rows[i].cause, rows[i].errors, rows[i].more));
        cr_expect_str_eq(out.text, rows[i].error);
    }
    mcpx_text_reset(&out);
    cr_expect_not(mcpx_cause_error(&out, MCPX_CAUSE_COUNT, rows[0].errors, rows[0].more));
    cr_expect_not(mcpx_cause_error(&out, (enum mcpx_cause) - 1, rows[0].errors, rows[0].more));
    cr_expect_eq(out.len, 0);
    mcpx_text_fini(&out);
}

Test(canonical_error, a_cause_stands_in_both_envelopes_or_in_none)
{
    for (int i = 0; i < MCPX_CAUSE_COUNT; i++) {
        enum mcpx_cause cause = (enum mcpx_cause)i;
        bool before_the_tool = cause <= MCPX_CAUSE_DENIED;

        cr_expect_not_null(mcpx_cause_name(cause));
        cr_expect_not_null(mcpx_code_name(mcpx_cause_code(cause)));
        cr_expect_eq(!mcpx_cause_in_envelope(cause), before_the_tool, "%s",
                     mcpx_cause_name(cause));
        cr_expect_eq(!mcpx_cause_in_response(cause), before_the_tool, "%s",
                     mcpx_cause_name(cause));
    }
    cr_expect_null(mcpx_cause_name(MCPX_CAUSE_COUNT));
    cr_expect_null(mcpx_cause_in_envelope(MCPX_CAUSE_COUNT));
    cr_expect_null(mcpx_cause_in_response(MCPX_CAUSE_COUNT));
    cr_expect_eq(mcpx_cause_code(MCPX_CAUSE_COUNT), MCPX_CODE_INTERNAL_ERROR);
}
