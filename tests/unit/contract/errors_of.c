/*
 * errors_of.c - errors in a line.
 */
#include "tests/unit/contract/errors_of.h"

const char *errors_of(const struct mcpx_schema_report *report, struct mcpx_text *out)
{
    mcpx_text_reset(out);
    mcpx_text_puts(out, "");
    for (size_t i = 0; i < report->count; i++) {
        mcpx_text_puts(out, i ? "; " : "");
        mcpx_text_slice(out, report->errors[i].path);
        mcpx_text_puts(out, " ");
        mcpx_text_slice(out, report->errors[i].keyword);
        mcpx_text_puts(out, " ");
        mcpx_text_slice(out, report->errors[i].message);
    }
    return out->text;
}
