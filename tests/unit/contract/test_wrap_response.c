/*
 * What breaks for whom: a program that branches on error codes takes the wrong branch; a model is
 * shown code that it was not meant to see; a client that counts on nine members misses one.
 */
#include "lib/base/scoped.h"
#include "tests/support/count.h"
#include "tests/unit/contract/wrap_stage.h"

#include <mcpx/json.h>

#include <criterion/criterion.h>
#include <stdio.h>

static void set_up(void)
{
    stage_set_up();
    stage.call.form = MCPX_FORM_RESPONSE;
    stage.call.tool = MCPX_SLICE("security_scan");
}

TestSuite(response, .init = set_up, .fini = stage_tear_down);

/* The first members of an answer, as far as most tests do not change them. */
#define HEAD                                                                                  \
    "{\"tier\":\"community\",\"tool_version\":\"0.0.0\",\"tool_id\":\"security_scan\","       \
    "\"request_id\":\"req-1\",\"capabilities\":[\"envelope-v1\"],\"duration_ms\":27,"

static void expect(const char *result, const char *rest)
{
    const char *envelope = stage_envelope(result);

    cr_expect_eq(strncmp(envelope, HEAD, strlen(HEAD)), 0, "%s", envelope);
    cr_expect_str_eq(envelope + strlen(HEAD), rest, "%s", result);
}

Test(response, R001_1_all_nine_members_are_there)
{
    stage.call.tier = MCPX_TIER_PRO;
    stage.call.tool_version = MCPX_SLICE("1.0.0");
    cr_expect_str_eq(
        stage_envelope("{\"structuredContent\":{\"risk_level\":\"high\",\"findings\":[]}}"),
        "{\"tier\":\"pro\",\"tool_version\":\"1.0.0\",\"tool_id\":\"security_scan\","
        "\"request_id\":\"req-1\",\"capabilities\":[\"envelope-v1\"],\"duration_ms\":27,"
        "\"error\":null,\"upgrade_hints\":[],\"data\":{\"risk_level\":\"high\","
        "\"findings\":[]}}");
    cr_expect(!stage.outcome.is_error);
}

