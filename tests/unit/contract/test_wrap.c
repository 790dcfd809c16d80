/*
 * What breaks for whom: a model or program gets an answer that it cannot read, or one that is not
 * what the tool has returned: a number rounded, an error that looks like a result.
 */
#include "lib/base/scoped.h"
#include "tests/support/count.h"
#include "tests/support/rows.h"
#include "tests/unit/contract/wrap_stage.h"

#include <mcpx/json.h>

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(wrap, .init = stage_set_up, .fini = stage_tear_down);

#define HEAD STAGE_ENVELOPE_HEAD
#define TAIL STAGE_ENVELOPE_TAIL
#define FAILED STAGE_ENVELOPE_FAILED

Test(wrap, R000_1_any_value_is_wrapped)
{
    rows_each("contract/rows/wrap", "R000_1_any_value_is_wrapped", stage_expect);
    cr_expect(!stage.outcome.is_error && !stage.outcome.is_warned && !stage.outcome.is_broken);
}

Test(wrap, R000_2_bytes_of_the_result_are_not_touched)
{
    static const char *const values[] = {
        "{\"b\":1,\"a\":0.1,\"n\":12345678901234567890}",
        "{\"n\":12345678901234567890,\"x\":1e400,\"y\":1.10}",
        "[ 1.0 , -0 ,\t1E+3 ]",
        "{\"\\u0061\":\"\\u00e9\\/\"}",
    };
    char result[200], expected[200];

    for (size_t i = 0; i < COUNT(values); i++) {
        snprintf(result, sizeof result, "{\"structuredContent\": %s ,\"content\":[]}",
                 values[i]);
        snprintf(expected, sizeof expected, HEAD "%s" TAIL, values[i]);
        cr_expect_str_eq(stage_envelope(result), expected);
    }
}

static void expect_answer(char *const row[])
{
    cr_expect_str_eq(stage_answer(row[0]), row[1]);
}

Test(wrap, R000_2_all_else_in_the_answer_is_the_servers)
{
    rows_each("contract/rows/wrap", "R000_2_all_else_in_the_answer_is_the_servers",
              expect_answer);
}

Test(wrap, R000_3_another_schema_version_is_a_value_like_any_other)
{
    rows_each("contract/rows/wrap", "R000_3_another_schema_version_is_a_value_like_any_other",
              stage_expect);
}

#define READY "{ \"schema_version\":\"mcp.envelope.v0.1\", \"result\":1.10 }"

Test(wrap, R000_4_what_is_an_envelope_already_passes_with_its_bytes)
{
    rows_each("contract/rows/wrap", "R000_4_what_is_an_envelope_already_passes_with_its_bytes",
              stage_expect);
    stage.call.form = MCPX_FORM_RESPONSE;
    rows_each("contract/rows/wrap", "R000_4_what_is_an_envelope_already_passes_with_its_bytes",
              stage_expect);
    stage.call.meta = MCPX_SLICE("{\"capture_provenance\":true}");
    rows_each("contract/rows/wrap", "R000_4_what_is_an_envelope_already_passes_with_its_bytes",
              stage_expect);
}

Test(wrap, R000_4_an_envelope_that_reports_an_error_makes_the_answer_one)
{
    stage_envelope("{\"isError\":false,\"structuredContent\":{\"schema_version\":"
                   "\"mcp.envelope.v0.1\",\"result\":null,\"errors\":[{\"code\":\"A\","
                   "\"message\":\"b\"}]}}");
    cr_expect_not_null(strstr(stage.out.text, "{\"isError\":true,"));
    cr_expect(stage.outcome.is_error);
    stage_envelope("{\"isError\":true,\"structuredContent\":" READY "}");
    cr_expect_not_null(strstr(stage.out.text, "{\"isError\":true,"));
    cr_expect(stage.outcome.is_error);
}

