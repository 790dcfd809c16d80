/*
 * calls.c - memory of an edge's calls, the flaw found in one of them, what a call leaves behind,
 * and the records that nobody has taken yet.
 */
#include "lib/contract/call.h"

#include "lib/base/rows.h"
#include "lib/contract/terms.h"
#include "lib/json/json_write.h"

#include <stdlib.h>

/* The tool of the handshake, as a set of tools like a server's. */
static bool add_own_tool(struct mcpx_calls *calls)
{
    mx_scoped_text list = mx_formatted("{\"tools\":[%s]}", mx_handshake_tool(calls->terms));

    calls->shelf = mcpx_shelf_new();
    if (calls->shelf)
        calls->own = mcpx_tools_new(calls->shelf, (struct mcpx_slice){0});
    return calls->own && !list.failed &&
           mcpx_tools_add(calls->own, mcpx_text_view(&list), NULL) == MCPX_OK;
}

struct mcpx_calls *mcpx_calls_new(const struct mcpx_calls_options *options)
{
    struct mcpx_calls *calls = (struct mcpx_calls *)calloc(1, sizeof *calls);
    bool is_made;

    if (!calls)
        return NULL;
    calls->options = *options;
    calls->terms = options->terms;
    calls->wrapper = mcpx_wrapper_new(options->contracts);
    calls->ids = mcpx_ids_new();
    is_made = calls->wrapper && calls->ids;
    if (is_made && options->side == MCPX_SIDE_SERVER && calls->terms->has_handshake)
        is_made = add_own_tool(calls);
    if (!is_made) {
        mcpx_calls_free(calls);
        return NULL;
    }
    return calls;
}

static void lines_fini(struct mx_lines *lines)
{
    for (size_t i = 0; i < lines->made; i++)
        mcpx_text_fini(&lines->lines[i].text);
    free(lines->lines);
}

void mcpx_calls_free(struct mcpx_calls *calls)
{
    if (!calls)
        return;
    for (struct mcpx_call *call = calls->first, *next; call; call = next) {
        next = call->to;
        mx_call_free(call);
    }
    mcpx_wrapper_free(calls->wrapper);
    mcpx_ids_free(calls->ids);
    mcpx_tools_free(calls->own);
    mcpx_shelf_free(calls->shelf);
    mcpx_schema_report_fini(&calls->report);
    mx_arena_fini(&calls->flaw.arena);
    mcpx_text_fini(&calls->handshake);
    mcpx_text_fini(&calls->plain);
    mcpx_text_fini(&calls->invoked);
    mcpx_text_fini(&calls->context);
    mcpx_text_fini(&calls->part);
    mcpx_text_fini(&calls->params);
    mcpx_text_fini(&calls->answer);
    lines_fini(&calls->lines);
    free(calls);
}

size_t mcpx_calls_count(const struct mcpx_calls *calls)
{
    return calls->count;
}

void mx_call_free(struct mcpx_call *call)
{
    if (!call)
        return;
    mcpx_schema_unref(call->input);
    mcpx_schema_unref(call->output);
    mx_arena_fini(&call->arena);
    free(call);
}

bool mx_call_keep(struct mcpx_call *call, struct mcpx_slice text, struct mcpx_slice *out)
{
    if (!text.text)
        return true;
    *out = mx_arena_copy(&call->arena, text);
    return out->text != NULL;
}

/* A new record, empty; NULL when memory runs out. */
static struct mcpx_text *lines_next(struct mx_lines *lines, enum mcpx_record which)
{
    struct mx_line *line;

    if (!mx_make_room(&lines->lines, lines->count, &lines->room, sizeof *line))
        return NULL;
    line = &lines->lines[lines->count];
    if (lines->count == lines->made) {
        *line = (struct mx_line){0};
        lines->made++;
    }
    lines->count++;
    mcpx_text_reset(&line->text);
    line->which = which;
    return &line->text;
}