Test(response, R001_3_the_version_is_semver_wherever_it_is_from)
{
    static const struct {
        const char *terms, *server, *version;
    } rows[] = {
        {"3.2.8", "1.0.0", "3.2.8"},
        {NULL, "1.0.0-rc.1+build.007", "1.0.0-rc.1+build.007"},
        {NULL, "1.0.0--a.0", "1.0.0--a.0"},
        {"v1.2", "2.0.0", "2.0.0"},
        {NULL, NULL, "0.0.0"},
        {NULL, "", "0.0.0"},
        {NULL, "1.0", "0.0.0"},
        {NULL, "1.0.0.0", "0.0.0"},
        {NULL, "01.0.0", "0.0.0"},
        {NULL, "1.0.0-01", "0.0.0"},
        {NULL, "1.0.0-a..b", "0.0.0"},
        {NULL, "1.0.0-", "0.0.0"},
        {NULL, "1.0.0+", "0.0.0"},
        {NULL, "1.0.0+a_b", "0.0.0"},
        {NULL, "1.0.0 ", "0.0.0"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char expected[64];

        stage.call.tool_version = mcpx_slice_of(rows[i].terms);
        stage.call.server_version = mcpx_slice_of(rows[i].server);
        snprintf(expected, sizeof expected, "\"tool_version\":\"%s\",", rows[i].version);
        cr_expect_not_null(strstr(stage_envelope("{\"structuredContent\":1}"), expected),
                           "%s: %s", rows[i].server, stage.out.text);
    }
}

Test(response, R001_4_R001_7_R001_8_of_the_call_it_says_what_the_edge_knows)
{
    stage.call.tool = MCPX_SLICE("billing.aws.ingest");
    stage.call.capabilities = MCPX_SLICE("[\"sarif\",7,\"b\\u0061\"]");
    stage.call.duration_ms = -5;
    cr_expect_str_eq(stage_envelope("{\"structuredContent\":1}"),
                     "{\"tier\":\"community\",\"tool_version\":\"0.0.0\","
                     "\"tool_id\":\"billing.aws.ingest\",\"request_id\":\"req-1\","
                     "\"capabilities\":[\"envelope-v1\",\"sarif\",\"b\\u0061\"],"
                     "\"duration_ms\":0,\"error\":null,\"upgrade_hints\":[],\"data\":1}");
}

/* A client chooses the id of its call, and must not fill every log that keeps answers. */
Test(response, R001_4_the_id_of_the_call_is_cut)
{
    static char id[1000 + 1];
    char expected[256];

    memset(id, 'i', sizeof id - 1);
    stage.call.request_id = mcpx_slice_of(id);
    snprintf(expected, sizeof expected, "\"request_id\":\"%.200s\",", id);
    cr_expect_not_null(strstr(stage_envelope("{\"structuredContent\":1}"), expected), "%s",
                       stage.out.text);
}

Test(response, R001_9_error_is_null_exactly_when_the_call_succeeded)
{
    expect(
        "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":"
        "\"File not found: /missing.py.\"}]}",
        "\"error\":{\"error\":\"File not found: /missing.py.\",\"error_code\":\"not_found\","
        "\"error_details\":null},\"upgrade_hints\":[],"
        "\"data\":\"File not found: /missing.py.\"}");
    cr_expect(stage.outcome.is_error);
    expect("{\"structuredContent\":{\"success\":false,\"error\":\"no such file\"}}",
           "\"error\":{\"error\":\"no such file\",\"error_code\":\"not_found\","
           "\"error_details\":null},\"upgrade_hints\":[],"
           "\"data\":{\"success\":false,\"error\":\"no such file\"}}");
    cr_expect(stage.outcome.is_error);
    cr_expect_not_null(strstr(stage.out.text, "\"isError\":true"));
    expect("{\"structuredContent\":{\"success\":\"false\",\"error\":\"no such file\"}}",
           "\"error\":null,\"upgrade_hints\":[],"
           "\"data\":{\"success\":\"false\",\"error\":\"no such file\"}}");
    cr_expect(!stage.outcome.is_error);
    stage.call.form = MCPX_FORM_ENVELOPE;
    stage_envelope("{\"structuredContent\":{\"success\":false,\"error\":\"no such file\"}}");
    cr_expect(!stage.outcome.is_error);
}

Test(response, R001_10_a_code_of_the_tool_that_is_none_of_the_eleven_is_a_detail)
{
    expect("{\"isError\":true,\"structuredContent\":{\"error\":\"it broke\","
           "\"error_code\":\"E_FOO\"}}",
           "\"error\":{\"error\":\"it broke\",\"error_code\":\"internal_error\","
           "\"error_details\":{\"tool_code\":\"E_FOO\"}},\"upgrade_hints\":[],"
           "\"data\":{\"error\":\"it broke\",\"error_code\":\"E_FOO\"}}");
    expect("{\"isError\":true,\"structuredContent\":{\"errors\":[{\"code\":\"E_FOO\","
           "\"message\":\"it broke\"},{\"code\":\"too_large\",\"message\":\"b\"}]}}",
           "\"error\":{\"error\":\"it broke\",\"error_code\":\"too_large\","
           "\"error_details\":{\"tool_code\":\"E_FOO\"}},\"upgrade_hints\":[],"
           "\"data\":{\"errors\":[{\"code\":\"E_FOO\",\"message\":\"it broke\"},"
           "{\"code\":\"too_large\",\"message\":\"b\"}]}}");
}

static const char *code_in(const char *envelope)
{
    static char code[40];
    const char *at = strstr(envelope, "\"error_code\":\"");

    cr_assert_not_null(at, "%s", envelope);
    sscanf(at + strlen("\"error_code\":\""), "%39[a-z_]", code);
    return code;
}

Test(response, R001_11_what_a_message_says_is_classified_in_order)
{
    static const struct {
        const char *message, *code;
    } rows[] = {
        {"File Not Found", "not_found"},
        {"ENOENT: no such file or directory", "not_found"},
        {"/tmp is not a file", "invalid_argument"},
        {"topK must be at most 10", "invalid_argument"},
        {"name cannot be empty", "invalid_argument"},
        {"Invalid path: ..", "invalid_path"},
        {"path traversal", "invalid_path"},
        {"Permission denied", "forbidden"},
        {"FORBIDDEN", "forbidden"},
        {"permission timeout", "forbidden"},
        {"request timeout", "timeout"},
        {"it timed out", "timeout"},
        {"body too large", "too_large"},
        {"exceeds maximum of 5", "too_large"},
        {"not implemented", "not_implemented"},
        {"requires Pro tier", "upgrade_required"},
        {"requires ENTERPRISE", "upgrade_required"},
        {"Upgrade: see the web site", "upgrade_required"},
        {"file must be there, file not found", "not_found"},
        {"it broke", "internal_error"},
        {"it broke\\nfile not found", "internal_error"},
        {"", "internal_error"},
    };
    char result[200];

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_failure failure = {.cause = MCPX_CAUSE_FAILED};

        snprintf(result, sizeof result,
                 "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}",
                 rows[i].message);
        cr_expect_str_eq(code_in(stage_envelope(result)), rows[i].code, "%s", rows[i].message);
        snprintf(result, sizeof result, "{\"code\":-32000,\"message\":\"%s\"}",
                 rows[i].message);
        failure.error = mcpx_slice_of(result);
        cr_expect_str_eq(code_in(stage_failure(&failure)), rows[i].code, "%s",
                         rows[i].message);
        cr_expect_not_null(
            strstr(stage.out.text, "\"error_details\":{\"jsonrpc_code\":-32000}"));
    }
}

