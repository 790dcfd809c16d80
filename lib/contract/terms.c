/*
 * terms.c - reads contract settings, and makes the context of a call that has none. The text was
 * validated by the contract `terms` before, so each member is valid or absent.
 */
#include "lib/contract/terms.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "lib/json/number.h"
#include "lib/schema/program.h"

#include <mcpx/json.h>

#include <stdlib.h>

void mx_context_make(struct mcpx_text *out, const struct mcpx_terms *terms,
                     struct mcpx_slice request_id, struct mcpx_slice trace_id)
{
    static const char *const names[] = {"requestId",        "traceId",     "mode",
                                        "workspaceId",      "actor",       "timeRange",
                                        "contractVersions", "featureFlags"};
    struct mcpx_json_change own[sizeof names / sizeof *names];
    mx_scoped_text made = mx_formatted(
        "{\"requestId\":%q,\"traceId\":%q,\"mode\":\"operator\",\"workspaceId\":\"default\","
        "\"actor\":\"agent\",\"timeRange\":{\"start\":\"1970-01-01\",\"end\":\"1970-01-01\","
        "\"tz\":\"UTC\"},\"contractVersions\":{\"mcp\":%q,\"tool\":\"1.0\",\"fixture\":%q},"
        "\"featureFlags\":[]}",
        request_id, trace_id, terms->handshake.mcp_version, terms->handshake.fixture_version);
    size_t count = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct mcpx_slice value = mcpx_json_get(terms->context.values, names[i]);

        if (value.text)
            own[count++] = (struct mcpx_json_change){names[i], value};
    }
    out->failed |= made.failed;
    if (!made.failed)
        mcpx_json_add_changed(out, mcpx_text_view(&made), own, count);
}

static const struct {
    const char *outer;
    const char *name;
    enum mcpx_json_type type;
} required[] = {
    {NULL, "requestId", MCPX_JSON_STRING},
    {NULL, "traceId", MCPX_JSON_STRING},
    {NULL, "mode", MCPX_JSON_STRING},
    {NULL, "workspaceId", MCPX_JSON_STRING},
    {NULL, "actor", MCPX_JSON_STRING},
    {"timeRange", "start", MCPX_JSON_STRING},
    {"timeRange", "end", MCPX_JSON_STRING},
    {"timeRange", "tz", MCPX_JSON_STRING},
    {"contractVersions", "mcp", MCPX_JSON_STRING},
    {"contractVersions", "tool", MCPX_JSON_STRING},
    {"contractVersions", "fixture", MCPX_JSON_STRING},
    {NULL, "featureFlags", MCPX_JSON_ARRAY},
};

/* The only member of that name; absent for several, because they are ambiguous. */
static struct mcpx_slice only(struct mcpx_slice object, const char *name)
{
    return mcpx_json_count(object, name) == 1 ? mcpx_json_get(object, name)
                                              : (struct mcpx_slice){0};
}

static struct mcpx_slice member(struct mcpx_slice context, size_t row)
{
    struct mcpx_slice object =
        required[row].outer ? only(context, required[row].outer) : context;

    return only(object, required[row].name);
}

bool mcpx_context_keeps(struct mcpx_slice before, struct mcpx_slice after)
{
    for (size_t row = 0; row < sizeof required / sizeof *required; row++) {
        struct mcpx_slice value = member(after, row);

        if (mcpx_json_type(value) != required[row].type ||
            mcpx_json_equals(value, MCPX_SLICE("")))
            return false;
        if (mcpx_json_length(value) == 0 && mcpx_json_length(member(before, row)) > 0)
            return false;
    }
    return true;
}

enum { LOG_KEEP = 5, LOG_BYTES = 16 * 1024 * 1024 };

/* Contract settings being read. `plain` holds unescaped or rewritten text; `failed`: no memory. */
struct reading {
    struct mcpx_terms *terms;
    struct mcpx_text plain;
    bool failed;
};

static void *take(struct reading *r, size_t count, size_t of_one)
{
    void *taken = mx_arena_take(&r->terms->arena, count * of_one);

    r->failed = r->failed || !taken;
    return taken;
}

static struct mcpx_slice keep(struct reading *r)
{
    struct mcpx_slice copy = mx_arena_copy(&r->terms->arena, mcpx_text_view(&r->plain));

    r->failed = r->failed || r->plain.failed || !copy.text;
    return copy;
}

/* A string, unescaped; absent for an absent one. */
static struct mcpx_slice text_of(struct reading *r, struct mcpx_slice value)
{
    mcpx_text_reset(&r->plain);
    mcpx_text_puts(&r->plain, "");
    return mcpx_json_add_unescaped(&r->plain, value) ? keep(r) : (struct mcpx_slice){0};
}

static struct mcpx_slice text_or(struct reading *r, struct mcpx_slice value,
                                 const char *otherwise)
{
    return value.text ? text_of(r, value) : mcpx_slice_of(otherwise);
}

