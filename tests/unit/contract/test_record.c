/*
 * What breaks for whom: somebody counts calls by their lines and misses one, or a program that
 * reads a log stops at a line that is not what the contract promises.
 */
#include "tests/unit/contract/schema_stage.h"

#include "lib/json/json_write.h"
#include "tests/support/count.h"

#include <mcpx/json.h>
#include <mcpx/record.h>

#include <criterion/criterion.h>
#include <stdlib.h>

static struct mcpx_text line;
static int64_t latest;

static void tear_down(void)
{
    mcpx_text_fini(&line);
    stage_tear_down();
}

TestSuite(record, .init = stage_set_up, .fini = tear_down);

/* The line's object. */
static struct mcpx_slice said(void)
{
    return (struct mcpx_slice){line.text, line.len - 1};
}

static const char *telemetry(const struct mcpx_telemetry *event)
{
    mcpx_text_reset(&line);
    mcpx_telemetry_add(&line, event, &latest);
    cr_assert_not(line.failed);
    return line.text;
}

static const char *validation(const struct mcpx_validation *call)
{
    mcpx_text_reset(&line);
    mcpx_validation_add(&line, call, &latest);
    cr_assert_not(line.failed);
    return line.text;
}

/* 2026-11-22T05:54:52.123Z */
enum { MS = 123 };
static const int64_t noon = INT64_C(1795326892) * 1000 + MS;

Test(record, R004_15_16_18_events_have_the_members_of_their_contract_and_no_others)
{
    const struct mcpx_telemetry base = {
        .wall_ms = noon,
        .request_id = MCPX_SLICE("r-1"),
        .trace_id = MCPX_SLICE("t-1"),
        .tool = MCPX_SLICE("billing.run"),
        .alias = MCPX_SLICE("finops.billing.run"),
        .fixture_version = MCPX_SLICE("1.0"),
        .tool_namespace = MCPX_SLICE("billing"),
        .actor = MCPX_SLICE("human"),
        .mode = MCPX_SLICE("quick"),
        .schema_version = MCPX_SLICE("sha256:a2c799262a3c"),
        .category = MCPX_CODE_COUNT,
        .duration_us = 3204,
    };
    static const char *const rows[] = {
        "{\"eventName\":\"mcp.alias.call\",\"ts\":\"2026-11-22T05:54:52.123Z\","
        "\"requestId\":\"r-1\",\"traceId\":\"t-1\",\"aliasName\":\"finops.billing.run\","
        "\"canonicalToolName\":\"billing.run\",\"parityFixtureVersion\":\"1.0\"}\n",
        "{\"eventName\":\"mcp.tool.call\",\"ts\":\"2026-11-22T05:54:52.123Z\","
        "\"requestId\":\"r-1\",\"traceId\":\"t-1\",\"toolName\":\"billing.run\","
        "\"namespace\":\"billing\",\"actor\":\"human\",\"mode\":\"quick\","
        "\"inputSchemaVersion\":\"sha256:a2c799262a3c\"}\n",
        "{\"eventName\":\"mcp.tool.result\",\"ts\":\"2026-11-22T05:54:52.123Z\","
        "\"requestId\":\"r-1\",\"traceId\":\"t-1\",\"toolName\":\"billing.run\","
        "\"status\":\"ok\",\"durationMs\":3.204,\"errorCategory\":null,"
        "\"outputSchemaVersion\":\"sha256:a2c799262a3c\"}\n",
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_telemetry event = base;

        event.event = (enum mcpx_telemetry_event)i;
        cr_expect_str_eq(telemetry(&event), rows[i]);
    }
}

