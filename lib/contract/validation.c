/*
 * validation.c - lines of the validation log: sixteen members, always, in one order, so that lines
 * can be compared byte by byte once what differs from run to run is taken out.
 */
#include "lib/contract/record.h"

#include "lib/core/json_write.h"
#include <mcpx/json.h>
#include <mcpx/record.h>

/* A text, or null when it is absent; it may be empty. */
static void add_or_null(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    if (text.text)
        mx_record_cut(out, name, text);
    else
        mx_json_add_raw(out, name, MCPX_SLICE("null"));
}

static void add_verdict(struct mcpx_text *out, const struct mcpx_validation *line)
{
    mcpx_json_add_member(out, "status", mcpx_slice_of(line->failed ? "error" : "ok"));
    if (!line->failed) {
        mx_json_add_raw(out, "error", MCPX_SLICE("null"));
        return;
    }
    mx_json_begin_object(out, "error");
    mcpx_json_add_member(out, "canonical_code",
                         mcpx_slice_of(mcpx_code_name(mcpx_cause_code(line->cause))));
    mcpx_json_add_member(out, "cause", mcpx_slice_of(mcpx_cause_name(line->cause)));
    add_or_null(out, "path", line->path);
    mx_json_end_object(out);
}

void mcpx_validation_add(struct mcpx_text *out, const struct mcpx_validation *line,
                         int64_t *latest)
{
    mcpx_text_puts(out, "{");
    mx_record_time(out, line->wall_ms, latest);
    mx_record_text(out, "transport", line->transport);
    add_or_null(out, "route", line->route);
    mx_record_text(out, "requestId", line->request_id);
    mx_record_text(out, "traceId", line->trace_id);
    mx_record_text(out, "spanId", line->span_id);
    add_or_null(out, "tool", line->tool);
    mx_record_text(out, "mode", line->mode);
    mx_json_add_bool(out, "deterministic", line->deterministic);
    add_verdict(out, line);
    mx_record_text(out, "inputSchemaVersion", line->input_version);
    mx_record_text(out, "outputSchemaVersion", line->output_version);
    mx_json_add_number(out, "inputBytes", (int64_t)line->input_bytes);
    mx_json_add_number(out, "outputBytes", (int64_t)line->output_bytes);
    mx_record_duration(out, line->duration_us);
    mcpx_text_puts(out, "}\n");
}
