/*
 * wrap.c - turns the output of a server or program into the result for its caller. This file finds
 * and checks the result, others write the envelope around it. Values keep their bytes: nothing is
 * read into numbers or strings and written again.
 */
#include "lib/contract/wrap.h"

#include "lib/base/rows.h"
#include "lib/json/escape.h"
#include "lib/json/json_write.h"
#include "lib/json/tree.h"
#include "lib/schema/program.h"

#include <mcpx/json.h>

#include <stdlib.h>

/* Depth limit of a value: its envelope is one level deeper. */
enum { VALUE_DEPTH = MX_TREE_DEPTH - 1 };

struct mcpx_wrapper *mcpx_wrapper_new(struct mcpx_contracts *contracts)
{
    struct mcpx_wrapper *wrapper = calloc(1, sizeof *wrapper);

    if (wrapper)
        wrapper->contracts = contracts;
    return wrapper;
}

void mcpx_wrapper_free(struct mcpx_wrapper *wrapper)
{
    if (!wrapper)
        return;
    mcpx_schema_report_fini(&wrapper->report);
    mx_tree_fini(&wrapper->arguments);
    mcpx_text_fini(&wrapper->breach);
    mcpx_text_fini(&wrapper->plain);
    mcpx_text_fini(&wrapper->line);
    mcpx_text_fini(&wrapper->string);
    mcpx_text_fini(&wrapper->warnings);
    mcpx_text_fini(&wrapper->artifacts);
    mcpx_text_fini(&wrapper->record);
    mcpx_text_fini(&wrapper->envelope);
    free(wrapper);
}

/* The envelope form of a value; MCPX_FORM_AS_IS: none. One pass: most are none, and long. */
static enum mcpx_form form_of(struct mcpx_slice value)
{
    static const char *const others[] = {"tool_version",  "tool_id",     "request_id",
                                         "capabilities",  "duration_ms", "error",
                                         "upgrade_hints", "data"};
    struct mcpx_slice version = {NULL, 0};
    bool has_tier = false;

    if (mcpx_json_type(value) != MCPX_JSON_OBJECT)
        return MCPX_FORM_AS_IS;
    MCPX_JSON_EACH(walk, value) {
        has_tier = has_tier || mcpx_json_walk_at(&walk, "tier");
        if (!version.text && mcpx_json_walk_at(&walk, "schema_version"))
            version = walk.value;
    }
    if (mcpx_json_equals(version, mcpx_slice_of(mcpx_form_name(MCPX_FORM_ENVELOPE))))
        return MCPX_FORM_ENVELOPE;
    for (size_t i = 0; has_tier && i < sizeof others / sizeof *others; i++)
        has_tier = mcpx_json_get(value, others[i]).text != NULL;
    return has_tier ? MCPX_FORM_RESPONSE : MCPX_FORM_AS_IS;
}

/* The same for JSON in a text, set as `value`. */
static enum mcpx_form form_of_text(struct mcpx_slice text, struct mcpx_slice *value)
{
    struct mcpx_slice json;
    enum mcpx_form form;

    if (!text.text || !memchr(text.text, '{', text.len) ||
        mcpx_json_check(text, MX_TREE_DEPTH, &json, NULL) != MCPX_OK)
        return MCPX_FORM_AS_IS;
    form = form_of(json);
    if (form != MCPX_FORM_AS_IS)
        *value = json;
    return form;
}

/* True when an envelope reports a failed call. */
static bool reports_error(struct mcpx_slice envelope, enum mcpx_form form)
{
    if (form == MCPX_FORM_ENVELOPE)
        return mcpx_json_length(mcpx_json_get(envelope, "errors")) > 0;
    return mcpx_json_type(mcpx_json_get(envelope, "error")) != MCPX_JSON_NULL;
}

/* Copies the first error of the report, because the report is used again. */
static void note_breach(struct mcpx_wrapper *wrapper, enum mcpx_err err,
                        struct mcpx_wrapped *outcome)
{
    const struct mcpx_schema_error *first = &wrapper->report.errors[0];
    struct mcpx_text *breach = &wrapper->breach;