bool mcpx_calls_next_record(struct mcpx_calls *calls, enum mcpx_record *which,
                            struct mcpx_slice *line)
{
    struct mx_lines *lines = &calls->lines;

    if (lines->head == lines->count) {
        lines->head = lines->count = 0;
        return false;
    }
    *which = lines->lines[lines->head].which;
    *line = mcpx_text_view(&lines->lines[lines->head].text);
    lines->head++;
    return true;
}

void mx_flaw_reset(struct mx_flaw *flaw)
{
    struct mx_arena arena = flaw->arena;

    mx_arena_release(&arena, (struct mx_arena_mark){NULL, 0, 0});
    *flaw = (struct mx_flaw){.arena = arena};
}

void mx_flaw_keep(struct mx_flaw *flaw, struct mcpx_text text, struct mcpx_slice *out)
{
    *out = mx_arena_copy(&flaw->arena, mcpx_text_view(&text));
    flaw->failed = flaw->failed || text.failed || !out->text;
    mcpx_text_fini(&text);
}

enum mcpx_err mx_flaw_size(struct mx_flaw *flaw, enum mcpx_cause cause, const char *what,
                           size_t bytes, size_t max)
{
    mx_flaw_set(flaw, cause);
    mx_flaw_keep(flaw, mx_formatted("%s more than %s bytes", what, max), &flaw->says.text);
    mx_flaw_keep(flaw, mx_formatted("\"bytes\":%s,\"limit\":%s", bytes, max), &flaw->more);
    return MCPX_EINVALID;
}

enum mcpx_err mx_flaw_set(struct mx_flaw *flaw, enum mcpx_cause cause)
{
    mx_flaw_reset(flaw);
    flaw->is_found = true;
    flaw->says.cause = cause;
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
    mx_scoped_text path = {0};

    mcpx_text_puts(out, "[");
    for (size_t i = 0; i < report->count; i++) {
        const struct mcpx_schema_error *error = &report->errors[i];

        mcpx_text_reset(&path);
        mx_format(&path, "%s%s", prefix, error->path);
        mx_format(out, "%s{\"path\":%q,\"keyword\":%q,\"message\":%q}", i > 0 ? "," : "",
                  &path, error->keyword, error->message);
    }
    mcpx_text_puts(out, "]");
}

void mcpx_schema_errors_add(struct mcpx_text *out, const struct mcpx_schema_report *report)
{
    add_errors(out, "", report);
}

enum mcpx_err mx_flaw_report(struct mx_flaw *flaw, enum mcpx_cause cause, const char *prefix,
                             const struct mcpx_schema_report *report)
{
    struct mcpx_text errors = {0};

    mx_flaw_set(flaw, cause);
    add_errors(&errors, prefix, report);
    mx_flaw_keep(flaw, errors, &flaw->errors);
    if (report->count > 0) {
        mx_flaw_keep(flaw, mx_formatted("%s%s", prefix, report->errors[0].path),
                     &flaw->says.path);
        mx_flaw_keep(flaw, mx_formatted("%s", report->errors[0].message),
                     &flaw->says.expected);
    }
    return flaw->failed ? MCPX_ENOMEM : MCPX_EINVALID;
}

/* A schema's version, or that there is none. */
static struct mcpx_slice version_of(const struct mcpx_schema *schema,
                                    char out[MCPX_SCHEMA_VERSION_LEN + 1])
{
    mcpx_schema_version(schema, out);
    return mcpx_slice_of(out);
}

static bool tell(struct mcpx_calls *calls, const struct mcpx_telemetry *event)
{
    struct mcpx_text *line = lines_next(&calls->lines, MCPX_RECORD_TELEMETRY);

    if (!line)
        return false;
    mcpx_telemetry_add(line, event, &calls->lines.latest[MCPX_RECORD_TELEMETRY]);
    return !line->failed;
}

