/*
 * record.c - writes the lines of telemetry and of the validation log, and the entries of the
 * handshake. A line is written even when a value is empty, because readers count calls by lines:
 * each member has a value for that case. Texts from outside are cut here, so that one call cannot
 * fill a disk. An unknown word for the caller or the mode becomes the default word.
 *
 * A line of the validation log always has the same sixteen members in the same order, so two logs
 * can be compared byte by byte without the members that differ from run to run. Entries of the
 * handshake are one sorted list: those of a namespace stand together, its tools in order.
 */
#include "lib/contract/wrap.h"

#include "lib/base/ident.h"
#include "lib/json/json_write.h"

#include <mcpx/json.h>
#include <mcpx/record.h>
#include <mcpx/text.h>

#include <stdlib.h>

static const struct mcpx_slice none = {"none", 4};

void mcpx_schema_version(const struct mcpx_schema *schema,
                         char out[MCPX_SCHEMA_VERSION_LEN + 1])
{
    const struct mcpx_slice prefix = MCPX_SLICE("sha256:");

    memset(out, 0, MCPX_SCHEMA_VERSION_LEN + 1);
    memcpy(out, schema ? prefix.text : none.text, schema ? prefix.len : none.len);
    if (schema)
        memcpy(out + prefix.len, mcpx_schema_fingerprint(schema).text,
               MCPX_SCHEMA_VERSION_LEN - prefix.len);
}

/* The time of a line. `latest` as in mcpx_telemetry_add. */
static const char *time_of(int64_t wall_ms, int64_t *latest, char out[MX_TIME_LEN + 1])
{
    if (wall_ms > *latest)
        *latest = wall_ms;
    mx_time_format(*latest, out);
    return out;
}

/* A text for lines: at most MCPX_RECORD_TEXT_MAX characters, "none" for an empty one. */
static struct mcpx_slice text_of(struct mcpx_slice text)
{
    return mx_cut(text.len > 0 ? text : none, MCPX_RECORD_TEXT_MAX);
}

/* Appends a text, or null when it is absent; it may be empty. */
static void add_or_null(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    if (text.text)
        mcpx_json_add_member(out, name, mx_cut(text, MCPX_RECORD_TEXT_MAX));
    else
        mx_json_add_raw(out, name, MCPX_SLICE("null"));
}

/* Appends "durationMs": microseconds as milliseconds with at most three places. */
static void add_duration(struct mcpx_text *out, int64_t duration_us)
{
    int64_t us = duration_us > 0 ? duration_us : 0;

    mx_format(out, ",\"durationMs\":%s.%s%s%s", us / 1000, us / 100 % 10, us / 10 % 10,
              us % 10);
    while (out->len > 0 && out->text[out->len - 1] == '0')
        out->len--;
    if (out->len > 0 && out->text[out->len - 1] == '.')
        out->len--;
}

/* The words of the contract; the first replaces all unknown ones. */
static const char *const actors[] = {"agent", "human", "system"};
static const char *const modes[] = {"operator", "quick", "architect"};

enum { WORDS = 3 };

static const char *known_word(struct mcpx_slice word, const char *const words[WORDS])
{
    size_t i = WORDS - 1;

    while (i > 0 && !mcpx_slice_equal(word, mcpx_slice_of(words[i])))
        i--;
    return words[i];
}

static void add_alias(struct mcpx_text *out, const struct mcpx_telemetry *event)
{
    mx_format(out, ",\"aliasName\":%q,\"canonicalToolName\":%q,\"parityFixtureVersion\":%q",
              text_of(event->alias), text_of(event->tool), text_of(event->fixture_version));
}

static void add_call(struct mcpx_text *out, const struct mcpx_telemetry *event)
{
    mx_format(out,
              ",\"toolName\":%q,\"namespace\":%q,\"actor\":%q,\"mode\":%q,"
              "\"inputSchemaVersion\":%q",
              text_of(event->tool), text_of(event->tool_namespace),
              known_word(event->actor, actors), known_word(event->mode, modes),
              text_of(event->schema_version));
}

