/*
 * What breaks for whom: some answer that nobody thought of is not what its envelope promises, so
 * that a client throws it away; or memory that was short for a moment shows in an answer.
 */
#include "lib/base/scoped.h"
#include "tests/support/count.h"
#include "tests/support/dice.h"
#include "tests/support/fault_alloc.h"
#include "tests/support/random_json.h"
#include "tests/unit/contract/wrap_stage.h"

#include <mcpx/json.h>

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(wrap_property, .init = stage_set_up, .fini = stage_tear_down);

static struct mcpx_text result, once, again;

static void fini(void)
{
    mcpx_text_fini(&result);
    mcpx_text_fini(&once);
    mcpx_text_fini(&again);
}

static struct dice dice;

static const char *one_of(const char *const *words, size_t count)
{
    return words[dice_below(&dice, count)];
}

/* The call at hand: with wishes or without, and arguments that hold code. */
static void choose_call(void)
{
    static const char *const metas[] = {
        NULL,
        "{\"capture_provenance\":true}",
        "{\"capture_provenance\":true,\"capture_artifacts\":true,"
        "\"provenance_mode\":\"full\"}",
        "{\"capture_provenance\":true,\"capture_artifacts\":true,\"provenance_mode\":\"full\","
        "\"io.mcpx/artifacts\":[{\"schema_version\":\"artifact.ref.v0.1\",\"locator\":\"l\"},"
        "7],\"io.mcpx/preferences\":{\"deterministic\":false,\"max_output_bytes\":9}}",
        "{\"capture_provenance\":\"yes\",\"io.mcpx/preferences\":7}",
    };
    static const char *const arguments[] = {
        NULL,
        "{\"code\":\"line number one\\n  line number two\\n\"}",
        "{\"a\":1,\"a\":2}",
    };

    stage.call.form = dice_hits(&dice, 2) ? MCPX_FORM_ENVELOPE : MCPX_FORM_RESPONSE;
    stage.call.tier = (enum mcpx_tier)dice_below(&dice, MCPX_TIER_COUNT);
    stage.call.meta = mcpx_slice_of(one_of(metas, COUNT(metas)));
    stage.call.arguments = mcpx_slice_of(one_of(arguments, COUNT(arguments)));
    stage.call.parent =
        dice_hits(&dice, 2) ? MCPX_SLICE("proposal-7") : (struct mcpx_slice){NULL, 0};
}

static void add_value(struct mcpx_text *out)
{
    static const char *const values[] = {
        "{\"schema_version\":\"mcp.envelope.v0.1\",\"result\":1}",
        "{\"schema_version\":\"mcp.envelope.v0.1\",\"result\":1,\"tier\":2}",
        "{\"schema_version\":\"mcp.envelope.v0.1\",\"result\":1,\"errors\":[{\"code\":\"A\","
        "\"message\":\"b\"}]}",
        "{\"tier\":\"pro\",\"tool_version\":\"1.0.0\",\"tool_id\":\"x\",\"request_id\":\"r\","
        "\"capabilities\":[],\"duration_ms\":1,\"error\":null,\"upgrade_hints\":[],"
        "\"data\":1}",
        "{\"success\":false,\"error\":\"line number two\",\"error_code\":\"E\"}",
        "{\"error\":{\"code\":\"line number two\",\"message\":\"\",\"details\":{\"a\":[1]},"
        "\"evidence\":7}}",
        "{\"errors\":[{\"code\":\"\",\"message\":\"m\"},{\"code\":\"C\",\"message\":\"m\","
        "\"retryable\":1}]}",
        "{\"a\":1,\"a\":2}",
        "[\"\\ud800\"]",
        "[1e9999999999]",
    };
    char bytes[400];

    if (dice_hits(&dice, 2))
        mcpx_text_add(out, bytes, random_json(&dice.state, bytes, sizeof bytes));
    else
        mcpx_text_puts(out, one_of(values, COUNT(values)));
}

static void add_text(struct mcpx_text *out)
{
    static const char *const texts[] = {
        "\"done\"",
        "\"\"",
        "\"SyntaxError: line number two\"",
        "\"a\\nline number two\"",
        "\"permission denied\\n  at trace\"",
        "\"\\ud800\"",
        "\"\\u0000\\u007f\"",
    };
    mx_scoped_text value = {0};

    if (dice_hits(&dice, 3)) {
        add_value(&value);
        mcpx_json_add_string(out, mcpx_text_view(&value));
    } else {
        mcpx_text_puts(out, one_of(texts, COUNT(texts)));
    }
}