bool mx_call_tell_start(struct mcpx_calls *calls, struct mcpx_call *call)
{
    char version[MCPX_SCHEMA_VERSION_LEN + 1];
    struct mcpx_namespaces known = calls->terms->handshake.namespaces;
    struct mcpx_telemetry event = {
        .event = MCPX_TELEMETRY_ALIAS,
        .wall_ms = call->start.wall_ms,
        .request_id = call->request_id,
        .trace_id = call->trace_id,
        .tool = call->tool,
        .alias = call->alias,
        .fixture_version = calls->terms->aliases.fixture_version,
        .actor = call->actor,
        .mode = call->mode,
        .schema_version = version_of(call->input, version),
    };

    if (call->alias.text && !tell(calls, &event))
        return false;
    known.participant = calls->options.participant;
    event.event = MCPX_TELEMETRY_CALL;
    event.tool_namespace = mcpx_namespace_of(&known, call->tool);
    call->is_told = tell(calls, &event);
    return call->is_told;
}

static bool tell_result(struct mcpx_calls *calls, const struct mcpx_call *call,
                        const struct mx_call_outcome *outcome)
{
    char version[MCPX_SCHEMA_VERSION_LEN + 1];
    struct mcpx_telemetry event = {
        .event = MCPX_TELEMETRY_RESULT,
        .wall_ms = outcome->now.wall_ms,
        .request_id = call->request_id,
        .trace_id = call->trace_id,
        .tool = call->tool,
        .schema_version = version_of(call->output, version),
        .outcome = outcome->outcome,
        .category = outcome->code,
        .duration_us = outcome->now.mono_us - call->start.mono_us,
    };

    return tell(calls, &event);
}

static bool validate(struct mcpx_calls *calls, const struct mcpx_call *call,
                     const struct mx_call_outcome *outcome)
{
    char input[MCPX_SCHEMA_VERSION_LEN + 1], output[MCPX_SCHEMA_VERSION_LEN + 1];
    bool is_shadow = calls->terms->validate == MX_VALIDATE_SHADOW;
    struct mcpx_text *text = lines_next(&calls->lines, MCPX_RECORD_VALIDATION);
    struct mcpx_validation line = {
        .wall_ms = outcome->now.wall_ms,
        .transport = call->transport,
        .route = call->route,
        .request_id = call->request_id,
        .trace_id = call->trace_id,
        .span_id = {call->span_id, MCPX_SPAN_LEN},
        .tool = call->tool,
        .mode = is_shadow ? MCPX_SLICE("shadow") : MCPX_SLICE("enforce"),
        .deterministic = calls->options.deterministic,
        .failed = call->flaw.is_found,
        .cause = call->flaw.cause,
        .path = call->flaw.path,
        .input_version = version_of(call->input, input),
        .output_version = version_of(call->output, output),
        .input_bytes = call->input_bytes,
        .output_bytes = outcome->output_bytes,
        .duration_us = outcome->now.mono_us - call->start.mono_us,
    };

    if (!text)
        return false;
    mcpx_validation_add(text, &line, &calls->lines.latest[MCPX_RECORD_VALIDATION]);
    return !text->failed;
}

bool mx_call_tell_end(struct mcpx_calls *calls, const struct mcpx_call *call,
                      const struct mx_call_outcome *outcome)
{
    size_t before = calls->lines.count;
    bool is_told =
        (!call->is_told || tell_result(calls, call, outcome)) &&
        (calls->terms->validate == MX_VALIDATE_OFF || validate(calls, call, outcome));

    if (!is_told)
        calls->lines.count = before;
    return is_told;
}

bool mx_call_note_flaw(struct mcpx_calls *calls, struct mcpx_call *call)
{
    const struct mx_flaw *flaw = &calls->flaw;

    if (call->flaw.is_found || !flaw->is_found)
        return true;
    call->flaw.is_found = true;
    call->flaw.cause = flaw->says.cause;
    return mx_call_keep(call, flaw->says.path, &call->flaw.path);
}
