/*
 * event.c - lines of telemetry. The words for who calls, and in which mode, come from outside, and
 * a call is counted whatever they are: a word that the contract does not know becomes the one that
 * an edge would have put there.
 */
#include "lib/contract/record.h"

#include "lib/core/json_write.h"
#include <mcpx/json.h>
#include <mcpx/record.h>

/* The words that the contract knows; the first counts in place of all others. */
static const char *const actors[] = {"agent", "human", "system"};
static const char *const modes[] = {"operator", "quick", "architect"};

enum { WORDS = 3 };

static struct mcpx_slice known_word(struct mcpx_slice word, const char *const words[WORDS])
{
    for (size_t i = 1; i < WORDS; i++) {
        if (mcpx_slice_equal(word, mcpx_slice_of(words[i])))
            return word;
    }
    return mcpx_slice_of(words[0]);
}

static void add_alias(struct mcpx_text *out, const struct mcpx_telemetry *event)
{
    mx_record_text(out, "aliasName", event->alias);
    mx_record_text(out, "canonicalToolName", event->tool);
    mx_record_text(out, "parityFixtureVersion", event->fixture_version);
}

static void add_call(struct mcpx_text *out, const struct mcpx_telemetry *event)
{
    mx_record_text(out, "toolName", event->tool);
    mx_record_text(out, "namespace", event->tool_namespace);
    mcpx_json_add_member(out, "actor", known_word(event->actor, actors));
    mcpx_json_add_member(out, "mode", known_word(event->mode, modes));
    mx_record_text(out, "inputSchemaVersion", event->schema_version);
}

static void add_category(struct mcpx_text *out, const struct mcpx_telemetry *event)
{
    const char *name =
        event->outcome == MCPX_OUTCOME_OK ? NULL : mcpx_code_name(event->category);

    if (!name && event->outcome == MCPX_OUTCOME_ERROR)
        name = mcpx_code_name(MCPX_CODE_INTERNAL_ERROR);
    if (name)
        mcpx_json_add_member(out, "errorCategory", mcpx_slice_of(name));
    else
        mx_json_add_raw(out, "errorCategory", MCPX_SLICE("null"));
}

static void add_result(struct mcpx_text *out, const struct mcpx_telemetry *event)
{
    static const char *const outcomes[] = {"ok", "degraded", "error"};

    mx_record_text(out, "toolName", event->tool);
    mcpx_json_add_member(out, "status", mcpx_slice_of(outcomes[event->outcome]));
    mx_record_duration(out, event->duration_us);
    add_category(out, event);
    mx_record_text(out, "outputSchemaVersion", event->schema_version);
}

void mcpx_telemetry_add(struct mcpx_text *out, const struct mcpx_telemetry *event,
                        int64_t *latest)
{
    static const struct {
        const char *name;
        void (*add)(struct mcpx_text *out, const struct mcpx_telemetry *event);
    } events[] = {
        {"mcp.alias.call", add_alias},
        {"mcp.tool.call", add_call},
        {"mcp.tool.result", add_result},
    };

    mcpx_text_puts(out, "{");
    mcpx_json_add_member(out, "eventName", mcpx_slice_of(events[event->event].name));
    mx_record_time(out, event->wall_ms, latest);
    mx_record_text(out, "requestId", event->request_id);
    mx_record_text(out, "traceId", event->trace_id);
    events[event->event].add(out, event);
    mcpx_text_puts(out, "}\n");
}
