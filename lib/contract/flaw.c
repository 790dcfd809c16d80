/*
 * flaw.c - what is wrong with a call, as errors and envelopes need it.
 */
#include "lib/contract/flaw.h"

#include "lib/core/format.h"

void mx_flaw_fini(struct mx_flaw *flaw)
{
    mcpx_text_fini(&flaw->path);
    mcpx_text_fini(&flaw->expected);
    mcpx_text_fini(&flaw->errors);
    mcpx_text_fini(&flaw->reason);
    mcpx_text_fini(&flaw->more);
    flaw->is_found = false;
}

void mx_flaw_reset(struct mx_flaw *flaw)
{
    mcpx_text_reset(&flaw->path);
    mcpx_text_reset(&flaw->expected);
    mcpx_text_reset(&flaw->errors);
    mcpx_text_reset(&flaw->reason);
    mcpx_text_reset(&flaw->more);
    flaw->is_found = false;
    flaw->has_path = false;
}

enum mcpx_err mx_flaw_size(struct mx_flaw *flaw, enum mcpx_cause cause, const char *what,
                           size_t bytes, size_t max)
{
    mx_flaw_set(flaw, cause);
    mx_format(&flaw->reason, "%s more than %s bytes", what, max);
    mx_format(&flaw->more, "\"bytes\":%s,\"limit\":%s", bytes, max);
    return MCPX_EINVALID;
}

bool mx_flaw_has_failed(const struct mx_flaw *flaw)
{
    return flaw->path.failed || flaw->expected.failed || flaw->errors.failed ||
           flaw->reason.failed || flaw->more.failed;
}

enum mcpx_err mx_flaw_set(struct mx_flaw *flaw, enum mcpx_cause cause)
{
    mx_flaw_reset(flaw);
    flaw->is_found = true;
    flaw->cause = cause;
    return MCPX_EINVALID;
}

enum mcpx_err mx_flaw_at(struct mx_flaw *flaw, enum mcpx_cause cause,
                         const struct mcpx_schema_error *error)
{
    struct mcpx_schema_report report = {
        .verdict = MCPX_VERDICT_INVALID, .count = 1, .errors = {*error}};

    return mx_flaw_report(flaw, cause, "", &report);
}

/* Appends the errors of a report, their paths behind `prefix`. */
static void add_errors(struct mcpx_text *out, const char *prefix,
                       const struct mcpx_schema_report *report)
{
    struct mcpx_text path = {0};

    mcpx_text_puts(out, "[");
    for (size_t i = 0; i < report->count; i++) {
        const struct mcpx_schema_error *error = &report->errors[i];

        mcpx_text_reset(&path);
        mx_format(&path, "%s%s", prefix, error->path);
        mx_format(out, "%s{\"path\":%q,\"keyword\":%q,\"message\":%q}", i > 0 ? "," : "",
                  &path, error->keyword, error->message);
    }
    mcpx_text_puts(out, "]");
    mcpx_text_fini(&path);
}

void mcpx_schema_errors_add(struct mcpx_text *out, const struct mcpx_schema_report *report)
{
    add_errors(out, "", report);
}

enum mcpx_err mx_flaw_report(struct mx_flaw *flaw, enum mcpx_cause cause, const char *prefix,
                             const struct mcpx_schema_report *report)
{
    mx_flaw_set(flaw, cause);
    add_errors(&flaw->errors, prefix, report);
    if (report->count > 0) {
        flaw->has_path = true;
        mx_format(&flaw->path, "%s%s", prefix, report->errors[0].path);
        mcpx_text_slice(&flaw->expected, report->errors[0].message);
    }
    return mx_flaw_has_failed(flaw) ? MCPX_ENOMEM : MCPX_EINVALID;
}