    wrapper->failed |= err == MCPX_ENOMEM;
    if (err == MCPX_OK || err == MCPX_ENOMEM)
        return;
    outcome->is_broken = true;
    outcome->cause = err == MCPX_ELIMIT ? MCPX_CAUSE_SCHEMA : MCPX_CAUSE_OUTPUT;
    if (wrapper->report.count == 0)
        return;
    mcpx_text_reset(breach);
    mx_format(breach, "%s%s", first->path, first->message);
    wrapper->failed |= breach->failed;
    if (breach->failed)
        return;
    outcome->path = (struct mcpx_slice){breach->text, first->path.len};
    outcome->expected =
        (struct mcpx_slice){breach->text + first->path.len, first->message.len};
}

static void judge(struct mcpx_wrapper *wrapper, const struct mx_answer *answer, bool is_read,
                  struct mcpx_wrapped *outcome)
{
    struct mcpx_schema_report *report = &wrapper->report;
    enum mcpx_err err = MCPX_OK;
    struct mcpx_slice value;

    if (answer->ready != MCPX_FORM_AS_IS)
        err = mcpx_contracts_validate(wrapper->contracts,
                                      answer->ready == MCPX_FORM_ENVELOPE
                                          ? MCPX_CONTRACT_ENVELOPE
                                          : MCPX_CONTRACT_RESPONSE,
                                      answer->value, report);
    else if (mcpx_json_check(answer->value, VALUE_DEPTH, &value, NULL) != MCPX_OK)
        err = mx_report_error(report, mx_error("", "json", "must be nested at most 511 deep"));
    else if (!is_read)
        err = mx_report_unreadable(report, answer->value, false);
    note_breach(wrapper, err, outcome);
}

static void compose(struct mcpx_wrapper *wrapper, const struct mx_answer *answer,
                    struct mcpx_wrapped *outcome)
{
    bool is_envelope = answer->call->form == MCPX_FORM_ENVELOPE;

    if (is_envelope)
        mx_envelope_compose(wrapper, answer);
    else
        mx_response_compose(wrapper, answer);
    outcome->is_warned = is_envelope && wrapper->warnings.len > 1;
    outcome->is_error = answer->failure != NULL;
}

/* Composes the failure in the place of a broken result. */
static void compose_breach(struct mcpx_wrapper *wrapper, const struct mcpx_wrap *call,
                           struct mcpx_wrapped *outcome)
{
    struct mcpx_failure failure = {
        .cause = outcome->cause, .path = outcome->path, .expected = outcome->expected};
    struct mx_answer answer = {.call = call, .failure = &failure};

    compose(wrapper, &answer, outcome);
}

/* Appends content: the envelope's text, then the blocks of other types. */
static void add_content(struct mcpx_text *out, struct mcpx_slice envelope,
                        struct mcpx_slice content)
{
    mx_format(out, "[{\"type\":\"text\",\"text\":%q}", envelope);
    MCPX_JSON_EACH_WHILE(mcpx_json_type(content) == MCPX_JSON_ARRAY, walk, content) {
        if (!mcpx_json_equals(mcpx_json_get(walk.value, "type"), MCPX_SLICE("text")))
            mx_format(out, ",%s", walk.value);
    }
    mcpx_text_puts(out, "]");
}

static void add_result(struct mcpx_text *out, const struct mcpx_text *envelope)
{
    mcpx_text_puts(out, "{\"content\":");
    add_content(out, mcpx_text_view(envelope), (struct mcpx_slice){NULL, 0});
    mx_format(out, ",\"structuredContent\":%s,\"isError\":true}", envelope);
}

/* Appends the server's result with three members replaced. */
static void add_replaced(struct mcpx_text *out, struct mcpx_slice result,
                         const struct mcpx_text *envelope, bool is_error)
{
    struct mcpx_slice text = mcpx_text_view(envelope);
    mx_scoped_text content = {0};
    struct mcpx_json_change changes[3];

    add_content(&content, text, mcpx_json_get(result, "content"));
    changes[0] = (struct mcpx_json_change){"content", mcpx_text_view(&content)};
    changes[1] = (struct mcpx_json_change){"structuredContent", text};
    changes[2] = (struct mcpx_json_change){"isError", MCPX_SLICE("true")};
    mcpx_json_add_changed(out, result, changes, is_error ? 3 : 2);
    out->failed |= content.failed || envelope->failed;
}

/* The first text block of a result, a JSON string; absent: there is none. `count` counts blocks. */
static struct mcpx_slice first_text(struct mcpx_slice content, size_t *count)
{
    struct mcpx_slice first = {NULL, 0};

