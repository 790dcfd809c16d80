/*
 * call_answer.c - completion: a call ends, and its sender gets a response in the form that the
 * contract settings of its tool require.
 */
#include "lib/contract/call.h"

#include "lib/base/digits.h"
#include "lib/contract/wrap.h"
#include "lib/json/json_write.h"
#include "lib/json/number.h"
#include "lib/schema/program.h"

#include <mcpx/json.h>

static const char no_memory[] = "{\"code\":-32603,\"message\":\"Internal error\",\"data\":"
                                "{\"canonical_code\":\"INTERNAL_ERROR\","
                                "\"cause\":\"exhausted\"}}";

/* A call that ends; `wrapped` describes its envelope. */
struct ending {
    struct mcpx_calls *calls;
    struct mcpx_call *call;
    const struct mcpx_call_end *end;
    struct mcpx_call_answer *out;
    struct mcpx_wrapped wrapped;
    struct mx_call_outcome outcome;
};

/* Returns a member of `data`, the signal or exit code of a program; 0 when it is missing. */
static int number_of(const struct mcpx_text *data, const char *name)
{
    uint64_t number = 0;

    mx_decimal_read(mcpx_json_get(mcpx_text_view(data), name), INT32_MAX, &number);
    return (int)number;
}

static void set_time(struct mcpx_call *call, struct mcpx_instant now)
{
    call->wrap.duration_ms = (now.mono_us - call->start.mono_us) / 1000;
    call->wrap.wall_ms = now.wall_ms;
}

static void add_failure_envelope(struct mcpx_calls *calls, struct mcpx_call *call,
                                 const struct mcpx_call_end *end)
{
    struct mcpx_failure failure = calls->call_error.failure;
    mx_scoped_text data = mx_formatted("{%s}", calls->call_error.more);

    calls->failed |= data.failed;
    if (calls->failed)
        return;
    set_time(call, end ? end->now : call->start);
    if (end && end->type == MCPX_CALL_ERROR && failure.cause == MCPX_CAUSE_FAILED)
        failure.error = end->text;
    failure.signal = number_of(&data, "signal");
    failure.exit_code = number_of(&data, "code");
    calls->failed =
        mcpx_wrap_failure(calls->wrapper, &call->wrap, &failure, &calls->answer) != MCPX_OK;
}

static void add_error(struct mcpx_calls *calls)
{
    const struct mx_call_error *call_error = &calls->call_error;
    mx_scoped_text more = mx_formatted("%s", call_error->more);

    if (call_error->failure.text.len > 0)
        mx_format(&more, "%s\"reason\":%q", more.len > 0 ? "," : "", call_error->failure.text);
    mcpx_cause_error(&calls->answer, call_error->failure.cause, call_error->errors,
                     mcpx_text_view(&more));
    calls->failed |= more.failed || calls->answer.failed;
}

void mx_call_fail(struct mcpx_calls *calls, struct mcpx_call *call,
                  const struct mcpx_call_end *end, struct mx_call_outcome *outcome,
                  struct mcpx_call_answer *out)
{
    enum mcpx_cause cause = calls->call_error.failure.cause;
    bool is_error = call->wrap.form == MCPX_FORM_AS_IS || !mcpx_cause_in_envelope(cause);

    outcome->outcome = MCPX_OUTCOME_ERROR;
    outcome->code = mcpx_cause_code(cause);
    mx_call_note_error(calls, call);
    mcpx_text_reset(&calls->answer);
    if (is_error)
        add_error(calls);
    else
        add_failure_envelope(calls, call, end);
    *out = (struct mcpx_call_answer){is_error, mcpx_text_view(&calls->answer)};
}

static void fail(struct ending *e)
{
    mx_call_fail(e->calls, e->call, e->end, &e->outcome, e->out);
}

/* Checks the result against the tool's output schema. */
static bool check_value(struct ending *e)
{
    struct mcpx_schema_error error = mx_error("/structuredContent", "required", "is missing");
    struct mx_decisive members[MX_RESULT_MEMBERS];
    struct mcpx_slice value;
    enum mcpx_err err;

    if (!e->call->output)
        return true;
    if (!mx_result_read(e->end->text, members, &error))
        return mx_call_error_at(e->calls, MCPX_CAUSE_OUTPUT, error);
    value = members[MX_RESULT_VALUE].value;
    if ((!value.text && !members[MX_RESULT_CONTENT].value.text) ||
        mcpx_slice_equal(members[MX_RESULT_IS_ERROR].value, MCPX_SLICE("true")))
        return true;
    if (!value.text)
        return mx_call_error_at(e->calls, MCPX_CAUSE_OUTPUT, error);
    err = mx_evaluate_text(&e->call->output->program, value,
                           e->call->wrap.form == MCPX_FORM_AS_IS, &e->calls->report);
    e->call->wrap.is_read = !err;
    return mx_call_judged(e->calls, err,
                          err == MCPX_ELIMIT ? MCPX_CAUSE_SCHEMA : MCPX_CAUSE_OUTPUT, "");
}

static bool check_size(struct ending *e, size_t bytes, size_t max)
{
    return mx_call_fits(e->calls, MCPX_CAUSE_OUTPUT_SIZE, "the answer has", bytes, max);
}

static void note_broken(struct ending *e)
{
    struct mcpx_schema_error error = {e->wrapped.path, {0}, e->wrapped.expected};

    if (!e->wrapped.is_broken || e->calls->terms->validate == MX_VALIDATE_OFF)
        return;
    mx_call_error_at(e->calls, e->wrapped.cause, error);
    mx_call_note_error(e->calls, e->call);
}

