/*
 * What breaks for whom: an auditor cannot tell what an answer was made from, or is told what is not
 * true; a guest has files of this machine hashed.
 */
#include "lib/base/scoped.h"
#include "tests/support/count.h"
#include "tests/unit/contract/wrap_stage.h"

#include <mcpx/digest.h>
#include <mcpx/json.h>

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(provenance, .init = stage_set_up, .fini = stage_tear_down);

#define RESULT "{\"structuredContent\":1}"
#define RUN "f887e2a6-0db8-537a-9242-59c88b19d96f"
#define EMPTY "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

/* The record in the envelope of a result; "null" where there is none. Lent until the next. */
static const char *record_of(const char *result, const char *meta)
{
    static char text[4096];
    struct mcpx_slice record;

    stage.call.meta = mcpx_slice_of(meta);
    stage_envelope(result);
    record = mcpx_json_get(mcpx_json_get(mcpx_text_view(&stage.out), "structuredContent"),
                           "provenance");
    snprintf(text, sizeof text, "%.*s", (int)record.len, record.text);
    return text;
}

static bool warns(const char *code)
{
    return stage.outcome.is_warned && strstr(stage.out.text, code);
}

Test(provenance, R000_12_there_is_none_unless_it_is_asked_for)
{
    static const char *const metas[] = {
        NULL,
        "{}",
        "{\"capture_provenance\":false}",
        "{\"capture_artifacts\":true}",
        "{\"provenance_mode\":\"full\"}",
        "7",
    };

    for (size_t i = 0; i < COUNT(metas); i++) {
        cr_expect_str_eq(record_of(RESULT, metas[i]), "null", "%s", metas[i]);
        cr_expect(!stage.outcome.is_warned, "%s", metas[i]);
    }
    stage.call.form = MCPX_FORM_RESPONSE;
    stage.call.meta = MCPX_SLICE("{\"capture_provenance\":true}");
    cr_expect_null(strstr(stage_envelope(RESULT), "prov"));
}

Test(provenance, R000_13_a_record_says_what_was_called_and_what_came_of_it)
{
    cr_expect_str_eq(
        record_of(RESULT, "{\"capture_provenance\":true}"),
        "{\"schema_version\":\"prov.record.v0.1\",\"run_id\":\"" RUN "\","
        "\"tool\":{\"name\":\"get-sum\",\"version\":\"0.0.0\",\"adapter\":\"mcp\"},"
        "\"inputs\":[{\"schema_version\":\"artifact.v0.1\",\"artifact_id\":\"arguments\","
        "\"media_type\":\"application/json\"}],"
        "\"outputs\":[{\"schema_version\":\"artifact.v0.1\",\"artifact_id\":\"result\","
        "\"media_type\":\"application/json\"}],"
        "\"methods\":[\"adapter.wrap.envelope_v0_1\",\"adapter.provenance.attach_record_v0_"
        "1\","
        "\"engine.prov.record_v0_1.build\"],\"evidence\":[],\"parents\":[]}");
    stage.call.server_version = MCPX_SLICE("v7");
    cr_expect_not_null(
        strstr(record_of(RESULT, "{\"capture_provenance\":true}"), "\"version\":\"v7\""));
    stage.call.tool_version = MCPX_SLICE("1.2.3");
    cr_expect_not_null(
        strstr(record_of(RESULT, "{\"capture_provenance\":true}"), "\"version\":\"1.2.3\""));
}

Test(provenance, R000_13_only_what_is_true_is_claimed)
{
    static const struct mcpx_failure failure = {.cause = MCPX_CAUSE_TIMEOUT};
    const char *record =
        record_of("{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no\"}]}",
                  "{\"capture_provenance\":true,\"provenance_mode\":7}");

    cr_expect_not_null(strstr(record, "\"adapter.errors.capture\","
                                      "\"adapter.warnings.capture\"]"));
    cr_expect_not_null(strstr(record, "\"media_type\":\"text/plain\""));
    stage.call.meta = MCPX_SLICE("{\"capture_provenance\":true}");
    record = stage_failure(&failure);
    cr_expect_not_null(strstr(record, "\"outputs\":[]"));
    cr_expect_not_null(strstr(record, "\"adapter.errors.capture\"]"));
}