    *count = 0;
    MCPX_JSON_EACH_WHILE(mcpx_json_type(content) == MCPX_JSON_ARRAY, walk, content) {
        struct mcpx_slice text = mcpx_json_get(walk.value, "text");

        ++*count;
        if (!first.text && mcpx_json_type(text) == MCPX_JSON_STRING &&
            mcpx_json_equals(mcpx_json_get(walk.value, "type"), MCPX_SLICE("text")))
            first = text;
    }
    return first;
}

bool mx_result_read(struct mcpx_slice result, struct mx_decisive members[MX_RESULT_MEMBERS],
                    struct mcpx_schema_error *error)
{
    static const char *const paths[] = {"/isError", "/structuredContent", "/content"};
    bool is_object = mcpx_json_type(result) == MCPX_JSON_OBJECT;
    size_t i = 0;

    for (size_t j = 0; j < MX_RESULT_MEMBERS; j++)
        members[j].name = paths[j] + 1;
    if (mx_decisive_find(result, members, MX_RESULT_MEMBERS, NULL) && is_object)
        return true;
    while (is_object && i + 1 < MX_RESULT_MEMBERS &&
           mx_decisive_find(result, &members[i], 1, NULL))
        i++;
    for (size_t j = 0; j < MX_RESULT_MEMBERS; j++)
        members[j].value = mcpx_json_get(result, members[j].name);
    *error = is_object ? mx_error(paths[i], "ambiguous", "must not be readable in two ways")
                       : mx_error("", "type", "must be an object");
    return false;
}

static struct mx_answer read_answer(struct mcpx_wrapper *wrapper, const struct mcpx_wrap *call,
                                    const struct mx_decisive members[MX_RESULT_MEMBERS])
{
    struct mx_answer answer = {.call = call, .value = members[MX_RESULT_VALUE].value};
    size_t blocks;

    answer.said = first_text(members[MX_RESULT_CONTENT].value, &blocks);
    mcpx_text_reset(&wrapper->plain);
    if (answer.value.text) {
        answer.ready = form_of(answer.value);
    } else if (answer.said.text && blocks == 1) {
        answer.value = answer.said;
        mcpx_json_add_unescaped(&wrapper->plain, answer.said);
        answer.ready = form_of_text(mcpx_text_view(&wrapper->plain), &answer.value);
    } else {
        answer.value = members[MX_RESULT_CONTENT].value;
    }
    wrapper->failed = wrapper->plain.failed;
    return answer;
}

/* Removes the appended text on failure. */
static enum mcpx_err finish(const struct mcpx_wrapper *wrapper, struct mcpx_text *out,
                            size_t before)
{
    bool failed = wrapper->failed || out->failed;

    if (failed)
        mx_take_back(out, before);
    return failed ? MCPX_ENOMEM : MCPX_OK;
}

/* Wraps a valid result. `is_failure`: the server reports a failure. */
static void wrap_answer(struct mcpx_wrapper *wrapper, struct mx_answer *answer,
                        bool is_failure, struct mcpx_wrapped *outcome)
{
    static const struct mcpx_failure failure = {.cause = MCPX_CAUSE_FAILED};
    bool is_refused =
        answer->call->form == MCPX_FORM_RESPONSE &&
        mcpx_slice_equal(mcpx_json_get(answer->value, "success"), MCPX_SLICE("false"));

    if (answer->ready == MCPX_FORM_AS_IS) {
        answer->failure = is_failure || is_refused ? &failure : NULL;
        compose(wrapper, answer, outcome);
        return;
    }
    mcpx_text_reset(&wrapper->envelope);
    mcpx_text_slice(&wrapper->envelope, answer->value);
    outcome->is_error = is_failure || reports_error(answer->value, answer->ready);
}

static bool is_named(const struct mcpx_wrap *call)
{
    return call->tool.len > 0 && call->request_id.len > 0;
}

enum mcpx_err mcpx_wrap_result(struct mcpx_wrapper *wrapper, const struct mcpx_wrap *call,
                               struct mcpx_slice result, struct mcpx_text *out,
                               struct mcpx_wrapped *outcome)
{
    struct mx_decisive members[MX_RESULT_MEMBERS];
    struct mcpx_schema_error error;
    bool is_clear = mx_result_read(result, members, &error);
    bool is_failure = mcpx_slice_equal(members[MX_RESULT_IS_ERROR].value, MCPX_SLICE("true"));
    struct mx_answer answer = read_answer(wrapper, call, members);
    size_t before = out->len;

