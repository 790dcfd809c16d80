/*
 * verdict.c - one verdict, for programs and for people. Paths hold names of the document's members,
 * so people see them made visible.
 */
#include "tools/mcpxctl/verdict.h"

#include "lib/json/json_write.h"
#include "tools/common/visible.h"

bool verdict_is_valid(const struct verdict *verdict)
{
    return !verdict->unusable && verdict->report->verdict == MCPX_VERDICT_VALID;
}

/* A bound says nothing about the document. */
static const char *code_name(const struct verdict *verdict)
{
    bool unknown = verdict->unusable || verdict->report->verdict == MCPX_VERDICT_UNKNOWN;

    return mcpx_code_name(unknown ? MCPX_CODE_INTERNAL_ERROR : verdict->code);
}

void verdict_write_json(struct mcpx_text *out, const struct verdict *verdict)
{
    const struct mcpx_schema_report *report = verdict->report;
    bool valid = verdict_is_valid(verdict);

    mcpx_text_puts(out, "{");
    if (verdict->line > 0)
        mx_format(out, "\"line\":%s,", verdict->line);
    if (verdict->unusable)
        mcpx_text_puts(out, "\"valid\":null");
    else
        mx_format(out, "\"valid\":%s", valid);
    mx_format(out, ",\"contract\":%q", verdict->contract);
    if (valid)
        mcpx_text_puts(out, ",\"code\":null");
    else
        mx_format(out, ",\"code\":%q", code_name(verdict));
    if (valid || report->count == 0)
        mcpx_text_puts(out, ",\"path\":null");
    else
        mx_format(out, ",\"path\":%q", report->errors[0].path);
    mcpx_text_puts(out, ",\"errors\":");
    mcpx_schema_errors_add(out, report);
    mcpx_text_puts(out, "}\n");
}

void verdict_write(struct mcpx_text *out, const struct verdict *verdict)
{
    if (verdict->line > 0)
        mx_format(out, "line %s: ", verdict->line);
    if (verdict_is_valid(verdict)) {
        mcpx_text_puts(out, "valid\n");
        return;
    }
    mx_format(out, "%s (%s)\n", verdict->unusable ? "the schema cannot be used" : "not valid",
              code_name(verdict));
    for (size_t i = 0; i < verdict->report->count; i++) {
        const struct mcpx_schema_error *error = &verdict->report->errors[i];
        struct mcpx_slice whole = MCPX_SLICE("the whole text");

        text_format(out, "  %s: %s\n", error->path.len > 0 ? error->path : whole,
                    error->message);
    }
}
