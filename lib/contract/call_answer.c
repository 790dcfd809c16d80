/*
 * call_answer.c - completion: a call ends, and its sender gets what the contract settings of its
 * tool say.
 */
#include "lib/contract/call.h"

#include "lib/base/digits.h"
#include "lib/contract/wrap.h"
#include "lib/json/json_write.h"
#include "lib/schema/program.h"

#include <mcpx/json.h>

/* Said when there is no memory to say anything else. */
static const char no_memory[] = "{\"code\":-32603,\"message\":\"Internal error\",\"data\":"
                                "{\"canonical_code\":\"INTERNAL_ERROR\","
                                "\"cause\":\"exhausted\"}}";

/* A call that ends; `wrapped` is what its envelope tells of itself. */
struct ending {
    struct mcpx_calls *calls;
    struct mcpx_call *call;
    const struct mcpx_call_end *end;
    struct mcpx_call_answer *out;
    struct mcpx_wrapped wrapped;
    struct mx_call_outcome outcome;
    bool is_read; /* the value is valid by the schema of its tool */
};

/* What is known of a call, for envelopes. */
static struct mcpx_wrap wrap_of(const struct mcpx_calls *calls, const struct mcpx_call *call,
                                struct mcpx_instant now)
{
    return (struct mcpx_wrap){
        .form = call->terms->form,
        .enforce = calls->terms->validate == MX_VALIDATE_ENFORCE,
        .tool = call->tool,
        .tool_version = call->terms->version,
        .server_version = call->server_version,
        .request_id = call->request_id,
        .tier = calls->terms->tier,
        .needed = call->terms->needed,
        .capabilities = call->terms->capabilities,
        .duration_ms = (now.mono_us - call->start.mono_us) / 1000,
        .arguments = call->arguments,
        .meta = call->meta,
        .run_id = {*call->run_id ? call->run_id : NULL, strlen(call->run_id)},
        .wall_ms = now.wall_ms,
        .parent = call->fulfils,
    };
}

/* A whole number among members of `data`: those of a program's end. 0 when there is none. */
static int number_of(const struct mcpx_text *data, const char *name)
{
    uint64_t number = 0;

    mx_decimal_read(mcpx_json_get(mcpx_text_view(data), name), INT32_MAX, &number);
    return (int)number;
}

/* The envelope of a call that has failed. */
static enum mcpx_err add_envelope(struct mcpx_calls *calls, const struct mcpx_call *call,
                                  const struct mcpx_call_end *end)
{
    struct mcpx_wrap wrap = wrap_of(calls, call, end ? end->now : call->start);
    struct mcpx_failure failure = calls->flaw.says;
    mx_scoped_text data = mx_formatted("{%s}", calls->flaw.more);

    if (data.failed)
        return MCPX_ENOMEM;
    if (end && end->type == MCPX_CALL_ERROR && failure.cause == MCPX_CAUSE_FAILED)
        failure.error = end->text;
    failure.signal = number_of(&data, "signal");
    failure.exit_code = number_of(&data, "code");
    return mcpx_wrap_failure(calls->wrapper, &wrap, &failure, &calls->answer);
}

/* The JSON-RPC error of a call that has failed. */
static enum mcpx_err add_error(struct mcpx_calls *calls)
{
    struct mx_flaw *flaw = &calls->flaw;

    if (flaw->says.text.len > 0)
        mx_flaw_keep(flaw,
                     mx_formatted("%s%s\"reason\":%q", flaw->more,
                                  flaw->more.len > 0 ? "," : "", flaw->says.text),
                     &flaw->more);
    mcpx_cause_error(&calls->answer, flaw->says.cause, flaw->errors, flaw->more);
    return calls->answer.failed || flaw->failed ? MCPX_ENOMEM : MCPX_OK;
}

enum mcpx_err mx_call_refuse(struct mcpx_calls *calls, const struct mcpx_call *call,
                             const struct mcpx_call_end *end, struct mcpx_call_answer *out)
{
    bool is_error = !call->terms || call->terms->form == MCPX_FORM_AS_IS ||
                    !mcpx_cause_in_envelope(calls->flaw.says.cause);
    enum mcpx_err err;

    mcpx_text_reset(&calls->answer);
    err = is_error ? add_error(calls) : add_envelope(calls, call, end);
    if (!err)
        *out = (struct mcpx_call_answer){is_error, mcpx_text_view(&calls->answer)};
    return err;
}

