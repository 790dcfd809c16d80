/*
 * terms.c - contract settings from a file, or from the option's text, for trials in a shell. They
 * are read once, before anything starts, so the operator sees errors at once.
 */
#include "tools/mcpx-bridge/terms.h"

#include "lib/json/json_write.h"
#include "tools/common/input.h"
#include "tools/mcpx-bridge/bridge.h"

#include <mcpx/json.h>

/* "/limits/input_bytes must be an integer": each error on a line of its own. */
static int complain_of_faults(const char *file, const struct mcpx_schema_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct mcpx_schema_error *error = &report->errors[i];

        mx_scoped_text fault = mx_formatted("%s%s: %s%s%s", file ? " " : "", file, error->path,
                                            error->path.len ? " " : "", error->message);

        complain("--contracts%s", fault.text);
    }
    return STATUS_USAGE;
}

static int read_text(const char *file, struct mcpx_slice text, struct bridge_terms *out)
{
    struct mcpx_schema_report report = {0};
    enum mcpx_err err;
    int status = STATUS_OK;

    out->shelf = mcpx_shelf_new();
    out->contracts = mcpx_contracts_new(out->shelf);
    err = memory_checked(mcpx_terms_read(out->contracts, text, &report, &out->terms));
    if (err != MCPX_OK)
        status = complain_of_faults(file, &report);
    else
        mcpx_terms_limit(out->terms, out->shelf);
    mcpx_schema_report_fini(&report);
    return status;
}

int bridge_terms_read(const struct arguments *arguments, struct bridge_terms *out)
{
    const char *word = arguments_value(arguments, "--contracts");
    mx_scoped_text text = {0};
    bool is_file = word && *word != '{';
    int status = STATUS_OK;

    *out = (struct bridge_terms){0};
    out->deterministic = arguments_have(arguments, "--deterministic-ids");
    if (!word && out->deterministic)
        return fail_with(STATUS_USAGE, "--deterministic-ids needs --contracts");
    if (!word)
        return STATUS_OK;
    if (is_file)
        status = input_read(word, &text);
    if (status == STATUS_OK)
        status = read_text(is_file ? word : NULL,
                           is_file ? mcpx_text_view(&text) : mcpx_slice_of(word), out);
    return status;
}

void bridge_terms_fini(struct bridge_terms *terms)
{
    mcpx_terms_free(terms->terms);
    mcpx_contracts_free(terms->contracts);
    mcpx_shelf_free(terms->shelf);
    *terms = (struct bridge_terms){0};
}

/* ---- admission and completion ---- */

void bridge_doors_fini(struct bridge_doors *doors)
{
    mcpx_calls_free(doors->calls);
    doors->calls = NULL;
}

bool bridge_doors_are_for(const struct bridge_doors *doors, struct mcpx_slice method)
{
    return doors->terms && bridge_is(method, "tools/call");
}

void bridge_doors_admit(struct bridge_doors *doors, const struct mcpx_calls_options *options,
                        struct mcpx_call_request *request, struct mcpx_slice hello,
                        struct mcpx_admission *out)
{
    struct mcpx_calls_options whole = *options;
    unsigned char chance[MCPX_CALL_RANDOM_LEN] = {0};
    mx_scoped_text version = {0};

    whole.terms = doors->terms->terms;
    whole.contracts = doors->terms->contracts;
    whole.deterministic = doors->terms->deterministic;
    if (!doors->calls)
        doors->calls = mcpx_calls_new(&whole);
    if (!whole.deterministic)
        doors->chance(doors->user, chance, sizeof chance);
    mcpx_json_add_unescaped(&version,
                            mcpx_json_get(mcpx_json_get(hello, "serverInfo"), "version"));
    request->now = doors->now(doors->user);
    request->random = chance;
    if (version.text)
        request->server_version = mcpx_text_view(&version);
    memory_checked(mcpx_calls_admit(doors->calls, request, out));
}

void bridge_doors_end(struct bridge_doors *doors, struct mcpx_call **admitted,
                      struct mcpx_call_end *end, struct mcpx_call_answer *answer)
{
    struct mcpx_call *call = *admitted;

    *admitted = NULL;
    end->now = doors->now(doors->user);
    memory_checked(mcpx_calls_answer(doors->calls, call, end, answer));
}

void bridge_doors_abandon(struct bridge_doors *doors, struct mcpx_call **admitted)
{
    struct mcpx_call_end end = {.type = MCPX_CALL_FAILED,
                                .cause = MCPX_CAUSE_FAILED,
                                .reason = MCPX_SLICE("nobody waits for it any more")};
    struct mcpx_call_answer answer;

    if (*admitted)
        bridge_doors_end(doors, admitted, &end, &answer);
}

int bridge_code_of(enum mcpx_cause cause)
{
    switch (cause) {
    case MCPX_CAUSE_INPUT:
        return BRIDGE_BAD_PARAMS;
    case MCPX_CAUSE_TIMEOUT:
        return BRIDGE_TIMED_OUT;
    case MCPX_CAUSE_DENIED:
        return BRIDGE_NOT_ALLOWED;
    default:
        return BRIDGE_UNAVAILABLE;
    }
}

void bridge_add_answer(struct mcpx_text *out, struct mcpx_slice id,
                       const struct mcpx_call_answer *answer)
{
    mx_format(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"%s\":%s}", id,
              answer->is_error ? "error" : "result", answer->text);
}
