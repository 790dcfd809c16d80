/*
 * fuzz_wrap.c - a line of `_meta`, a line of arguments, and a server's result behind them. Every
 * answer is an envelope that keeps its contract, or the result itself where there is no answer in
 * it; wrapped again it is the same. So is what a program that is no server has written.
 */
#include "lib/base/scoped.h"
#include "tests/fuzz/fuzz.h"

#include <mcpx/json.h>
#include <mcpx/wrap.h>

static struct mcpx_contracts *contracts;
static struct mcpx_wrapper *wrapper;
static struct mcpx_schema_report report;

/* Compiling contracts for each input would be most of the work. */
static void set_up(void)
{
    if (wrapper)
        return;
    contracts = mcpx_contracts_new(mcpx_shelf_new());
    wrapper = mcpx_wrapper_new(contracts);
    must(wrapper);
}

/* Cuts off a line; absent when it is no JSON. */
static struct mcpx_slice cut_line(struct mcpx_slice *rest)
{
    const char *end = rest->len ? (const char *)memchr(rest->text, '\n', rest->len) : NULL;
    struct mcpx_slice line = {rest->text, end ? (size_t)(end - rest->text) : rest->len};
    struct mcpx_slice value = {NULL, 0};
    size_t used = line.len + (end != NULL);

    mcpx_json_check(line, 500, &value, NULL);
    rest->text += used;
    rest->len -= used;
    return value;
}

static void judge(struct mcpx_slice envelope)
{
    bool is_envelope = mcpx_json_get(envelope, "schema_version").text;

    must(mcpx_contracts_validate(contracts,
                                 is_envelope ? MCPX_CONTRACT_ENVELOPE : MCPX_CONTRACT_RESPONSE,
                                 envelope, &report) == MCPX_OK);
}

static void wrap_result(struct mcpx_wrap call, struct mcpx_slice result)
{
    mx_scoped_text once = {0}, twice = {0};
    struct mcpx_wrapped outcome, again;

    must(mcpx_wrap_result(wrapper, &call, result, &once, &outcome) == MCPX_OK);
    if (outcome.is_unready)
        must(mcpx_slice_equal(mcpx_text_view(&once), result));
    else
        judge(mcpx_json_get(mcpx_text_view(&once), "structuredContent"));
    must(mcpx_wrap_result(wrapper, &call, mcpx_text_view(&once), &twice, &again) == MCPX_OK);
    must(mcpx_slice_equal(mcpx_text_view(&once), mcpx_text_view(&twice)));
    must(again.is_error == outcome.is_error && !again.is_broken);
    mcpx_text_reset(&once);
    call.enforce = false;
    must(mcpx_wrap_result(wrapper, &call, result, &once, &again) == MCPX_OK);
    must(again.is_broken == outcome.is_broken);
}

static void wrap_output(const struct mcpx_wrap *call, struct mcpx_slice text, bool is_json)
{
    const struct mcpx_failure failure = {.cause = MCPX_CAUSE_FAILED, .exit_code = 1};
    struct mcpx_output output = {.failure = &failure};
    mx_scoped_text once = {0}, twice = {0};
    struct mcpx_wrapped outcome;

    if (is_json)
        output.json = text;
    else
        output.text = text;
    if (mcpx_wrap_output(wrapper, call, &output, &once, &outcome) == MCPX_OK) {
        judge(mcpx_text_view(&once));
        output = (struct mcpx_output){.json = mcpx_text_view(&once)};
        must(mcpx_wrap_output(wrapper, call, &output, &twice, &outcome) == MCPX_OK);
        must(mcpx_slice_equal(mcpx_text_view(&once), mcpx_text_view(&twice)));
    } else {
        must(once.len == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice rest = {(const char *)data, size}, result = {NULL, 0};
    struct mcpx_wrap call = {
        .enforce = true, .tool = MCPX_SLICE("t"), .request_id = MCPX_SLICE("r")};

    set_up();
    call.meta = cut_line(&rest);
    call.arguments = cut_line(&rest);
    mcpx_json_check(rest, 0, &result, NULL);
    for (int form = MCPX_FORM_ENVELOPE; form < MCPX_FORM_COUNT; form++) {
        call.form = (enum mcpx_form)form;
        if (result.text)
            wrap_result(call, result);
        wrap_output(&call, rest, true);
        wrap_output(&call, rest, false);
    }
    return 0;
}