/* The call has failed, as calls->flaw says. */
static enum mcpx_err fail(struct ending *e)
{
    e->outcome.outcome = MCPX_OUTCOME_ERROR;
    e->outcome.code = mcpx_cause_code(e->calls->flaw.says.cause);
    if (!mx_call_note_flaw(e->calls, e->call))
        return MCPX_ENOMEM;
    return mx_call_refuse(e->calls, e->call, e->end, e->out);
}

/* The result against the schema that its tool declares. */
static enum mcpx_err check_value(struct ending *e)
{
    struct mcpx_schema_error error = {MCPX_SLICE("/structuredContent"), MCPX_SLICE("required"),
                                      MCPX_SLICE("is missing")};
    struct mx_decisive members[MX_RESULT_MEMBERS];
    struct mcpx_slice value;
    enum mcpx_err err;

    if (!e->call->output)
        return MCPX_OK;
    if (!mx_result_read(e->end->text, members, &error))
        return mx_flaw_at(&e->calls->flaw, MCPX_CAUSE_OUTPUT, &error);
    value = members[MX_RESULT_VALUE].value;
    if ((!value.text && !members[MX_RESULT_CONTENT].value.text) ||
        mcpx_slice_equal(members[MX_RESULT_IS_ERROR].value, MCPX_SLICE("true")))
        return MCPX_OK;
    if (!value.text)
        return mx_flaw_at(&e->calls->flaw, MCPX_CAUSE_OUTPUT, &error);
    err = mx_evaluate_text(&e->call->output->program, value,
                           e->call->terms->form == MCPX_FORM_AS_IS, &e->calls->report);
    e->is_read = !err;
    if (!err || err == MCPX_ENOMEM)
        return err;
    return mx_flaw_report(&e->calls->flaw,
                          err == MCPX_ELIMIT ? MCPX_CAUSE_SCHEMA : MCPX_CAUSE_OUTPUT, "",
                          &e->calls->report);
}

/* Steps 9 and 10. With `shadow` a flaw is written down and no more. */
static enum mcpx_err check_result(struct ending *e)
{
    size_t max = e->calls->terms->output_max, bytes = e->end->text.len;
    enum mcpx_err err;

    if (e->calls->terms->validate == MX_VALIDATE_OFF)
        return MCPX_OK;
    err = max > 0 && bytes > max ? mx_flaw_size(&e->calls->flaw, MCPX_CAUSE_OUTPUT_SIZE,
                                                "the answer has", bytes, max)
                                 : check_value(e);
    if (err != MCPX_EINVALID || e->calls->terms->validate == MX_VALIDATE_ENFORCE)
        return err;
    return mx_call_note_flaw(e->calls, e->call) ? MCPX_OK : MCPX_ENOMEM;
}

/* Notes what the wrapper has found wrong. */
static enum mcpx_err note_broken(struct ending *e)
{
    struct mcpx_schema_error error = {e->wrapped.path, {0}, e->wrapped.expected};
    enum mcpx_err err;

    if (!e->wrapped.is_broken || e->calls->terms->validate == MX_VALIDATE_OFF)
        return MCPX_OK;
    err = mx_flaw_at(&e->calls->flaw, e->wrapped.cause, &error);
    if (err != MCPX_EINVALID || !mx_call_note_flaw(e->calls, e->call))
        return MCPX_ENOMEM;
    return MCPX_OK;
}

/* Step 11. */
static enum mcpx_err wrap(struct ending *e)
{
    struct mcpx_calls *calls = e->calls;
    struct mcpx_wrap call = wrap_of(calls, e->call, e->end->now);
    enum mcpx_err err;

    call.is_read = e->is_read;
    mcpx_text_reset(&calls->answer);
    err = mcpx_wrap_result(calls->wrapper, &call, e->end->text, &calls->answer, &e->wrapped);
    if (!err)
        err = note_broken(e);
    if (!err)
        *e->out = (struct mcpx_call_answer){false, mcpx_text_view(&calls->answer)};
    return err;
}

/* Chooses the words of the record for a delivered result. */
static void judge_delivered(struct ending *e)
{
    bool is_broken = e->wrapped.is_broken && e->calls->terms->validate == MX_VALIDATE_ENFORCE;

    e->outcome.code = MCPX_CODE_INTERNAL_ERROR;
    if (is_broken) {
        e->outcome.outcome = MCPX_OUTCOME_ERROR;
        e->outcome.code = mcpx_cause_code(e->wrapped.cause);
    } else if (e->wrapped.is_error) {
        e->outcome.outcome = MCPX_OUTCOME_ERROR;
    } else if (e->call->flaw.is_found) {
        e->outcome.outcome = MCPX_OUTCOME_DEGRADED;
        e->outcome.code = mcpx_cause_code(e->call->flaw.cause);
    } else if (e->wrapped.is_warned) {
        e->outcome.outcome = MCPX_OUTCOME_DEGRADED;
        e->outcome.code = MCPX_CODE_COUNT;
    }
}