static void add_result(struct mcpx_text *out, const struct mcpx_telemetry *event)
{
    static const char *const outcomes[] = {"ok", "degraded", "error"};
    bool is_known = event->outcome != MCPX_OUTCOME_OK && mcpx_code_name(event->category);
    enum mcpx_code code = is_known ? event->category : MCPX_CODE_INTERNAL_ERROR;
    bool has_code = is_known || event->outcome == MCPX_OUTCOME_ERROR;

    mx_format(out, ",\"toolName\":%q,\"status\":%q", text_of(event->tool),
              outcomes[event->outcome]);
    add_duration(out, event->duration_us);
    add_or_null(out, "errorCategory", mcpx_slice_of(has_code ? mcpx_code_name(code) : NULL));
    mx_format(out, ",\"outputSchemaVersion\":%q", text_of(event->schema_version));
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
    char ts[MX_TIME_LEN + 1];

    mx_format(out, "{\"eventName\":%q,\"ts\":%q,\"requestId\":%q,\"traceId\":%q",
              events[event->event].name, time_of(event->wall_ms, latest, ts),
              text_of(event->request_id), text_of(event->trace_id));
    events[event->event].add(out, event);
    mcpx_text_puts(out, "}\n");
}

static void add_verdict(struct mcpx_text *out, const struct mcpx_validation *line)
{
    if (!line->failed) {
        mcpx_text_puts(out, ",\"status\":\"ok\",\"error\":null");
        return;
    }
    mx_format(out, ",\"status\":\"error\",\"error\":{\"canonical_code\":%q,\"cause\":%q",
              mcpx_code_name(mcpx_cause_code(line->cause)), mcpx_cause_name(line->cause));
    add_or_null(out, "path", line->path);
    mcpx_text_puts(out, "}");
}

void mcpx_validation_add(struct mcpx_text *out, const struct mcpx_validation *line,
                         int64_t *latest)
{
    char ts[MX_TIME_LEN + 1];

    mx_format(out, "{\"ts\":%q,\"transport\":%q", time_of(line->wall_ms, latest, ts),
              text_of(line->transport));
    add_or_null(out, "route", line->route);
    mx_format(out, ",\"requestId\":%q,\"traceId\":%q,\"spanId\":%q", text_of(line->request_id),
              text_of(line->trace_id), text_of(line->span_id));
    add_or_null(out, "tool", line->tool);
    mx_format(out, ",\"mode\":%q,\"deterministic\":%s", text_of(line->mode),
              line->deterministic);
    add_verdict(out, line);
    mx_format(out,
              ",\"inputSchemaVersion\":%q,\"outputSchemaVersion\":%q,\"inputBytes\":%s,"
              "\"outputBytes\":%s",
              text_of(line->input_version), text_of(line->output_version), line->input_bytes,
              line->output_bytes);
    add_duration(out, line->duration_us);
    mcpx_text_puts(out, "}\n");
}

/* A tool in its namespace, or a namespace: then `tool` is absent, and `known` describes the
 * namespace. */
struct entry {
    struct mcpx_slice space;
    struct mcpx_slice tool;
    const struct mcpx_namespace *known;
};

struct mcpx_slice mcpx_namespace_of(const struct mcpx_namespaces *known,
                                    struct mcpx_slice tool)
{
    struct mcpx_slice longest = {NULL, 0};
    const char *dot;

    for (size_t i = 0; i < known->count; i++) {
        struct mcpx_slice name = known->list[i].name;

        if (name.len > longest.len && name.len < tool.len && tool.text[name.len] == '.' &&
            memcmp(name.text, tool.text, name.len) == 0)
            longest = name;
    }
    if (longest.len > 0)
        return longest;
    dot = tool.len > 0 ? memchr(tool.text, '.', tool.len) : NULL;
    if (dot && dot > tool.text)
        return (struct mcpx_slice){tool.text, (size_t)(dot - tool.text)};
    return known->participant;
}

static int by_space_and_tool(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    int order = mcpx_slice_compare(left->space, right->space);

    return order != 0 ? order : mcpx_slice_compare(left->tool, right->tool);
}

static int by_alias(const void *a, const void *b)
{
    const struct mcpx_alias *left = a, *right = b;
    int order = mcpx_slice_compare(left->alias, right->alias);

    return order != 0 ? order : mcpx_slice_compare(left->canonical, right->canonical);
}