/* The name of a walk's member, unescaped; its quotes are around it. */
static struct mcpx_slice name_of(struct reading *r, const struct mcpx_json_walk *walk)
{
    return text_of(r, (struct mcpx_slice){walk->name.text - 1, walk->name.len + 2});
}

/* A whole number in any form: 5, 5.0, 5e0. */
static size_t size_of(struct reading *r, struct mcpx_slice value, size_t otherwise)
{
    struct mx_number number;
    uint64_t size = otherwise;

    if (!value.text || !mx_number_read(value, &number))
        return otherwise;
    mcpx_text_reset(&r->plain);
    mx_number_write(&r->plain, &number);
    r->failed = r->failed || r->plain.failed;
    mx_decimal_clamp(mcpx_text_view(&r->plain), SIZE_MAX, &size);
    return (size_t)size;
}

/* The place of a word in a list; that of the first word for an unknown one. */
static int word_of(struct mcpx_slice value, const char *const *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (mcpx_json_equals(value, mcpx_slice_of(words[i])))
            return (int)i;
    }
    return 0;
}

static enum mcpx_form form_of(struct reading *r, struct mcpx_slice value,
                              enum mcpx_form otherwise)
{
    mcpx_form_find(text_of(r, value), &otherwise);
    return otherwise;
}

static enum mcpx_tier tier_of(struct reading *r, struct mcpx_slice value)
{
    enum mcpx_tier tier = MCPX_TIER_COMMUNITY;

    mcpx_tier_find(text_of(r, value), &tier);
    return tier;
}

static void read_tools(struct reading *r, struct mcpx_slice tools)
{
    struct mcpx_terms *terms = r->terms;

    terms->tools = take(r, mcpx_json_length(tools), sizeof *terms->tools);
    MCPX_JSON_EACH_WHILE(!r->failed, walk, tools) {
        struct mx_tool_terms *tool = &terms->tools[terms->tool_count++];

        tool->name = name_of(r, &walk);
        tool->form = form_of(r, mcpx_json_get(walk.value, "result"), terms->all.form);
        tool->needed = tier_of(r, mcpx_json_get(walk.value, "tier"));
        tool->version = text_of(r, mcpx_json_get(walk.value, "version"));
        tool->capabilities = mcpx_json_get(walk.value, "capabilities");
    }
}

static void read_context(struct reading *r, struct mcpx_slice context)
{
    static const char *const policies[] = {
        [MX_CONTEXT_REQUIRE] = "require", [MX_CONTEXT_DEFAULT] = "default"};
    struct mx_context_terms *out = &r->terms->context;
    bool in_arguments;

    out->policy = (enum mx_context_policy)word_of(mcpx_json_get(context, "policy"), policies,
                                                  sizeof policies / sizeof *policies);
    in_arguments = mcpx_json_equals(mcpx_json_get(context, "in"), MCPX_SLICE("arguments"));
    out->place = in_arguments ? "arguments" : "_meta";
    out->name = in_arguments ? "context" : MCPX_CONTEXT_MEMBER;
    out->values = mcpx_json_get(context, "values");
}

static void read_aliases(struct reading *r, struct mcpx_slice aliases)
{
    struct mcpx_handshake *out = &r->terms->handshake;
    struct mcpx_slice names = mcpx_json_get(aliases, "names");
    struct mcpx_alias *list = take(r, mcpx_json_length(names), sizeof *list);

    out->aliases_enabled = aliases.text;
    out->alias_namespace = text_of(r, mcpx_json_get(aliases, "namespace"));
    out->fixture_version = text_or(r, mcpx_json_get(aliases, "fixture_version"), "1.0");
    out->aliases = list;
    MCPX_JSON_EACH_WHILE(!r->failed, walk, names)
        list[out->alias_count++] =
            (struct mcpx_alias){name_of(r, &walk), text_of(r, walk.value)};
}

static void read_flags(struct reading *r, struct mcpx_slice flags)
{
    struct mcpx_slice *list = take(r, mcpx_json_length(flags), sizeof *list);

    r->terms->handshake.flags = list;
    MCPX_JSON_EACH_WHILE(!r->failed, walk, flags)
        list[r->terms->handshake.flag_count++] = text_of(r, walk.value);
}

static void read_namespaces(struct reading *r, struct mcpx_slice namespaces)
{
    struct mcpx_namespace *list = take(r, mcpx_json_length(namespaces), sizeof *list);
    struct mcpx_namespaces *out = &r->terms->handshake.namespaces;

    out->list = list;
    MCPX_JSON_EACH_WHILE(!r->failed, walk, namespaces)
        list[out->count++] = (struct mcpx_namespace){
            .name = name_of(r, &walk),
            .version = text_of(r, mcpx_json_get(walk.value, "version")),
            .owner = text_of(r, mcpx_json_get(walk.value, "owner")),
            .stability = text_of(r, mcpx_json_get(walk.value, "stability")),
        };
}