static enum mcpx_err end_with_result(struct ending *e)
{
    enum mcpx_err err = check_result(e);

    e->outcome.output_bytes = e->end->text.len;
    if (err)
        return err == MCPX_EINVALID ? fail(e) : err;
    if (e->call->terms->form == MCPX_FORM_AS_IS) {
        *e->out = (struct mcpx_call_answer){false, e->end->text};
        e->wrapped.is_error =
            mcpx_slice_equal(mcpx_json_get(e->end->text, "isError"), MCPX_SLICE("true"));
    } else {
        err = wrap(e);
    }
    judge_delivered(e);
    return err;
}

/* The server's own error: as it is, or in an envelope. */
static enum mcpx_err end_with_error(struct ending *e)
{
    struct mcpx_slice number = mcpx_json_get(e->end->text, "code");
    bool is_negative = number.len > 1 && *number.text == '-';
    uint64_t digits = 0;
    enum mcpx_err err;

    mx_flaw_set(&e->calls->flaw, MCPX_CAUSE_FAILED);
    err = fail(e);
    if (is_negative)
        number = (struct mcpx_slice){number.text + 1, number.len - 1};
    if (mx_decimal_read(number, INT32_MAX, &digits))
        e->outcome.code =
            mcpx_code_of_server(is_negative ? -(int64_t)digits : (int64_t)digits);
    if (!err && e->call->terms->form == MCPX_FORM_AS_IS)
        *e->out = (struct mcpx_call_answer){true, e->end->text};
    return err;
}

static enum mcpx_err end_with_failure(struct ending *e)
{
    struct mx_flaw *flaw = &e->calls->flaw;

    mx_flaw_set(flaw, e->end->cause);
    flaw->says.text = e->end->reason;
    flaw->more = e->end->more;
    return fail(e);
}

static enum mcpx_err end_with_refusal(struct ending *e)
{
    mx_flaw_set(&e->calls->flaw, MCPX_CAUSE_DENIED);
    e->outcome.outcome = MCPX_OUTCOME_ERROR;
    e->outcome.code = MCPX_CODE_UNAUTHORIZED;
    *e->out = (struct mcpx_call_answer){e->end->is_error, e->end->text};
    return mx_call_note_flaw(e->calls, e->call) ? MCPX_OK : MCPX_ENOMEM;
}

static enum mcpx_err (*const endings[])(struct ending *) = {
    [MCPX_CALL_RESULT] = end_with_result,
    [MCPX_CALL_ERROR] = end_with_error,
    [MCPX_CALL_FAILED] = end_with_failure,
    [MCPX_CALL_REFUSED] = end_with_refusal,
};

/* The answer, whatever it is, has to fit where it goes. */
static enum mcpx_err fit(struct ending *e)
{
    size_t max = e->end->answer_max, bytes = e->out->text.len;

    if (max == 0 || bytes <= max)
        return MCPX_OK;
    mx_flaw_size(&e->calls->flaw, MCPX_CAUSE_OUTPUT_SIZE, "the answer has", bytes, max);
    return fail(e);
}

/* Takes a call out of the list. */
static void leave(struct mcpx_calls *calls, struct mcpx_call *call)
{
    if (call->to)
        call->to->from = call->from;
    if (call->from)
        call->from->to = call->to;
    else
        calls->first = call->to;
    calls->count--;
}

enum mcpx_err mcpx_calls_answer(struct mcpx_calls *calls, struct mcpx_call *call,
                                const struct mcpx_call_end *end, struct mcpx_call_answer *out)
{
    struct ending e = {
        .calls = calls, .call = call, .end = end, .out = out, .outcome = {.now = end->now}};
    enum mcpx_err err;

    mx_flaw_reset(&calls->flaw);
    err = endings[end->type](&e);
    if (!err)
        err = fit(&e);
    if (err) {
        e.outcome.outcome = MCPX_OUTCOME_ERROR;
        e.outcome.code = MCPX_CODE_INTERNAL_ERROR;
    }
    if (!mx_call_tell_end(calls, call, &e.outcome) && !err)
        err = MCPX_ENOMEM;
    leave(calls, call);
    mx_call_free(call);
    if (err)
        *out = (struct mcpx_call_answer){true, MCPX_SLICE(no_memory)};
    return err ? MCPX_ENOMEM : MCPX_OK;
}