Test(record, R004_16_17_an_outcome_has_the_category_that_goes_with_it)
{
    static const struct {
        enum mcpx_outcome outcome;
        enum mcpx_code category;
        const char *says;
    } rows[] = {
        {MCPX_OUTCOME_OK, MCPX_CODE_COUNT, "\"status\":\"ok\",\"errorCategory\":null"},
        {MCPX_OUTCOME_OK, MCPX_CODE_NOT_FOUND, "\"status\":\"ok\",\"errorCategory\":null"},
        {MCPX_OUTCOME_DEGRADED, MCPX_CODE_COUNT,
         "\"status\":\"degraded\",\"errorCategory\":null"},
        {MCPX_OUTCOME_DEGRADED, MCPX_CODE_INVALID_OUTPUT,
         "\"status\":\"degraded\",\"errorCategory\":\"INVALID_OUTPUT\""},
        {MCPX_OUTCOME_ERROR, MCPX_CODE_INVALID_INPUT,
         "\"status\":\"error\",\"errorCategory\":\"INVALID_INPUT\""},
        {MCPX_OUTCOME_ERROR, MCPX_CODE_UNAUTHORIZED,
         "\"status\":\"error\",\"errorCategory\":\"UNAUTHORIZED\""},
        {MCPX_OUTCOME_ERROR, MCPX_CODE_COUNT,
         "\"status\":\"error\",\"errorCategory\":\"INTERNAL_ERROR\""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_telemetry event = {.event = MCPX_TELEMETRY_RESULT,
                                       .outcome = rows[i].outcome,
                                       .category = rows[i].category};

        telemetry(&event);
        mcpx_text_reset(&draft);
        mx_format(&draft, "\"status\":%s,\"errorCategory\":%s",
                  mcpx_json_get(said(), "status"), mcpx_json_get(said(), "errorCategory"));
        cr_expect_str_eq(draft.text, rows[i].says);
        cr_expect_eq(mcpx_contracts_validate(contracts, MCPX_CONTRACT_EVENT, said(), &report),
                     MCPX_OK, "%s", line.text);
    }
}

/* Whoever calls could fill the disk: ids, names and paths come from outside. */
Test(record, no_text_from_outside_is_longer_than_its_bound)
{
    mx_scoped_text id = {0}, cut = {0};
    struct mcpx_slice text;
    static const char *const logged[] = {"requestId", "traceId", "toolName", "namespace"};
    static const char *const validated[] = {"route", "requestId", "traceId", "tool"};

    for (int i = 0; i < 100000; i++)
        mcpx_text_puts(&id, "\xc3\xa4"); /* an a with two dots: a character of two bytes */
    text = mcpx_text_view(&id);
    mcpx_json_add_string(&cut,
                         (struct mcpx_slice){text.text, (size_t)2 * MCPX_RECORD_TEXT_MAX});
    telemetry(&(struct mcpx_telemetry){.event = MCPX_TELEMETRY_CALL,
                                       .request_id = text,
                                       .trace_id = text,
                                       .tool = text,
                                       .tool_namespace = text});
    for (size_t i = 0; i < COUNT(logged); i++)
        cr_expect(mcpx_slice_equal(mcpx_json_get(said(), logged[i]), mcpx_text_view(&cut)),
                  "%s", logged[i]);
    validation(&(struct mcpx_validation){.failed = true,
                                         .path = text,
                                         .route = text,
                                         .request_id = text,
                                         .trace_id = text,
                                         .tool = text});
    for (size_t i = 0; i < COUNT(validated); i++)
        cr_expect(mcpx_slice_equal(mcpx_json_get(said(), validated[i]), mcpx_text_view(&cut)),
                  "%s", validated[i]);
    cr_expect(mcpx_slice_equal(mcpx_json_get(mcpx_json_get(said(), "error"), "path"),
                               mcpx_text_view(&cut)));
}

/* Every word of the contract passes; what is none becomes what an edge would have put there. */
Test(record, R004_15_actor_and_mode_are_words_of_the_context)
{
    static const struct {
        const char *member, *path, *otherwise;
    } rows[] = {{"actor", "actor", "\"agent\""}, {"mode", "mode", "\"operator\""}};
    struct mcpx_slice properties;

    cr_assert_eq(
        mcpx_json_check(mcpx_contract_schema(MCPX_CONTRACT_CONTEXT), 0, &properties, NULL),
        MCPX_OK);
    properties = mcpx_json_get(properties, "properties");
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_json_walk walk;
        size_t words = 0;

        mcpx_json_walk_start(&walk,
                             mcpx_json_get(mcpx_json_get(properties, rows[i].path), "enum"));
        for (; mcpx_json_walk_next(&walk); words++) {
            struct mcpx_slice word = {walk.value.text + 1, walk.value.len - 2};
            struct mcpx_telemetry event = {.event = MCPX_TELEMETRY_CALL};

            *(i == 0 ? &event.actor : &event.mode) = word;
            telemetry(&event);
            cr_expect(mcpx_slice_equal(mcpx_json_get(said(), rows[i].member), walk.value));
        }
        cr_expect_eq(words, 3);
        telemetry(&(struct mcpx_telemetry){.event = MCPX_TELEMETRY_CALL,
                                           .actor = MCPX_SLICE("robot"),
                                           .mode = MCPX_SLICE("expert")});
        cr_expect(mcpx_json_equals(
            mcpx_json_get(said(), rows[i].member),
            (struct mcpx_slice){rows[i].otherwise + 1, strlen(rows[i].otherwise) - 2}));
    }
}

