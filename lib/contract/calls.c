/*
 * calls.c - memory of an enforcement point's calls, the error of the current one, and their
 * records, kept until they are taken.
 */
#include "lib/contract/call.h"

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
    struct mcpx_calls *calls = calloc(1, sizeof *calls);
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

void mcpx_calls_free(struct mcpx_calls *calls)
{
    if (!calls)
        return;
    for (struct mcpx_call *call = calls->first, *next; call; call = next) {
        next = call->next;
        mx_call_free(call);
    }
    mcpx_wrapper_free(calls->wrapper);
    mcpx_ids_free(calls->ids);
    mcpx_tools_free(calls->own);
    mcpx_shelf_free(calls->shelf);
    mcpx_schema_report_fini(&calls->report);
    mx_arena_fini(&calls->arena);
    mcpx_text_fini(&calls->handshake);
    mcpx_text_fini(&calls->invoked);
    mcpx_text_fini(&calls->params);
    mcpx_text_fini(&calls->answer);
    mcpx_text_fini(&calls->records);
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

void mx_calls_begin(struct mcpx_calls *calls)
{
    mx_arena_release(&calls->arena, (struct mx_arena_mark){NULL, 0, 0});
    calls->call_error = (struct mx_call_error){.is_found = false};
    calls->failed = false;
}

struct mcpx_slice mx_calls_copy(struct mcpx_calls *calls, struct mx_arena *arena,
                                struct mcpx_slice text)
{
    struct mcpx_slice copy = text.text ? mx_arena_copy(arena, text) : text;

    calls->failed |= text.text && !copy.text;
    return copy;
}

struct mcpx_slice mx_calls_take(struct mcpx_calls *calls, struct mx_arena *arena,
                                struct mcpx_text text)
{
    struct mcpx_slice copy = mx_arena_copy(arena, mcpx_text_view(&text));

    calls->failed |= text.failed || !copy.text;
    mcpx_text_fini(&text);
    return copy;
}

bool mcpx_calls_next_record(struct mcpx_calls *calls, enum mcpx_record *which,
                            struct mcpx_slice *line)
{
    const char *record, *end;

    if (calls->taken == calls->records.len) {
        mcpx_text_reset(&calls->records);
        calls->taken = 0;
        return false;
    }
    record = calls->records.text + calls->taken;
    end = memchr(record, '\n', calls->records.len - calls->taken);
    *which = (enum mcpx_record) * record;
    *line = (struct mcpx_slice){record + 1, (size_t)(end - record)};
    calls->taken += 1 + line->len;
    return true;
}

void mx_calls_forget(struct mcpx_calls *calls, size_t before)
{
    calls->records.len = before;
    calls->records.failed = false;
}

bool mx_call_error_set(struct mcpx_calls *calls, enum mcpx_cause cause)
{
    calls->call_error = (struct mx_call_error){.is_found = true, .failure = {.cause = cause}};
    return false;
}

bool mx_call_fits(struct mcpx_calls *calls, enum mcpx_cause cause, const char *what,
                  size_t bytes, size_t max)
{
    if (max == 0 || bytes <= max)
        return true;
    mx_call_error_set(calls, cause);
    calls->call_error.failure.text =
        mx_calls_take(calls, &calls->arena, mx_formatted("%s more than %s bytes", what, max));
    calls->call_error.more = mx_calls_take(
        calls, &calls->arena, mx_formatted("\"bytes\":%s,\"limit\":%s", bytes, max));
    return false;
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

static bool set_error(struct mcpx_calls *calls, enum mcpx_cause cause, const char *prefix,
                      const struct mcpx_schema_report *report)
{
    struct mcpx_text errors = {0};

    mx_call_error_set(calls, cause);
    add_errors(&errors, prefix, report);
    calls->call_error.errors = mx_calls_take(calls, &calls->arena, errors);
    if (report->count == 0)
        return false;
    calls->call_error.failure.path = mx_calls_take(
        calls, &calls->arena, mx_formatted("%s%s", prefix, report->errors[0].path));
    calls->call_error.failure.expected =
        mx_calls_copy(calls, &calls->arena, report->errors[0].message);
    return false;
}

bool mx_call_error_at(struct mcpx_calls *calls, enum mcpx_cause cause,
                      struct mcpx_schema_error error)
{
    struct mcpx_schema_report report = {.count = 1, .errors = {error}};

    return set_error(calls, cause, "", &report);
}

bool mx_call_judged(struct mcpx_calls *calls, enum mcpx_err err, enum mcpx_cause cause,
                    const char *prefix)
{
    calls->failed |= err == MCPX_ENOMEM;
    return !err || (!calls->failed && set_error(calls, cause, prefix, &calls->report));
}

void mx_call_note_error(struct mcpx_calls *calls, struct mcpx_call *call)
{
    if (call->call_error.is_found || !calls->call_error.is_found)
        return;
    call->call_error.is_found = true;
    call->call_error.cause = calls->call_error.failure.cause;
    call->call_error.path = mx_calls_copy(calls, &call->arena, calls->call_error.failure.path);
}

bool mx_call_passes(struct mcpx_calls *calls, struct mcpx_call *call)
{
    if (calls->terms->validate == MX_VALIDATE_SHADOW)
        mx_call_note_error(calls, call);
    return calls->terms->validate != MX_VALIDATE_ENFORCE && !calls->failed;
}

/* A schema's version, or the word for none. */
static struct mcpx_slice version_of(const struct mcpx_schema *schema,
                                    char out[MCPX_SCHEMA_VERSION_LEN + 1])
{
    mcpx_schema_version(schema, out);
    return mcpx_slice_of(out);
}

static struct mcpx_text *next_record(struct mcpx_calls *calls, enum mcpx_record which)
{
    mcpx_text_add(&calls->records, (const char[]){(char)which}, 1);
    return &calls->records;
}

static void tell(struct mcpx_calls *calls, const struct mcpx_telemetry *event)
{
    mcpx_telemetry_add(next_record(calls, MCPX_RECORD_TELEMETRY), event,
                       &calls->latest[MCPX_RECORD_TELEMETRY]);
}

void mx_call_tell_start(struct mcpx_calls *calls, struct mcpx_call *call)
{
    char version[MCPX_SCHEMA_VERSION_LEN + 1];
    struct mcpx_namespaces known = calls->terms->handshake.namespaces;
    struct mcpx_telemetry event = {
        .event = MCPX_TELEMETRY_ALIAS,
        .wall_ms = call->start.wall_ms,
        .request_id = call->wrap.request_id,
        .trace_id = call->trace_id,
        .tool = call->wrap.tool,
        .alias = call->alias,
        .fixture_version = calls->terms->handshake.fixture_version,
        .actor = call->actor,
        .mode = call->mode,
        .schema_version = version_of(call->input, version),
    };

    if (call->alias.text)
        tell(calls, &event);
    known.participant = calls->options.participant;
    event.event = MCPX_TELEMETRY_CALL;
    event.tool_namespace = mcpx_namespace_of(&known, call->wrap.tool);
    tell(calls, &event);
    call->is_told = true;
    calls->failed |= calls->records.failed;
}

static void tell_result(struct mcpx_calls *calls, const struct mcpx_call *call,
                        const struct mx_call_outcome *outcome)
{
    char version[MCPX_SCHEMA_VERSION_LEN + 1];
    struct mcpx_telemetry event = {
        .event = MCPX_TELEMETRY_RESULT,
        .wall_ms = outcome->now.wall_ms,
        .request_id = call->wrap.request_id,
        .trace_id = call->trace_id,
        .tool = call->wrap.tool,
        .schema_version = version_of(call->output, version),
        .outcome = outcome->outcome,
        .category = outcome->code,
        .duration_us = outcome->now.mono_us - call->start.mono_us,
    };

    tell(calls, &event);
}

static void validate(struct mcpx_calls *calls, const struct mcpx_call *call,
                     const struct mx_call_outcome *outcome)
{
    char input[MCPX_SCHEMA_VERSION_LEN + 1], output[MCPX_SCHEMA_VERSION_LEN + 1];
    bool is_shadow = calls->terms->validate == MX_VALIDATE_SHADOW;
    struct mcpx_validation line = {
        .wall_ms = outcome->now.wall_ms,
        .transport = call->transport,
        .route = call->route,
        .request_id = call->wrap.request_id,
        .trace_id = call->trace_id,
        .span_id = {call->span_id, MCPX_SPAN_LEN},
        .tool = call->wrap.tool,
        .mode = is_shadow ? MCPX_SLICE("shadow") : MCPX_SLICE("enforce"),
        .deterministic = calls->options.deterministic,
        .failed = call->call_error.is_found,
        .cause = call->call_error.cause,
        .path = call->call_error.path,
        .input_version = version_of(call->input, input),
        .output_version = version_of(call->output, output),
        .input_bytes = call->input_bytes,
        .output_bytes = outcome->output_bytes,
        .duration_us = outcome->now.mono_us - call->start.mono_us,
    };

    mcpx_validation_add(next_record(calls, MCPX_RECORD_VALIDATION), &line,
                        &calls->latest[MCPX_RECORD_VALIDATION]);
}

void mx_call_tell_end(struct mcpx_calls *calls, const struct mcpx_call *call,
                      const struct mx_call_outcome *outcome)
{
    if (call->is_told)
        tell_result(calls, call, outcome);
    if (calls->terms->validate != MX_VALIDATE_OFF)
        validate(calls, call, outcome);
    calls->failed |= calls->records.failed;
}