Test(response, R001_11_what_is_said_exactly_goes_before_words)
{
    static const struct mcpx_failure path = {.cause = MCPX_CAUSE_OUTPUT,
                                             .path = {"/x", 2},
                                             .expected = {"must be a file, not found", 25}};

    cr_expect_str_eq(
        code_in(stage_envelope("{\"isError\":true,\"structuredContent\":{\"code\":\"timeout\","
                               "\"message\":\"permission denied\"}}")),
        "timeout");
    cr_expect_str_eq(code_in(stage_failure(&path)), "internal_error");
    for (int cause = 0; cause < MCPX_CAUSE_COUNT; cause++) {
        struct mcpx_failure failure = {.cause = (enum mcpx_cause)cause,
                                       .text = MCPX_SLICE("permission denied")};
        const char *code = mcpx_cause_in_response(failure.cause);

        if (code)
            cr_expect_str_eq(code_in(stage_failure(&failure)),
                             cause == MCPX_CAUSE_FAILED ? "forbidden" : code);
    }
}

#define CODE "def f():\\n    return S3CR3T_SNIPPET(42)\\n"

/* No line of a program that was handed over comes back in the error; the tool's own data may. */
Test(response, R001_12_no_code_of_the_arguments_is_in_the_error)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"SyntaxError: return S3CR3T_SNIPPET(42)", "Tool failed"},
        {"return S3CR3T_SNIPPET(42)\\n  at f.py:2", "Tool failed"},
        {"SyntaxError in line 2\\n    return S3CR3T_SNIPPET(42)\\n  at f.py:2",
         "SyntaxError in line 2"},
        {"def f(): is short", "def f(): is short"},
        {"one line of an argument: one line only", "one line of an argument: one line only"},
    };
    char result[300], expected[100];

    stage.call.arguments =
        MCPX_SLICE("{\"files\":[{\"code\":\"" CODE "\"}],\"title\":\"one line only\"}");
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *envelope;

        snprintf(result, sizeof result,
                 "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}",
                 rows[i].text);
        snprintf(expected, sizeof expected, "\"error\":{\"error\":\"%s\",", rows[i].error);
        envelope = stage_envelope(result);
        cr_expect_not_null(strstr(envelope, expected), "%s", envelope);
        cr_expect_null(strstr(strstr(envelope, "\"error\":{"), "at f.py\",\"error_code"));
    }
    stage_envelope("{\"isError\":true,\"structuredContent\":{\"error\":\"x\",\"code\":"
                   "\"return S3CR3T_SNIPPET(42)\"}}");
    cr_expect_not_null(strstr(stage.out.text, "\"error_details\":null"));
    stage.call.form = MCPX_FORM_ENVELOPE;
    stage_envelope("{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":"
                   "\"return S3CR3T_SNIPPET(42)\"}]}");
    cr_expect_not_null(strstr(stage.out.text, "\"message\":\"Tool failed\""));
}