/* Completion, step 3 (docs/contracts.md). */
static void wrap(struct ending *e)
{
    struct mcpx_calls *calls = e->calls;

    set_time(e->call, e->end->now);
    mcpx_text_reset(&calls->answer);
    if (mcpx_wrap_result(calls->wrapper, &e->call->wrap, e->end->text, &calls->answer,
                         &e->wrapped))
        calls->failed = true;
    else
        note_broken(e);
    *e->out = (struct mcpx_call_answer){false, mcpx_text_view(&calls->answer)};
}

void mx_call_deliver(const struct mcpx_call *call, struct mx_call_outcome *outcome)
{
    if (!call->call_error.is_found)
        return;
    outcome->outcome = MCPX_OUTCOME_DEGRADED;
    outcome->code = mcpx_cause_code(call->call_error.cause);
}

/* Sets the outcome that the records get for a delivered result. */
static void set_delivered_outcome(struct ending *e)
{
    bool is_broken = e->wrapped.is_broken && e->calls->terms->validate == MX_VALIDATE_ENFORCE;

    if (is_broken || e->wrapped.is_error) {
        e->outcome.outcome = MCPX_OUTCOME_ERROR;
        e->outcome.code =
            is_broken ? mcpx_cause_code(e->wrapped.cause) : MCPX_CODE_INTERNAL_ERROR;
    } else if (e->wrapped.is_warned && !e->call->call_error.is_found) {
        e->outcome.outcome = MCPX_OUTCOME_DEGRADED;
        e->outcome.code = MCPX_CODE_COUNT;
    } else {
        mx_call_deliver(e->call, &e->outcome);
    }
}

/* Completion, steps 1 to 3. */
static void end_with_result(struct ending *e)
{
    struct mcpx_slice result = e->end->text;
    const struct mcpx_terms *terms = e->calls->terms;
    bool is_right = terms->validate == MX_VALIDATE_OFF ||
                    (check_size(e, result.len, terms->output_max) && check_value(e)) ||
                    mx_call_passes(e->calls, e->call);

    e->outcome.output_bytes = result.len;
    if (e->calls->failed)
        return;
    if (!is_right) {
        fail(e);
        return;
    }
    if (e->call->wrap.form == MCPX_FORM_AS_IS) {
        *e->out = (struct mcpx_call_answer){false, result};
        e->wrapped.is_error =
            mcpx_slice_equal(mcpx_json_get(result, "isError"), MCPX_SLICE("true"));
    } else {
        wrap(e);
    }
    set_delivered_outcome(e);
}

/* The server's own error: as it is, or in an envelope. */
static void end_with_error(struct ending *e)
{
    struct mcpx_slice number = mcpx_json_get(e->end->text, "code");
    int64_t code;

    mx_call_error_set(e->calls, MCPX_CAUSE_FAILED);
    fail(e);
    if (mcpx_json_type(number) == MCPX_JSON_NUMBER && mx_number_small(number, &code))
        e->outcome.code = mcpx_code_of_server(code);
    if (e->call->wrap.form == MCPX_FORM_AS_IS)
        *e->out = (struct mcpx_call_answer){true, e->end->text};
}

static void end_with_failure(struct ending *e)
{
    mx_call_error_set(e->calls, e->end->cause);
    e->calls->call_error.failure.text = e->end->reason;
    e->calls->call_error.more = e->end->more;
    fail(e);
}

static void end_with_refusal(struct ending *e)
{
    mx_call_error_set(e->calls, MCPX_CAUSE_DENIED);
    mx_call_note_error(e->calls, e->call);
    e->outcome.outcome = MCPX_OUTCOME_ERROR;
    e->outcome.code = MCPX_CODE_UNAUTHORIZED;
    *e->out = (struct mcpx_call_answer){e->end->is_error, e->end->text};
}

static void (*const endings[])(struct ending *) = {
    [MCPX_CALL_RESULT] = end_with_result,
    [MCPX_CALL_ERROR] = end_with_error,
    [MCPX_CALL_FAILED] = end_with_failure,
    [MCPX_CALL_REFUSED] = end_with_refusal,
};

static void unlink_call(struct mcpx_calls *calls, struct mcpx_call *call)
{
    if (call->next)
        call->next->previous = call->previous;
    if (call->previous)
        call->previous->next = call->next;
    else
        calls->first = call->next;
    calls->count--;
}

enum mcpx_err mcpx_calls_answer(struct mcpx_calls *calls, struct mcpx_call *call,
                                const struct mcpx_call_end *end, struct mcpx_call_answer *out)
{
    struct ending e = {
        .calls = calls, .call = call, .end = end, .out = out, .outcome = {.now = end->now}};
    size_t records = calls->records.len;

    mx_calls_begin(calls);
    endings[end->type](&e);
    if (!calls->failed && !check_size(&e, out->text.len, end->answer_max))
        fail(&e);
    if (calls->failed) {
        e.outcome.outcome = MCPX_OUTCOME_ERROR;
        e.outcome.code = MCPX_CODE_INTERNAL_ERROR;
    }
    mx_call_tell_end(calls, call, &e.outcome);
    if (calls->records.failed)
        mx_calls_forget(calls, records);
    unlink_call(calls, call);
    mx_call_free(call);
    if (calls->failed)
        *out = (struct mcpx_call_answer){true, MCPX_SLICE(no_memory)};
    return calls->failed ? MCPX_ENOMEM : MCPX_OK;
}