Test(provenance, R000_13_what_is_no_wish_is_none_and_is_told)
{
    static const char *const metas[] = {
        "{\"capture_provenance\":\"yes\"}", "{\"capture_provenance\":null}",
        "{\"capture_artifacts\":1}",        "{\"provenance_mode\":\"all\"}",
        "{\"provenance_mode\":true}",
    };

    for (size_t i = 0; i < COUNT(metas); i++) {
        cr_expect_str_eq(record_of(RESULT, metas[i]), "null");
        cr_expect(warns("\"ADAPTER.META.INVALID\""), "%s", metas[i]);
    }
    cr_expect_not_null(strstr(stage.out.text, "provenance_mode must be minimal or full"));
}

#define CAPTURE "{\"capture_provenance\":true,\"capture_artifacts\":true}"
#define DIGEST(value) "\"digest\":{\"alg\":\"sha256\",\"value\":\"" value "\"}"

Test(provenance, R000_14_what_passed_through_is_digested_when_that_is_asked_for)
{
    static const struct {
        const char *arguments, *result, *input, *output;
    } rows[] = {
        {NULL, "{\"structuredContent\":{\"n\": 1.10}}", DIGEST(EMPTY),
         DIGEST("8034c4720065eae22c13e6d978d0ee75aa402cdd2c402250692689a4cf8bd7b2")},
        {"{\"a\":1.0}", "{\"content\":[{\"type\":\"text\",\"text\":\"\\u00e9\\n\"}]}",
         DIGEST("015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"),
         "\"media_type\":\"text/plain\"," DIGEST(
             "edd3a863872a04239eb29ad4bc12fc892b3d4ae57cc7e786a3697816f8e141c2")},
        {"{}", "{\"structuredContent\":{}}", DIGEST(EMPTY), DIGEST(EMPTY)},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *record, *outputs;

        stage.call.arguments = mcpx_slice_of(rows[i].arguments);
        record = record_of(rows[i].result, CAPTURE);
        outputs = strstr(record, "\"outputs\"");
        cr_assert_not_null(outputs, "%s", record);
        cr_expect_not_null(strstr(record, rows[i].input), "%s", record);
        cr_expect_lt(strstr(record, rows[i].input), outputs);
        cr_expect_not_null(strstr(outputs, rows[i].output), "%s", record);
        cr_expect_not_null(strstr(record, "\"integrity.digest.sha256\""));
    }
    cr_expect_null(strstr(record_of(RESULT, "{\"capture_provenance\":true}"), "sha256"));
    cr_expect_null(strstr(record_of(RESULT, "{\"capture_artifacts\":true}"), "sha256"));
}

#define FULL "{\"capture_provenance\":true,\"provenance_mode\":\"full\"}"

Test(provenance, R000_15_a_full_record_has_sizes_a_parent_and_its_own_digest)
{
    static const char digest[] =
        "\"parents\":[],\"integrity\":{\"record_digest\":{\"alg\":\"sha256\",\"value\":"
        "\"716496af31fa6f6f5c0bc52eda61e5fba377bb0dde1682c7063edcdc1340c36c\"}}}";
    const char *record = record_of(RESULT, FULL);

    cr_expect_not_null(strstr(record, digest), "%s", record);
    cr_expect_not_null(strstr(record, "\"artifact_id\":\"result\",\"media_type\":"
                                      "\"application/json\",\"size_bytes\":1}"));
    cr_expect_not_null(strstr(record, "\"integrity.record_digest.compute\"]"));
    stage.call.parent = MCPX_SLICE("proposal-7");
    record = record_of(RESULT, FULL);
    cr_expect_not_null(strstr(record, "\"lineage.parent.link\"],"));
    cr_expect_not_null(strstr(record, "\"parents\":[\"proposal-7\"],"));
    record = record_of(RESULT, "{\"capture_provenance\":true}");
    cr_expect_not_null(strstr(record, "\"parents\":[]}"));
    cr_expect_null(strstr(record, "lineage"));
}