static void compose_result(void)
{
    mcpx_text_reset(&result);
    mcpx_text_puts(&result, "{ \"n\":1.10");
    if (dice_hits(&dice, 3))
        mcpx_text_puts(&result,
                       dice_hits(&dice, 3) ? ",\"isError\":false" : ",\"isError\" : true");
    if (dice_hits(&dice, 2)) {
        mcpx_text_puts(&result, ",\"structuredContent\": ");
        add_value(&result);
    }
    if (dice_hits(&dice, 4)) {
        mcpx_text_puts(&result, "}");
        return;
    }
    mcpx_text_puts(&result, ",\"content\":[");
    for (size_t i = 0, count = dice_below(&dice, 4); i < count; i++) {
        mcpx_text_puts(&result, i ? "," : "");
        if (dice_hits(&dice, 4)) {
            mcpx_text_puts(&result, "{\"type\":\"image\",\"data\":\"aa\"}");
            continue;
        }
        mcpx_text_puts(&result, "{\"type\":\"text\",\"text\":");
        add_text(&result);
        mcpx_text_puts(&result, "}");
    }
    mcpx_text_puts(&result, "]}");
}

/* What a program says in its own name. */
static struct mcpx_slice error_of(struct mcpx_slice envelope)
{
    return mcpx_json_get(envelope, "error");
}

static bool holds(struct mcpx_slice text, const char *part)
{
    for (size_t at = 0, len = strlen(part); at + len <= text.len; at++) {
        if (memcmp(text.text + at, part, len) == 0)
            return true;
    }
    return false;
}

/* Neither code of the arguments nor a stack trace is in what we say ourselves. */
static void expect_quiet(struct mcpx_slice envelope)
{
    bool is_ours = mcpx_json_equals(mcpx_json_get(envelope, "tool_id"), MCPX_SLICE("get-sum"));

    if (!is_ours)
        return;
    cr_assert(!holds(error_of(envelope), "at trace"), "%s", stage.out.text);
    if (stage.call.arguments.text && stage.call.arguments.text[2] == 'c')
        cr_assert(!holds(error_of(envelope), "line number two"), "%s", stage.out.text);
}

Test(wrap_property, R000_4_every_answer_is_valid_and_is_wrapped_once)
{
    size_t wrapped = 0, errors = 0, broken = 0;

    dice = dice_of_seed(31);
    for (int i = 0; i < 10000; i++) {
        struct mcpx_slice envelope;

        choose_call();
        compose_result();
        stage_answer(result.text);
        errors += stage.outcome.is_error;
        broken += stage.outcome.is_broken;
        if (stage.outcome.is_unready) {
            cr_assert_str_eq(stage.out.text, result.text);
            continue;
        }
        wrapped++;
        envelope = mcpx_json_get(mcpx_text_view(&stage.out), "structuredContent");
        stage_judge(envelope);
        expect_quiet(envelope);
        cr_assert_eq(holds(mcpx_text_view(&stage.out), "\"isError\":true") ||
                         holds(mcpx_text_view(&stage.out), "\"isError\" : true"),
                     stage.outcome.is_error, "%s", stage.out.text);
        mcpx_text_reset(&once);
        mcpx_text_slice(&once, mcpx_text_view(&stage.out));
        choose_call();
        cr_assert_str_eq(stage_answer(once.text), once.text, "%s", result.text);
    }
    cr_expect_gt(wrapped, 8000, "%zu", wrapped);
    cr_expect_gt(errors, 3000, "%zu", errors);
    cr_expect_gt(broken, 500, "%zu", broken);
    fini();
}

Test(wrap_property, R000_9_every_failure_is_valid)
{
    static const char *const errors[] = {
        NULL,
        "{\"code\":-32000,\"message\":\"line number two\"}",
        "{\"code\":1e9999999999,\"message\":7}",
        "{\"message\":\"\"}",
        "7",
    };
    static const char *const texts[] = {NULL, "", "said", "line number two"};

    dice = dice_of_seed(32);
    for (int i = 0; i < 10000; i++) {
        struct mcpx_failure failure = {
            .cause = (enum mcpx_cause)dice_below(&dice, MCPX_CAUSE_COUNT),
            .path = mcpx_slice_of(one_of(texts, COUNT(texts))),
            .expected = mcpx_slice_of(one_of(texts, COUNT(texts))),
            .text = mcpx_slice_of(one_of(texts, COUNT(texts))),
            .error = mcpx_slice_of(one_of(errors, COUNT(errors))),
            .exit_code = (int)dice_below(&dice, 3),
            .signal = (int)dice_below(&dice, 3),
        };

        choose_call();
        if (!mcpx_cause_in_envelope(failure.cause))
            continue;
        stage_failure(&failure);
        mcpx_text_reset(&once);
        mcpx_text_slice(&once, mcpx_text_view(&stage.out));
        cr_assert_str_eq(stage_answer(once.text), once.text);
        cr_assert(stage.outcome.is_error);
    }
    fini();
}

