/*
 * terms.c - a file, or the text itself: who tries terms in a shell wants no file for them. They are
 * read once, before anything starts, so that a fault is heard of by whoever made it.
 */
#include "tools/mcpx-bridge/terms.h"

#include "tools/common/input.h"

/* "/limits/input_bytes must be an integer": each fault on a line of its own. */
static int complain_of_faults(const char *verb, const char *file,
                              const struct mcpx_schema_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct mcpx_schema_error *error = &report->errors[i];

        complain(verb, "--terms%s%s: %.*s%s%.*s", file ? " " : "", file ? file : "",
                 (int)error->path.len, error->path.text ? error->path.text : "",
                 error->path.len ? " " : "", (int)error->message.len, error->message.text);
    }
    return STATUS_USAGE;
}

static int read_text(const char *verb, const char *file, struct mcpx_slice text,
                     struct bridge_terms *out)
{
    struct mcpx_schema_report report = {0};
    enum mcpx_err err;
    int status = STATUS_OK;

    out->shelf = mcpx_shelf_new();
    out->contracts = mcpx_contracts_new(out->shelf);
    err = memory_checked(mcpx_terms_read(out->contracts, text, &report, &out->terms));
    if (err != MCPX_OK)
        status = complain_of_faults(verb, file, &report);
    else
        mcpx_terms_limit(out->terms, out->shelf);
    mcpx_schema_report_fini(&report);
    return status;
}

int bridge_terms_read(const char *verb, const struct arguments *arguments,
                      struct bridge_terms *out)
{
    const char *word = arguments_value(arguments, "--terms");
    struct mcpx_text text = {0};
    bool is_file = word && *word != '{';
    int status = STATUS_OK;

    *out = (struct bridge_terms){0};
    out->deterministic = arguments_have(arguments, "--deterministic-ids");
    if (!word && out->deterministic)
        return fail_with(STATUS_USAGE, verb, "--deterministic-ids wants --terms");
    if (!word)
        return STATUS_OK;
    if (is_file)
        status = input_read(verb, word, &text);
    if (status == STATUS_OK)
        status = read_text(verb, is_file ? word : NULL,
                           is_file ? mcpx_text_view(&text) : mcpx_slice_of(word), out);
    mcpx_text_fini(&text);
    return status;
}

void bridge_terms_fini(struct bridge_terms *terms)
{
    mcpx_terms_free(terms->terms);
    mcpx_contracts_free(terms->contracts);
    mcpx_shelf_free(terms->shelf);
    *terms = (struct bridge_terms){0};
}