static void read_capabilities(struct reading *r, struct mcpx_slice capabilities)
{
    struct mcpx_terms *terms = r->terms;

    terms->has_handshake = capabilities.text;
    terms->handshake.mcp_version =
        text_or(r, mcpx_json_get(capabilities, "mcp_version"), "2.0");
    terms->handshake.schema_version =
        text_of(r, mcpx_json_get(capabilities, "schema_version"));
    read_flags(r, mcpx_json_get(capabilities, "feature_flags"));
    read_namespaces(r, mcpx_json_get(capabilities, "namespaces"));
}

static void read_log(struct reading *r, struct mcpx_slice log)
{
    struct mcpx_slice dir = mcpx_json_get(log, "dir");

    r->terms->log_keep = size_of(r, mcpx_json_get(log, "keep"), LOG_KEEP);
    r->terms->log_bytes = size_of(r, mcpx_json_get(log, "file_bytes"), LOG_BYTES);
    if (!log.text)
        return;
    mcpx_text_reset(&r->plain);
    if (!mcpx_json_add_unescaped(&r->plain, dir))
        mcpx_text_puts(&r->plain, "runs/mcp_server");
    mcpx_text_add(&r->plain, "", 1);
    r->terms->log_dir = keep(r).text;
}

static void fill(struct reading *r, struct mcpx_slice object)
{
    static const char *const validates[] = {"enforce", "shadow", "off"};
    struct mcpx_terms *terms = r->terms;
    struct mcpx_slice limits = mcpx_json_get(object, "limits");

    terms->validate = (enum mx_validate)word_of(mcpx_json_get(object, "validate"), validates,
                                                sizeof validates / sizeof *validates);
    terms->tier = tier_of(r, mcpx_json_get(object, "tier"));
    terms->all.form = form_of(r, mcpx_json_get(object, "result"), MCPX_FORM_AS_IS);
    terms->input_max = size_of(r, mcpx_json_get(limits, "input_bytes"), 0);
    terms->output_max = size_of(r, mcpx_json_get(limits, "output_bytes"), 0);
    terms->schema_max = size_of(r, mcpx_json_get(limits, "schema_bytes"), MCPX_SCHEMA_SHARE);
    read_tools(r, mcpx_json_get(object, "tools"));
    read_context(r, mcpx_json_get(object, "context"));
    read_aliases(r, mcpx_json_get(object, "aliases"));
    read_capabilities(r, mcpx_json_get(object, "capabilities"));
    read_log(r, mcpx_json_get(object, "log"));
}

enum mcpx_err mcpx_terms_read(struct mcpx_contracts *contracts, struct mcpx_slice text,
                              struct mcpx_schema_report *report, struct mcpx_terms **out)
{
    enum mcpx_err err = mcpx_contracts_validate(contracts, MCPX_CONTRACT_TERMS, text, report);
    struct reading r = {0};
    struct mcpx_slice copy, object = {0};

    if (err)
        return err;
    r.terms = calloc(1, sizeof *r.terms);
    if (!r.terms)
        return MCPX_ENOMEM;
    copy = mx_arena_copy(&r.terms->arena, text);
    r.failed = !copy.text;
    if (copy.text && mcpx_json_check(copy, 0, &object, NULL) == MCPX_OK)
        fill(&r, object);
    mcpx_text_fini(&r.plain);
    if (r.failed) {
        mcpx_terms_free(r.terms);
        return MCPX_ENOMEM;
    }
    *out = r.terms;
    return MCPX_OK;
}

void mcpx_terms_free(struct mcpx_terms *terms)
{
    if (!terms)
        return;
    mx_arena_fini(&terms->arena);
    free(terms);
}

bool mcpx_terms_log(const struct mcpx_terms *terms, const char **dir, size_t *keep_count,
                    size_t *file_bytes)
{
    if (!terms->log_dir)
        return false;
    *dir = terms->log_dir;
    *keep_count = terms->log_keep;
    *file_bytes = terms->log_bytes;
    return true;
}

void mcpx_terms_limit(const struct mcpx_terms *terms, struct mcpx_shelf *shelf)
{
    shelf->held.cap = terms->schema_max;
}

bool mcpx_terms_has_handshake(const struct mcpx_terms *terms)
{
    return terms->has_handshake;
}

bool mcpx_terms_change_lists(const struct mcpx_terms *terms)
{
    bool is_changed = terms->has_handshake || terms->all.form != MCPX_FORM_AS_IS;

    for (size_t i = 0; i < terms->tool_count && !is_changed; i++)
        is_changed = terms->tools[i].form != MCPX_FORM_AS_IS;
    return is_changed;
}

const struct mx_tool_terms *mx_terms_of(const struct mcpx_terms *terms, struct mcpx_slice tool)
{
    for (size_t i = 0; i < terms->tool_count; i++) {
        if (mcpx_slice_equal(terms->tools[i].name, tool))
            return &terms->tools[i];
    }
    return &terms->all;
}