Test(wrap_property, every_text_of_a_program_is_valid)
{
    dice = dice_of_seed(33);
    for (int i = 0; i < 10000; i++) {
        const struct mcpx_failure failure = {.cause = MCPX_CAUSE_FAILED, .exit_code = 3};
        struct mcpx_output output = {.failure = dice_hits(&dice, 2) ? &failure : NULL};

        choose_call();
        compose_result();
        if (dice_hits(&dice, 2))
            output.json = mcpx_text_view(&result);
        else
            output.text = mcpx_text_view(&result);
        cr_assert_not_null(stage_output(&output), "%s", result.text);
        mcpx_text_reset(&once);
        mcpx_text_slice(&once, mcpx_text_view(&stage.out));
        output = (struct mcpx_output){.json = mcpx_text_view(&once)};
        cr_assert_str_eq(stage_output(&output), once.text);
    }
    fini();
}

/* A wish to look at a megabyte of lines for each error must not cost seconds. */
Test(wrap_property, code_of_a_megabyte_is_looked_for_in_bounds, .timeout = 60)
{
    struct mcpx_text arguments = {0};

    mcpx_text_puts(&arguments, "{\"code\":\"");
    while (arguments.len < 1000000)
        mcpx_text_puts(&arguments, "aaaaaaaaaaaab\\n");
    mcpx_text_puts(&arguments, "\"}");
    mcpx_text_reset(&result);
    mcpx_text_puts(&result, "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"");
    for (int i = 0; i < 100000; i++)
        mcpx_text_puts(&result, "aaaaaaaaaa");
    mcpx_text_puts(&result, "\"}]}");
    stage.call.arguments = mcpx_text_view(&arguments);
    for (int i = 0; i < 3; i++)
        cr_expect_not_null(strstr(stage_envelope(result.text), "\"message\":\"Tool failed\""));
    mcpx_text_fini(&arguments);
    fini();
}

/* One answer, one failure and one output, each to its text; NULL when memory was short. */
static const char *do_one(size_t which)
{
    static const struct mcpx_failure failure = {.cause = MCPX_CAUSE_TIER};
    static const struct mcpx_output output = {.text = {"a\tb", 3}};
    static const char *const results[] = {
        "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no\\\\line\"}]}",
        "{\"structuredContent\":{\"schema_version\":\"mcp.envelope.v0.1\",\"result\":1}}",
        "{\"structuredContent\":{\"schema_version\":\"mcp.envelope.v0.1\"}}",
        "{\"isError\":true,\"structuredContent\":{\"code\":\"\\u0061\",\"message\":\"b\"}}",
    };
    enum mcpx_err err;

    mcpx_text_reset(&again);
    mcpx_text_puts(&again, "before");
    if (which == COUNT(results))
        err = mcpx_wrap_failure(stage.wrapper, &stage.call, &failure, &again);
    else if (which > COUNT(results))
        err = mcpx_wrap_output(stage.wrapper, &stage.call, &output, &again, &stage.outcome);
    else
        err = mcpx_wrap_result(stage.wrapper, &stage.call, mcpx_slice_of(results[which]),
                               &again, &stage.outcome);
    cr_assert(err == MCPX_OK || err == MCPX_ENOMEM, "%s", mcpx_strerror(err));
    if (err && !again.failed)
        cr_expect_str_eq(again.text, "before");
    return err ? NULL : again.text;
}

Test(wrap_property, without_memory_there_is_no_answer_and_afterwards_the_right_one)
{
    stage.call.arguments = MCPX_SLICE("{\"code\":\"line number one\\nline number two\"}");
    stage.call.meta = MCPX_SLICE(
        "{\"capture_provenance\":true,\"capture_artifacts\":true,\"provenance_mode\":\"full\","
        "\"io.mcpx/artifacts\":[{\"schema_version\":\"artifact.ref.v0.1\",\"locator\":\"l\"}]"
        "}");
    for (size_t which = 0; which < 12; which++) {
        size_t nth = 0, short_of = 0;
        bool failed;

        stage.call.form = which < 6 ? MCPX_FORM_ENVELOPE : MCPX_FORM_RESPONSE;
        mcpx_text_reset(&once);
        mcpx_text_puts(&once, do_one(which % 6));
        do {
            const char *text;

            mcpx_wrapper_free(
                stage.wrapper); /* it keeps memory, which would hide a shortage */
            stage.wrapper = mcpx_wrapper_new(stage.contracts);
            mcpx_text_fini(&again);
            fault_alloc_arm(++nth);
            text = do_one(which % 6);
            failed = fault_alloc_disarm();
            short_of += text == NULL;
            if (text)
                cr_expect_str_eq(text, once.text, "%zu, allocation %zu", which, nth);
            cr_expect_str_eq(do_one(which % 6), once.text, "%zu, after allocation %zu", which,
                             nth);
        } while (failed);
        cr_expect_gt(short_of, 0, "%zu", which);
    }
    fault_alloc_arm(1);
    cr_expect_null(mcpx_wrapper_new(stage.contracts));
    fault_alloc_disarm();
    fini();
}