/* Texts that others choose; the last is filled in. */
static struct mcpx_slice hostile[] = {
    {NULL, 0},
    {"", 0},
    {"\"},{\"eventName\":\"", 17},
    {"\\u0000\\", 7},
    {"\0\x01\x02\b\t\n\v\f\r\x1b[2J\x1f\x7f", 15},
    {"\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf", 9},
    {"\xf0\x9f\x98\x80\xef\xbf\xbf", 7},
    {"../../../../etc/passwd%s%n", 26},
    {NULL, 1 << 20},
};

static void make_huge(void)
{
    char *text = malloc(1 << 20);

    cr_assert_not_null(text);
    memset(text, '"', 1 << 20);
    hostile[COUNT(hostile) - 1].text = text;
}

static void expect_one_line(void)
{
    size_t ends = 0;

    for (size_t i = 0; i < line.len; i++)
        ends += line.text[i] == '\n' || (unsigned char)line.text[i] < ' ';
    cr_expect_eq(ends, 1);
    cr_expect_eq(line.text[line.len - 1], '\n');
}

Test(record, R004_20_an_event_keeps_its_contract_whatever_is_in_it)
{
    make_huge();
    for (size_t i = 0; i < 3 * COUNT(hostile); i++) {
        struct mcpx_slice text = hostile[i / 3];
        struct mcpx_telemetry event = {
            .event = (enum mcpx_telemetry_event)(i % 3),
            .wall_ms = i % 2 ? INT64_MIN : INT64_MAX,
            .request_id = text,
            .trace_id = text,
            .tool = text,
            .alias = text,
            .fixture_version = text,
            .tool_namespace = text,
            .actor = text,
            .mode = text,
            .schema_version = text,
            .outcome = (enum mcpx_outcome)(i / 3 % 3),
            .duration_us = i % 2 ? INT64_MIN : INT64_MAX,
        };

        telemetry(&event);
        cr_expect_eq(mcpx_contracts_validate(contracts, MCPX_CONTRACT_EVENT,
                                             mcpx_text_view(&line), &report),
                     MCPX_OK, "%.500s", line.text);
        expect_one_line();
    }
    free((char *)hostile[COUNT(hostile) - 1].text);
}

Test(record, R002_15_a_validation_line_has_sixteen_members)
{
    const struct mcpx_validation call = {
        .wall_ms = noon,
        .transport = MCPX_SLICE("stdio"),
        .route = MCPX_SLICE("tools/call"),
        .request_id = MCPX_SLICE("r-1"),
        .trace_id = MCPX_SLICE("t-1"),
        .span_id = MCPX_SLICE("0123456789abcdef"),
        .tool = MCPX_SLICE("get-sum"),
        .mode = MCPX_SLICE("enforce"),
        .input_version = MCPX_SLICE("sha256:a2c799262a3c"),
        .input_bytes = 13,
        .output_bytes = 61,
        .duration_us = 3204,
    };
    struct mcpx_validation failed = call;

    cr_expect_str_eq(
        validation(&call),
        "{\"ts\":\"2026-11-22T05:54:52.123Z\",\"transport\":\"stdio\",\"route\":\"tools/"
        "call\","
        "\"requestId\":\"r-1\",\"traceId\":\"t-1\",\"spanId\":\"0123456789abcdef\","
        "\"tool\":\"get-sum\",\"mode\":\"enforce\",\"deterministic\":false,\"status\":\"ok\","
        "\"error\":null,\"inputSchemaVersion\":\"sha256:a2c799262a3c\","
        "\"outputSchemaVersion\":\"none\",\"inputBytes\":13,\"outputBytes\":61,"
        "\"durationMs\":3.204}\n");
    cr_expect_eq(mcpx_json_length(said()), 16);
    failed.failed = true;
    failed.cause = MCPX_CAUSE_INPUT;
    failed.path = MCPX_SLICE("/b");
    validation(&failed);
    cr_expect_not_null(strstr(line.text, "\"status\":\"error\",\"error\":{\"canonical_code\":"
                                         "\"INVALID_INPUT\",\"cause\":\"input\","
                                         "\"path\":\"/b\"},"));
    failed.path = MCPX_SLICE("");
    cr_expect_not_null(strstr(validation(&failed), "\"path\":\"\"}"));
    failed = (struct mcpx_validation){.failed = true, .cause = MCPX_CAUSE_TIMEOUT};
    validation(&failed);
    cr_expect_not_null(strstr(line.text, "\"route\":null"));
    cr_expect_not_null(strstr(line.text, "\"tool\":null"));
    cr_expect_not_null(strstr(line.text, "\"cause\":\"timeout\",\"path\":null}"));
    cr_expect_eq(mcpx_json_length(said()), 16);
}