Test(response, R001_12_errors_are_one_short_line)
{
    mx_scoped_text result = {0}, expected = {0};

    mcpx_text_puts(&result, "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"");
    mcpx_text_puts(&expected, "\"error\":{\"error\":\"");
    for (int i = 0; i < 301; i++) {
        mcpx_text_puts(&result, "\303\251");
        mcpx_text_puts(&expected, i < 300 ? "\303\251" : "\",");
    }
    mcpx_text_puts(&result, "\\r\\nstack\"}]}");
    cr_expect_not_null(strstr(stage_envelope(result.text), expected.text));
}

Test(response, R001_13_a_higher_tier_is_hinted_at)
{
    static const struct mcpx_failure failure = {.cause = MCPX_CAUSE_TIER};
    const char *envelope;

    stage.call.needed = MCPX_TIER_PRO;
    envelope = stage_failure(&failure);
    cr_expect_str_eq(envelope + strlen(HEAD),
                     "\"error\":{\"error\":\"tool requires tier pro\","
                     "\"error_code\":\"upgrade_required\","
                     "\"error_details\":{\"canonical_code\":\"UNAUTHORIZED\"}},"
                     "\"upgrade_hints\":[{\"feature\":\"security_scan\",\"tier\":\"pro\","
                     "\"reason\":\"tool requires tier pro\"}],\"data\":null}");
}

Test(response, R001_16_data_is_any_value_with_its_bytes)
{
    static const char *const values[] = {
        "null", "[ 1.10,1e400 ]", "12345678901234567890", "\"\\u00e9\"", "{\"success\":true}",
    };
    char result[100], expected[100];

    for (size_t i = 0; i < COUNT(values); i++) {
        snprintf(result, sizeof result, "{\"structuredContent\":%s}", values[i]);
        snprintf(expected, sizeof expected, "\"error\":null,\"upgrade_hints\":[],\"data\":%s}",
                 values[i]);
        expect(result, expected);
    }
}

#define READY                                                                                 \
    "{\"tier\":\"pro\",\"tool_version\":\"1.0.0\",\"tool_id\":\"x\",\"request_id\":\"own\","  \
    "\"capabilities\":[],\"duration_ms\":1.10,\"error\":null,\"upgrade_hints\":[],"           \
    "\"data\":1e400}"

Test(response, R001_17_an_envelope_with_all_nine_members_passes)
{
    cr_expect_str_eq(stage_envelope("{\"structuredContent\":" READY "}"), READY);
    expect("{\"structuredContent\":{\"tier\":\"pro\"}}",
           "\"error\":null,\"upgrade_hints\":[],\"data\":{\"tier\":\"pro\"}}");
    stage.call.form = MCPX_FORM_ENVELOPE;
    cr_expect_str_eq(stage_envelope("{\"structuredContent\":" READY "}"), READY);
}