    *outcome = (struct mcpx_wrapped){.cause = MCPX_CAUSE_FAILED, .is_error = is_failure};
    if (!is_named(call))
        return MCPX_EINVALID;
    if (call->form != MCPX_FORM_AS_IS && !is_clear)
        note_breach(wrapper, mx_report_error(&wrapper->report, error), outcome);
    else if (call->form != MCPX_FORM_AS_IS && answer.value.text)
        judge(wrapper, &answer, call->is_read, outcome);
    outcome->is_unready = !answer.value.text && !outcome->is_broken;
    if (outcome->is_broken && call->enforce) {
        compose_breach(wrapper, call, outcome);
        add_result(out, &wrapper->envelope);
    } else if (call->form == MCPX_FORM_AS_IS || !answer.value.text) {
        mcpx_text_slice(out, result);
    } else {
        wrap_answer(wrapper, &answer, is_failure, outcome);
        add_replaced(out, result, &wrapper->envelope, outcome->is_error);
    }
    return finish(wrapper, out, before);
}

enum mcpx_err mcpx_wrap_failure(struct mcpx_wrapper *wrapper, const struct mcpx_wrap *call,
                                const struct mcpx_failure *failure, struct mcpx_text *out)
{
    struct mx_answer answer = {.call = call, .failure = failure};
    struct mcpx_wrapped outcome;
    size_t before = out->len;

    if (!is_named(call) || call->form == MCPX_FORM_AS_IS ||
        !mcpx_cause_in_envelope(failure->cause))
        return MCPX_EINVALID;
    wrapper->failed = false;
    compose(wrapper, &answer, &outcome);
    add_result(out, &wrapper->envelope);
    return finish(wrapper, out, before);
}

static enum mcpx_err read_output(struct mcpx_wrapper *wrapper,
                                 const struct mcpx_output *output, struct mx_answer *answer)
{
    enum mcpx_err err;

    wrapper->failed = false;
    mcpx_text_reset(&wrapper->plain);
    if (output->json.text) {
        err = mcpx_json_check(output->json, 0, &answer->value, NULL);
        answer->ready = err ? MCPX_FORM_AS_IS : form_of(answer->value);
        return err;
    }
    if (!output->text.text)
        return MCPX_OK;
    if (!mx_utf8_is_valid(output->text, NULL))
        return MCPX_EUTF8;
    answer->ready = form_of_text(output->text, &answer->value);
    if (answer->ready == MCPX_FORM_AS_IS) {
        mcpx_json_add_string(&wrapper->plain, output->text);
        answer->value = mcpx_text_view(&wrapper->plain);
    }
    return wrapper->plain.failed ? MCPX_ENOMEM : MCPX_OK;
}

enum mcpx_err mcpx_wrap_output(struct mcpx_wrapper *wrapper, const struct mcpx_wrap *call,
                               const struct mcpx_output *output, struct mcpx_text *out,
                               struct mcpx_wrapped *outcome)
{
    struct mx_answer answer = {.call = call, .failure = output->failure};
    size_t before = out->len;
    enum mcpx_err err;

    *outcome = (struct mcpx_wrapped){.cause = output->failure ? output->failure->cause
                                                              : MCPX_CAUSE_FAILED};
    if (!is_named(call) || call->form == MCPX_FORM_AS_IS ||
        !mcpx_cause_in_envelope(outcome->cause) ||
        (!output->failure && !output->json.text && !output->text.text))
        return MCPX_EINVALID;
    err = read_output(wrapper, output, &answer);
    if (err)
        return err;
    if (answer.value.text)
        judge(wrapper, &answer, false, outcome);
    if (outcome->is_broken && call->enforce)
        compose_breach(wrapper, call, outcome);
    else if (answer.ready != MCPX_FORM_AS_IS || !output->failure)
        wrap_answer(wrapper, &answer, false, outcome);
    else
        compose(wrapper, &answer, outcome);
    mx_format(out, "%s", &wrapper->envelope);
    return finish(wrapper, out, before);
}