/* Broken output never reaches a model; while terms are being tried it does, and is told of. */
Test(wrap, R000_4_an_envelope_that_breaks_its_contract_is_a_failure_or_passes)
{
    static const struct {
        const char *result, *path;
    } rows[] = {
        {"{\"structuredContent\":{\"schema_version\":\"mcp.envelope.v0.1\",\"result\":1,"
         "\"tier\":\"pro\"}}",
         "/tier"},
        {"{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"schema_version\\\":"
         "\\\"mcp.envelope.v0.1\\\"}\"}]}",
         "/result"},
        {"{\"structuredContent\":{\"tier\":\"gold\",\"tool_version\":\"1.0.0\",\"tool_id\":"
         "\"t\",\"request_id\":\"r\",\"capabilities\":[],\"duration_ms\":1,\"error\":null,"
         "\"upgrade_hints\":[],\"data\":1}}",
         "/tier"},
        {"{\"structuredContent\":{\"a\":{\"b\":1,\"b\":2}}}", "/a/b"},
        {"{\"content\":[{\"type\":\"text\",\"text\":\"\\ud800\"}]}", ""},
        {"{\"structuredContent\":1,\"structuredContent\":2}", "/structuredContent"},
        {"[]", ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char expected[64];

        snprintf(expected, sizeof expected, "\"path\":\"%s\"", rows[i].path);
        stage.call.enforce = true;
        cr_expect_not_null(strstr(stage_envelope(rows[i].result), expected), "%s: %s",
                           rows[i].result, stage.out.text);
        cr_expect_not_null(strstr(stage.out.text, "{\"code\":\"ADAPTER.OUTPUT.INVALID\","
                                                  "\"message\":\"Invalid tool output: "));
        cr_expect_not_null(strstr(stage.out.text, "\"canonical_code\":\"INVALID_OUTPUT\""));
        cr_expect_not_null(strstr(stage.out.text, "\"result\":null"));
        cr_expect(stage.outcome.is_broken && stage.outcome.is_error);
        cr_expect_eq(stage.outcome.cause, MCPX_CAUSE_OUTPUT);
        stage.call.enforce = false;
        stage_answer(rows[i].result);
        cr_expect(stage.outcome.is_broken && !stage.outcome.is_error);
        cr_expect(mcpx_slice_equal(stage.outcome.path, mcpx_slice_of(rows[i].path)));
        cr_expect_gt(stage.outcome.expected.len, 0);
        cr_expect_null(strstr(stage.out.text, "ADAPTER"));
    }
}

Test(wrap, R000_11_values_nested_as_deep_as_can_be_are_wrapped)
{
    mx_scoped_text result = {0};

    for (size_t depth = 511; depth <= 512; depth++) {
        mcpx_text_reset(&result);
        mcpx_text_puts(&result, "{\"structuredContent\":");
        for (size_t i = 0; i < depth; i++)
            mcpx_text_puts(&result, "[");
        for (size_t i = 0; i < depth; i++)
            mcpx_text_puts(&result, "]");
        mcpx_text_puts(&result, "}");
        stage_envelope(result.text);
        cr_expect_eq(stage.outcome.is_broken, depth == 512);
    }
}

Test(wrap, R000_18_without_a_wish_the_same_request_gives_the_same_bytes)
{
    static const char result[] = "{\"structuredContent\":1}";

    stage.call.duration_ms = 9;
    cr_expect_str_eq(stage_envelope(result), HEAD "1" TAIL);
    stage.call.meta = MCPX_SLICE("{\"io.mcpx/preferences\":{\"deterministic\":true}}");
    cr_expect_str_eq(stage_envelope(result), HEAD "1" TAIL);
    stage.call.meta = MCPX_SLICE("{\"io.mcpx/preferences\":{\"deterministic\":false}}");
    cr_expect_str_eq(stage_envelope(result),
                     HEAD "1,\"meta\":{\"adapter\":\"mcpx-bridge\",\"request_id\":\"req-1\","
                          "\"duration_ms\":9}" TAIL);
    stage.call.duration_ms = -1;
    cr_expect_not_null(strstr(stage_envelope(result), "\"duration_ms\":0}"));
}

#define PREFER(text) "{\"io.mcpx/preferences\":" text "}"

Test(wrap, R000_20_the_limit_of_a_caller_is_soft)
{
    static const struct {
        const char *meta, *warnings;
    } rows[] = {
        {PREFER("{\"max_output_bytes\":5}"),
         ",\"warnings\":[{\"code\":\"ADAPTER.OUTPUT.OVER_SOFT_LIMIT\",\"message\":"
         "\"result is larger than max_output_bytes\",\"details\":{\"bytes\":6,\"limit\":5}}]"},
        {PREFER("{\"max_output_bytes\":0}"), "\"details\":{\"bytes\":6,\"limit\":0}}]"},
        {PREFER("{\"max_output_bytes\":6}"), NULL},
        {PREFER("{\"max_output_bytes\":6.0}"), NULL},
        {PREFER("{\"max_output_bytes\":5e0}"), "\"limit\":5e0}}]"},
        {PREFER("{\"max_output_bytes\":123456789012345678901}"), NULL},
        {PREFER("{\"max_output_bytes\":-1}"), "{\"member\":\"max_output_bytes\"}}]"},
        {PREFER("{\"max_output_bytes\":1.5}"), "{\"member\":\"max_output_bytes\"}}]"},
        {PREFER("{\"max_output_bytes\":\"5\"}"), "{\"member\":\"max_output_bytes\"}}]"},
        {PREFER("{\"deterministic\":1}"), "{\"member\":\"deterministic\"}}]"},
        {PREFER("7"), "{\"member\":\"io.mcpx/preferences\"}}]"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *envelope;

        stage.call.meta = mcpx_slice_of(rows[i].meta);
        envelope = stage_envelope("{\"structuredContent\":\"1234\"}");
        cr_expect_not_null(strstr(envelope, HEAD "\"1234\""), "%s", envelope);
        cr_expect_eq(strstr(envelope, "warnings") != NULL, rows[i].warnings != NULL);
        cr_expect_eq(stage.outcome.is_warned, rows[i].warnings != NULL);
        if (rows[i].warnings)
            cr_expect_not_null(strstr(envelope, rows[i].warnings), "%s", envelope);
    }
}

Test(wrap, a_result_without_an_answer_passes)
{
    static const char *const results[] = {
        "{ \"task\" : {\"taskId\":\"7\"} }",
        "{\"resultType\":\"input_required\",\"inputRequests\":{}}",
        "{}",
    };

    for (size_t i = 0; i < COUNT(results); i++) {
        cr_expect_str_eq(stage_answer(results[i]), results[i]);
        cr_expect(stage.outcome.is_unready && !stage.outcome.is_broken);
    }
    stage.call.form = MCPX_FORM_AS_IS;
    cr_expect_str_eq(stage_answer("{\"content\":[],\"isError\" : true}"),
                     "{\"content\":[],\"isError\" : true}");
    cr_expect(stage.outcome.is_error && !stage.outcome.is_unready);
}

Test(wrap, a_program_that_is_no_server_has_its_output_in_the_same_envelope)
{
    const struct mcpx_failure failure = {.cause = MCPX_CAUSE_FAILED, .exit_code = 2};
    const struct {
        struct mcpx_output output;
        const char *envelope;
    } rows[] = {
        {{.json = MCPX_SLICE(" {\"y\":1.10}\n")}, HEAD "{\"y\":1.10}" TAIL},
        {{.text = MCPX_SLICE("a\tb")}, HEAD "\"a\\u0009b\"" TAIL},
        {{.text = MCPX_SLICE("")}, HEAD "\"\"" TAIL},
        {{.text = MCPX_SLICE(" " READY "\n")}, READY},
        {{.json = MCPX_SLICE(READY), .failure = &failure}, READY},
        {{.json = MCPX_SLICE("1"), .failure = &failure},
         HEAD "1" FAILED "\"Tool execution failed with exit code 2.\","
              "\"details\":{\"exit_code\":2}}]" TAIL},
        {{.text = MCPX_SLICE("no such file"), .failure = &failure},
         HEAD "\"no such file\"" FAILED "\"Tool execution failed with exit code 2.\","
              "\"details\":{\"exit_code\":2}}]" TAIL},
        {{.failure = &failure},
         HEAD "null" FAILED "\"Tool execution failed with exit code 2.\","
              "\"details\":{\"exit_code\":2}}]" TAIL},
        {{.json = MCPX_SLICE("{\"code\":\"E\",\"message\":\"m\"}"), .failure = &failure},
         HEAD "{\"code\":\"E\",\"message\":\"m\"},\"errors\":[{\"code\":\"E\","
              "\"message\":\"m\"}]" TAIL},
        {{.json = MCPX_SLICE("{")}, NULL},
        {{.text = MCPX_SLICE("\xff")}, NULL},
        {{.failure = NULL}, NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *envelope = stage_output(&rows[i].output);

        cr_expect_eq(envelope == NULL, rows[i].envelope == NULL, "row %zu", i);
        if (envelope)
            cr_expect_str_eq(envelope, rows[i].envelope, "row %zu", i);
        else
            cr_expect_eq(stage.out.len, 0);
    }
}

Test(wrap, a_call_that_has_no_name_or_no_envelope_is_a_mistake_of_the_caller)
{
    const struct mcpx_failure denied = {.cause = MCPX_CAUSE_DENIED},
                              failed = {.cause = MCPX_CAUSE_FAILED};
    mx_scoped_text out = {0};

    cr_expect_eq(mcpx_wrap_failure(stage.wrapper, &stage.call, &denied, &out), MCPX_EINVALID);
    stage.call.form = MCPX_FORM_AS_IS;
    cr_expect_eq(mcpx_wrap_failure(stage.wrapper, &stage.call, &failed, &out), MCPX_EINVALID);
    stage.call.form = MCPX_FORM_RESPONSE;
    stage.call.tool = (struct mcpx_slice){NULL, 0};
    cr_expect_eq(mcpx_wrap_failure(stage.wrapper, &stage.call, &failed, &out), MCPX_EINVALID);
    cr_expect_eq(out.len, 0);
}

Test(wrap, forms_and_tiers_have_names)
{
    enum mcpx_form form = MCPX_FORM_AS_IS;
    enum mcpx_tier tier = MCPX_TIER_ENTERPRISE;

    cr_expect(mcpx_form_find(MCPX_SLICE("response.v1"), &form));
    cr_expect_eq(form, MCPX_FORM_RESPONSE);
    cr_expect_str_eq(mcpx_form_name(MCPX_FORM_AS_IS), "as-is");
    cr_expect_null(mcpx_form_name(MCPX_FORM_COUNT));
    cr_expect_not(mcpx_form_find(MCPX_SLICE("response"), &form));
    cr_expect(mcpx_tier_find(MCPX_SLICE("pro"), &tier));
    cr_expect_eq(tier, MCPX_TIER_PRO);
    cr_expect_not(mcpx_tier_find(MCPX_SLICE("Pro"), &tier));
    cr_expect_null(mcpx_tier_name(MCPX_TIER_COUNT));
}
