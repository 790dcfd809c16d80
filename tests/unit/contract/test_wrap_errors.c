/*
 * What breaks for whom: a model is not told what to correct, a program cannot tell one failure from
 * another, or an error is so long that its envelope is refused.
 */
#include "lib/base/scoped.h"
#include "tests/support/rows.h"
#include "tests/unit/contract/wrap_stage.h"

#include <criterion/criterion.h>

TestSuite(wrap_errors, .init = stage_set_up, .fini = stage_tear_down);

#define HEAD STAGE_ENVELOPE_HEAD
#define TAIL STAGE_ENVELOPE_TAIL
#define FAILED STAGE_ENVELOPE_FAILED

Test(wrap_errors, R000_6_a_program_that_failed_is_told_with_how_it_ended)
{
    const struct mcpx_failure exit = {.cause = MCPX_CAUSE_FAILED, .exit_code = 2},
                              killed = {.cause = MCPX_CAUSE_FAILED, .signal = 9},
                              timeout = {.cause = MCPX_CAUSE_TIMEOUT},
                              input = {.cause = MCPX_CAUSE_INPUT,
                                       .path = MCPX_SLICE("/topK"),
                                       .expected = MCPX_SLICE("must be at most 10")},
                              other = {.cause = MCPX_CAUSE_UNAVAILABLE,
                                       .text = MCPX_SLICE("sums left\nthe topic")};

    cr_expect_str_eq(stage_failure(&exit),
                     HEAD "null" FAILED "\"Tool execution failed with exit code 2.\","
                          "\"details\":{\"exit_code\":2}}]" TAIL);
    cr_expect_str_eq(stage_failure(&killed),
                     HEAD "null" FAILED "\"Tool execution failed with signal 9.\","
                          "\"details\":{\"signal\":9}}]" TAIL);
    cr_expect_str_eq(stage_failure(&timeout),
                     HEAD "null,\"errors\":[{\"code\":\"ADAPTER.EXECUTION.TIMEOUT\","
                          "\"message\":\"Tool did not answer in time.\","
                          "\"details\":{\"canonical_code\":\"INTERNAL_ERROR\"}}]" TAIL);
    cr_expect_str_eq(stage_failure(&input),
                     HEAD "null,\"errors\":[{\"code\":\"ADAPTER.INPUT.INVALID\","
                          "\"message\":\"Invalid params: /topK must be at most 10\","
                          "\"details\":{\"canonical_code\":\"INVALID_INPUT\","
                          "\"path\":\"/topK\"}}]" TAIL);
    cr_expect_str_eq(stage_failure(&other),
                     HEAD "null,\"errors\":[{\"code\":\"ADAPTER.EXECUTION.UNAVAILABLE\","
                          "\"message\":\"sums left\","
                          "\"details\":{\"canonical_code\":\"INTERNAL_ERROR\"}}]" TAIL);
}

Test(wrap_errors, R000_6_what_a_tool_returned_in_spite_of_its_failure_is_kept)
{
    rows_each("contract/rows/wrap",
              "R000_6_what_a_tool_returned_in_spite_of_its_failure_is_kept", stage_expect);
    cr_expect(stage.outcome.is_error && !stage.outcome.is_broken);
    cr_expect_eq(stage.outcome.cause, MCPX_CAUSE_FAILED);
}

Test(wrap_errors, R000_7_codes_of_the_tool_go_first)
{
    const struct mcpx_failure failure = {
        .cause = MCPX_CAUSE_FAILED,
        .error = MCPX_SLICE("{\"code\":-32000,\"message\":\"x\",\"data\":{\"stack\":\"s\"}}")};

    rows_each("contract/rows/wrap", "R000_7_codes_of_the_tool_go_first", stage_expect);
    cr_expect_str_eq(stage_failure(&failure),
                     HEAD "null" FAILED "\"x\",\"details\":{\"jsonrpc_code\":-32000}}]" TAIL);
}

Test(wrap_errors, R000_8_details_are_scalars)
{
    rows_each("contract/rows/wrap", "R000_8_details_are_scalars", stage_expect);
}

/* Appends `count` times the same sign of four bytes. */
static void add_signs(struct mcpx_text *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mcpx_text_puts(out, "\360\237\230\200");
}

Test(wrap_errors, R000_9_lengths_are_cut_between_code_points)
{
    mx_scoped_text result = {0}, expected = {0};

    mcpx_text_puts(&result, "{\"isError\":true,\"structuredContent\":{\"code\":\"");
    add_signs(&result, 201);
    mcpx_text_puts(&result, "\",\"message\":\"");
    add_signs(&result, 2001);
    mcpx_text_puts(&result, "\"}}");
    mcpx_text_puts(&expected, ",\"errors\":[{\"code\":\"");
    add_signs(&expected, 200);
    mcpx_text_puts(&expected, "\",\"message\":\"");
    add_signs(&expected, 2000);
    mcpx_text_puts(&expected, "\"}]" TAIL);
    cr_expect_not_null(strstr(stage_envelope(result.text), expected.text));
    mcpx_text_reset(&result);
    mcpx_text_puts(&result, "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"");
    add_signs(&result, 2001);
    mcpx_text_puts(&result, "\"}]}");
    mcpx_text_reset(&expected);
    mcpx_text_puts(&expected, FAILED "\"");
    add_signs(&expected, 2000);
    mcpx_text_puts(&expected, "\"}]" TAIL);
    cr_expect_not_null(strstr(stage_envelope(result.text), expected.text));
}