Test(record, R002_19_a_line_is_one_line_and_one_object_whatever_is_in_it)
{
    make_huge();
    for (size_t i = 0; i < COUNT(hostile); i++) {
        struct mcpx_slice text = hostile[i];
        struct mcpx_validation call = {
            .transport = text,
            .route = text,
            .request_id = text,
            .trace_id = text,
            .span_id = text,
            .tool = text,
            .mode = text,
            .failed = i % 2,
            .cause = (enum mcpx_cause)i,
            .path = text,
            .input_version = text,
            .output_version = text,
            .input_bytes = SIZE_MAX / 2,
        };
        struct mcpx_slice object;

        if (i == COUNT(hostile) - 1)
            text.len = MCPX_RECORD_TEXT_MAX; /* of the huge one */
        validation(&call);
        expect_one_line();
        cr_expect_eq(mcpx_json_check(mcpx_text_view(&line), 2, &object, NULL), MCPX_OK);
        cr_expect_eq(mcpx_json_length(object), 16, "%.500s", line.text);
        if (text.text)
            cr_expect(mcpx_json_equals(mcpx_json_get(object, "tool"), text));
        cr_expect(mcpx_json_equals(mcpx_json_get(object, "requestId"),
                                   text.len > 0 ? text : MCPX_SLICE("none")));
    }
    free((char *)hostile[COUNT(hostile) - 1].text);
}

Test(record, R004_20_time_stands_still_when_the_clock_is_set_back)
{
    static const struct {
        int64_t wall_ms;
        const char *ts;
    } rows[] = {
        {2000, "1970-01-01T00:00:02.000Z"}, {2001, "1970-01-01T00:00:02.001Z"},
        {500, "1970-01-01T00:00:02.001Z"},  {INT64_MIN, "1970-01-01T00:00:02.001Z"},
        {2001, "1970-01-01T00:00:02.001Z"}, {3000, "1970-01-01T00:00:03.000Z"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_telemetry event = {.wall_ms = rows[i].wall_ms};

        telemetry(&event);
        cr_expect(mcpx_json_equals(mcpx_json_get(said(), "ts"), mcpx_slice_of(rows[i].ts)));
    }
    validation(&(struct mcpx_validation){.wall_ms = 7});
    cr_expect_not_null(strstr(line.text, "1970-01-01T00:00:03.000Z"));
}

Test(record, a_duration_has_at_most_three_places)
{
    static const struct {
        int64_t us;
        const char *ms;
    } rows[] = {
        {0, "0"},
        {1, "0.001"},
        {20, "0.02"},
        {300, "0.3"},
        {3000, "3"},
        {10000, "10"},
        {3204, "3.204"},
        {3600000120, "3600000.12"},
        {-5, "0"},
        {INT64_MIN, "0"},
        {INT64_MAX, "9223372036854775.807"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_validation call = {.duration_us = rows[i].us};

        validation(&call);
        cr_expect(
            mcpx_slice_equal(mcpx_json_get(said(), "durationMs"), mcpx_slice_of(rows[i].ms)),
            "%s: %s", rows[i].ms, line.text);
    }
}

Test(record, R004_21_a_schema_has_the_version_of_its_fingerprint)
{
    struct mcpx_schema *schema = NULL;
    char version[MCPX_SCHEMA_VERSION_LEN + 1];

    cr_assert_eq(
        mcpx_schema_compile(shelf, MCPX_SLICE("{\"type\":\"object\"}"), NULL, NULL, &schema),
        MCPX_OK);
    mcpx_schema_version(schema, version);
    cr_expect_str_eq(version, "sha256:a2c799262a3c");
    mcpx_schema_version(NULL, version);
    cr_expect_str_eq(version, "none");
    mcpx_schema_unref(schema);
}