/* Fills the list, with room for all, and sorts it. Returns the number of entries. */
static size_t list_entries(const struct mcpx_handshake *handshake, struct entry *entries)
{
    const struct mcpx_namespaces *known = &handshake->namespaces;
    const struct mcpx_slice own_space = MCPX_SLICE(MCPX_HANDSHAKE_NAMESPACE);
    size_t count = 0;

    for (size_t i = 0; i < known->count; i++) {
        struct mcpx_slice name = known->list[i].name;

        entries[count++] = (struct entry){name, {NULL, 0}, &known->list[i]};
        if (mcpx_slice_equal(name, own_space))
            entries[count++] = (struct entry){name, MCPX_SLICE(MCPX_HANDSHAKE_TOOL), NULL};
    }
    for (size_t i = 0; i < handshake->tool_count; i++) {
        struct mcpx_slice tool = handshake->tools[i];

        entries[count++] = (struct entry){mcpx_namespace_of(known, tool), tool, NULL};
    }
    qsort(entries, count, sizeof *entries, by_space_and_tool);
    return count;
}

/* Appends the namespace of the first entries. Returns the number of its entries. */
static size_t add_namespace(struct mcpx_text *out, const struct entry *entries, size_t left)
{
    struct mcpx_namespace known = {.name = entries->space};
    struct mcpx_slice last = {NULL, 0};
    mx_scoped_text tools = {0};
    size_t count = 0;

    for (; count < left && mcpx_slice_equal(entries[count].space, known.name); count++) {
        struct mcpx_slice tool = entries[count].tool;

        if (entries[count].known)
            known = *entries[count].known;
        if (tool.text && (!last.text || !mcpx_slice_equal(tool, last)))
            mx_json_add_item(&tools, tool);
        last = tool.text ? tool : last;
    }
    mx_json_begin_object(out, NULL);
    mx_format(out,
              "\"namespace\":%q,\"version\":%q,\"tools\":[%s],\"ownerTeam\":%q,"
              "\"stability\":%q}",
              text_of(known.name), known.version.len > 0 ? known.version : MCPX_SLICE("0.0"),
              &tools, known.owner.len > 0 ? known.owner : MCPX_SLICE("unowned"),
              known.stability.len > 0 ? known.stability : MCPX_SLICE("unspecified"));
    return count;
}

static bool add_namespaces(struct mcpx_text *out, const struct mcpx_handshake *handshake)
{
    size_t most = handshake->namespaces.count + handshake->tool_count + 1, count, at = 0;
    struct entry *entries = calloc(most, sizeof *entries);

    if (!entries)
        return false;
    count = list_entries(handshake, entries);
    mx_json_begin_array(out, "toolNamespaces");
    while (at < count)
        at += add_namespace(out, entries + at, count - at);
    mx_json_end_array(out);
    free(entries);
    return true;
}

static bool add_aliases(struct mcpx_text *out, const struct mcpx_handshake *handshake)
{
    size_t count = handshake->alias_count;
    struct mcpx_alias *sorted = calloc(count + 1, sizeof *sorted);

    if (!sorted)
        return false;
    if (count > 0)
        memcpy(sorted, handshake->aliases, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_alias);
    mx_json_begin_array(out, "aliases");
    for (size_t i = 0; i < count; i++)
        mx_format(out, "%s{\"alias\":%q,\"canonical\":%q}", i > 0 ? "," : "", sorted[i].alias,
                  sorted[i].canonical);
    mx_json_end_array(out);
    free(sorted);
    return true;
}

enum mcpx_err mcpx_handshake_add(struct mcpx_text *out, const struct mcpx_handshake *handshake)
{
    mx_scoped_text made = mx_formatted("{\"mcpVersion\":%q,\"schemaVersion\":%q",
                                       handshake->mcp_version, handshake->schema_version);

    if (!add_namespaces(&made, handshake))
        return MCPX_ENOMEM;
    mx_format(&made,
              ",\"compatibility\":{\"legacyAliasesEnabled\":%s,\"aliasNamespace\":%q,"
              "\"parityFixtureVersion\":%q",
              handshake->aliases_enabled, handshake->alias_namespace,
              handshake->fixture_version);
    if (handshake->aliases_enabled && !add_aliases(&made, handshake))
        return MCPX_ENOMEM;
    mx_json_end_object(&made);
    mx_json_add_strings(&made, "featureFlags", handshake->flags, handshake->flag_count);
    mx_json_end_object(&made);
    if (made.failed || !mcpx_text_reserve(out, made.len))
        return MCPX_ENOMEM;
    mcpx_text_slice(out, mcpx_text_view(&made));
    return MCPX_OK;
}
