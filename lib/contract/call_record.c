/*
 * call_record.c - what a call leaves behind.
 */
#include "lib/contract/call.h"

/* A schema's version, or that there is none. */
static struct mcpx_slice version_of(const struct mcpx_schema *schema,
                                    char out[MCPX_SCHEMA_VERSION_LEN + 1])
{
    mcpx_schema_version(schema, out);
    return mcpx_slice_of(out);
}

static bool tell(struct mcpx_calls *calls, const struct mcpx_telemetry *event)
{
    struct mcpx_text *line = mx_lines_next(&calls->lines, MCPX_RECORD_TELEMETRY);

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
    struct mcpx_text *text = mx_lines_next(&calls->lines, MCPX_RECORD_VALIDATION);
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
        mx_lines_cut(&calls->lines, before);
    return is_told;
}

bool mx_call_note_flaw(struct mcpx_calls *calls, struct mcpx_call *call)
{
    const struct mx_flaw *flaw = &calls->flaw;

    if (call->flaw.is_found || !flaw->is_found)
        return true;
    call->flaw.is_found = true;
    call->flaw.cause = flaw->cause;
    if (!flaw->has_path)
        return true;
    call->flaw.path = mx_arena_copy(&call->arena, mcpx_text_view(&flaw->path));
    return call->flaw.path.text != NULL;
}
