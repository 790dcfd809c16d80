/*
 * wrap_stage.c - one wrapper for a test; nothing that it gives is believed without its contract.
 */
#include "tests/unit/contract/wrap_stage.h"

#include <mcpx/json.h>

#include <criterion/criterion.h>

struct wrap_stage stage;
static struct mcpx_schema_report report;
static struct mcpx_text envelope;

void stage_set_up(void)
{
    stage.shelf = mcpx_shelf_new();
    stage.contracts = mcpx_contracts_new(stage.shelf);
    stage.wrapper = mcpx_wrapper_new(stage.contracts);
    cr_assert_not_null(stage.wrapper);
    stage.call = (struct mcpx_wrap){
        .form = MCPX_FORM_ENVELOPE,
        .enforce = true,
        .tool = MCPX_SLICE("get-sum"),
        .request_id = MCPX_SLICE("req-1"),
        .duration_ms = 27,
    };
}

void stage_tear_down(void)
{
    mcpx_wrapper_free(stage.wrapper);
    mcpx_contracts_free(stage.contracts);
    mcpx_shelf_free(stage.shelf);
    mcpx_schema_report_fini(&report);
    mcpx_text_fini(&stage.out);
    mcpx_text_fini(&envelope);
}

void stage_judge(struct mcpx_slice text)
{
    bool is_envelope = mcpx_json_get(text, "schema_version").text;
    enum mcpx_err err = mcpx_contracts_validate(
        stage.contracts, is_envelope ? MCPX_CONTRACT_ENVELOPE : MCPX_CONTRACT_RESPONSE, text,
        &report);

    cr_assert_eq(err, MCPX_OK, "%.*s %.*s: %.*s", (int)report.errors[0].path.len,
                 report.errors[0].path.text, (int)report.errors[0].message.len,
                 report.errors[0].message.text, (int)text.len, text.text);
}

const char *stage_answer(const char *result)
{
    enum mcpx_err err;

    mcpx_text_reset(&stage.out);
    err = mcpx_wrap_result(stage.wrapper, &stage.call, mcpx_slice_of(result), &stage.out,
                           &stage.outcome);
    cr_assert_eq(err, MCPX_OK, "%s: %s", result, mcpx_strerror(err));
    return stage.out.text;
}

/* The envelope of the answer that was made last. */
static const char *take_envelope(void)
{
    struct mcpx_slice answer = mcpx_text_view(&stage.out);
    struct mcpx_slice own = mcpx_json_get(answer, "structuredContent");
    struct mcpx_json_walk walk;

    stage_judge(own);
    mcpx_json_walk_start(&walk, mcpx_json_get(answer, "content"));
    cr_assert(mcpx_json_walk_next(&walk), "%s", stage.out.text);
    cr_expect(mcpx_json_equals(mcpx_json_get(walk.value, "type"), MCPX_SLICE("text")));
    cr_expect(mcpx_json_equals(mcpx_json_get(walk.value, "text"), own), "%s", stage.out.text);
    mcpx_text_reset(&envelope);
    mcpx_text_slice(&envelope, own);
    return envelope.text;
}

const char *stage_envelope(const char *result)
{
    stage_answer(result);
    return take_envelope();
}

void stage_expect(char *const row[])
{
    cr_expect_str_eq(stage_envelope(row[0]), row[1], "%s", row[0]);
}

const char *stage_failure(const struct mcpx_failure *failure)
{
    mcpx_text_reset(&stage.out);
    cr_assert_eq(mcpx_wrap_failure(stage.wrapper, &stage.call, failure, &stage.out), MCPX_OK);
    cr_expect_not_null(strstr(stage.out.text, ",\"isError\":true}"));
    return take_envelope();
}

const char *stage_output(const struct mcpx_output *output)
{
    mcpx_text_reset(&stage.out);
    if (mcpx_wrap_output(stage.wrapper, &stage.call, output, &stage.out, &stage.outcome))
        return NULL;
    stage_judge(mcpx_text_view(&stage.out));
    return stage.out.text;
}