/* Who has the record can check it: the digest is that of the record without `integrity`. */
Test(provenance, R000_15_the_digest_of_a_record_can_be_checked)
{
    const struct mcpx_json_change less = {"integrity", {NULL, 0}};
    char sum[MCPX_SHA256_LEN + 1], expected[120];
    mx_scoped_text rest = {0};
    const char *record;

    stage.call.wall_ms = 1700000000123;
    stage.call.run_id = MCPX_SLICE("0123456789abcdef0123456789abcdef");
    record = record_of(RESULT, "{\"capture_provenance\":true,\"provenance_mode\":\"full\","
                               "\"io.mcpx/preferences\":{\"deterministic\":false}}");
    cr_expect_not_null(strstr(record, "\"time\":\"2023-11-14T22:13:20.123Z\""), "%s", record);
    cr_expect_not_null(strstr(record, "\"run_id\":\"01234567-89ab-cdef-0123-456789abcdef\""));
    mcpx_json_add_changed(&rest, mcpx_slice_of(record), &less, 1);
    cr_assert_eq(mcpx_digest_json(mcpx_text_view(&rest), sum, NULL), MCPX_OK);
    snprintf(expected, sizeof expected, "\"value\":\"%s\"", sum);
    cr_expect_not_null(strstr(record, expected), "%s", record);
}

Test(provenance, R000_16_what_a_caller_names_is_copied_and_never_opened)
{
    const char *record = record_of(
        RESULT,
        "{\"capture_provenance\":true,\"capture_artifacts\":true,\"io.mcpx/artifacts\":["
        "{\"schema_version\":\"artifact.ref.v0.1\",\"locator\":\"file:///etc/passwd\"},"
        "{\"schema_version\":\"artifact.ref.v0.1\",\"artifact_id\":\"a\",\"media_type\":"
        "\"text/csv\",\"locator\":\"https://example.com/\",\"labels\":{\"k\":\"v\"},"
        "\"digest\":{\"alg\":\"sha256\",\"value\":\"" EMPTY "\"}}]}");

    cr_expect_not_null(
        strstr(record,
               "{\"schema_version\":\"artifact.v0.1\","
               "\"artifact_id\":\"file:///etc/passwd\",\"media_type\":"
               "\"application/octet-stream\",\"locator\":\"file:///etc/passwd\"},"
               "{\"schema_version\":\"artifact.v0.1\",\"artifact_id\":\"a\","
               "\"media_type\":\"text/csv\",\"locator\":\"https://example.com/\"," DIGEST(
                   EMPTY) ",\"labels\":{\"k\":\"v\"}}],\"outputs\""),
        "%s", record);
    cr_expect(!stage.outcome.is_warned);
    record =
        record_of(RESULT, "{\"capture_provenance\":true,\"io.mcpx/artifacts\":["
                          "{\"schema_version\":\"artifact.ref.v0.1\"},7,"
                          "{\"schema_version\":\"artifact.ref.v0.1\",\"locator\":\"l\"}]}");
    cr_expect_not_null(strstr(record, ",\"locator\":\"l\"}],\"outputs\""), "%s", record);
    cr_expect(warns("must be a list of artifact.ref.v0.1"));
    record_of(RESULT, "{\"capture_provenance\":true,\"io.mcpx/artifacts\":{}}");
    cr_expect(warns("must be a list of artifact.ref.v0.1"));
}

Test(provenance, R000_17_without_a_digest_there_is_no_record_and_the_call_succeeds)
{
    stage.call.arguments = MCPX_SLICE("{\"a\":1,\"a\":2}");
    cr_expect_str_eq(record_of(RESULT, CAPTURE), "null");
    cr_expect(warns("\"ADAPTER.PROVENANCE.UNAVAILABLE\""));
    cr_expect(!stage.outcome.is_error);
    cr_expect_str_neq(record_of(RESULT, FULL), "null");
}

Test(provenance, R000_18_a_deterministic_record_is_the_same_for_the_same_request)
{
    static char first[4096];

    stage.call.run_id = MCPX_SLICE("0123456789abcdef0123456789abcdef");
    snprintf(first, sizeof first, "%s", record_of(RESULT, FULL));
    stage.call.run_id = MCPX_SLICE("fedcba9876543210fedcba9876543210");
    stage.call.wall_ms = 1;
    cr_expect_str_eq(record_of(RESULT, FULL), first);
    cr_expect_not_null(strstr(first, RUN));
    cr_expect_null(strstr(first, "\"time\""));
    stage.call.request_id = MCPX_SLICE("req-2");
    cr_expect_str_neq(record_of(RESULT, FULL), first);
}
