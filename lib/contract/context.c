/*
 * context.c - the context of a call. It is found, made or handed on; one that is there is never
 * written anew.
 */
#include "lib/contract/context.h"

#include "lib/core/decisive.h"
#include "lib/core/format.h"
#include "lib/core/json_write.h"

#include <mcpx/json.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The member of `arguments` in which servers of another manner look for it. */
static const char in_arguments[] = "context";

static struct mcpx_slice in_meta(struct mcpx_slice params)
{
    return mcpx_json_get(mcpx_json_get(params, "_meta"), MCPX_CONTEXT_MEMBER);
}

struct mcpx_slice mx_context_given(const struct mx_context_terms *terms,
                                   struct mcpx_slice params)
{
    return terms->in_arguments
               ? mcpx_json_get(mcpx_json_get(params, "arguments"), in_arguments)
               : in_meta(params);
}

struct mcpx_slice mx_context_find(const struct mx_context_terms *terms,
                                  struct mcpx_slice params)
{
    struct mcpx_slice given = mx_context_given(terms, params);

    return given.text || !terms->in_arguments ? given : in_meta(params);
}

/* All readers find the same member of that name, or none. */
static bool is_clear(struct mcpx_slice object, const char *name)
{
    struct mx_decisive member = {name, {NULL, 0}};

    return mx_decisive_find(object, &member, 1, NULL);
}

bool mx_context_is_clear(const struct mx_context_terms *terms, struct mcpx_slice params)
{
    return is_clear(mcpx_json_get(params, "_meta"), MCPX_CONTEXT_MEMBER) &&
           (!terms->in_arguments ||
            is_clear(mcpx_json_get(params, "arguments"), in_arguments));
}

const char *mx_context_place(const struct mx_context_terms *terms)
{
    return terms->in_arguments ? "arguments" : "_meta";
}

void mx_context_put(struct mcpx_text *out, const struct mx_context_terms *terms,
                    struct mcpx_slice params, struct mcpx_slice context)
{
    struct mcpx_slice before = mcpx_json_get(params, mx_context_place(terms));
    struct mcpx_json_change change = {terms->in_arguments ? in_arguments : MCPX_CONTEXT_MEMBER,
                                      context};

    mcpx_json_add_changed(out, before.text ? before : MCPX_SLICE("{}"), &change, 1);
}

/* Appends a member: the terms' own value, else the text as a string. */
static void add_text(struct mcpx_text *out, const struct mcpx_terms *terms, const char *name,
                     struct mcpx_slice text)
{
    struct mcpx_slice own = mcpx_json_get(terms->context.values, name);

    if (own.text)
        mx_json_add_raw(out, name, own);
    else
        mcpx_json_add_member(out, name, text);
}

/* The same with a value that is JSON. */
static void add_value(struct mcpx_text *out, const struct mcpx_terms *terms, const char *name,
                      const struct mcpx_text *value)
{
    struct mcpx_slice own = mcpx_json_get(terms->context.values, name);

    mx_json_add_raw(out, name, own.text ? own : mcpx_text_view(value));
    out->failed = out->failed || value->failed;
}

void mx_context_make(struct mcpx_text *out, const struct mcpx_terms *terms,
                     struct mcpx_slice request_id, struct mcpx_slice trace_id)
{
    struct mcpx_text range = {0}, versions = {0}, flags = {0};

    mcpx_text_puts(&range, "{\"start\":\"1970-01-01\",\"end\":\"1970-01-01\",\"tz\":\"UTC\"}");
    mx_format(&versions, "{\"mcp\":%q,\"tool\":\"1.0\",\"fixture\":%q}",
              terms->handshake.mcp_version, terms->aliases.fixture_version);
    mcpx_text_puts(&flags, "[]");
    mx_json_begin_object(out, NULL);
    add_text(out, terms, "requestId", request_id);
    add_text(out, terms, "traceId", trace_id);
    add_text(out, terms, "mode", MCPX_SLICE("operator"));
    add_text(out, terms, "workspaceId", MCPX_SLICE("default"));
    add_text(out, terms, "actor", MCPX_SLICE("agent"));
    add_value(out, terms, "timeRange", &range);
    add_value(out, terms, "contractVersions", &versions);
    add_value(out, terms, "featureFlags", &flags);
    mx_json_end_object(out);
    mcpx_text_fini(&range);
    mcpx_text_fini(&versions);
    mcpx_text_fini(&flags);
}

/* The members that the contract requires, and whether they are texts; else they are lists. */
static const struct {
    const char *outer;
    const char *name;
    bool is_text;
} required[] = {
    {NULL, "requestId", true},
    {NULL, "traceId", true},
    {NULL, "mode", true},
    {NULL, "workspaceId", true},
    {NULL, "actor", true},
    {"timeRange", "start", true},
    {"timeRange", "end", true},
    {"timeRange", "tz", true},
    {"contractVersions", "mcp", true},
    {"contractVersions", "tool", true},
    {"contractVersions", "fixture", true},
    {NULL, "featureFlags", false},
};

/* The only member of that name; absent when there are more: readers could take different ones. */
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
    for (size_t row = 0; row < COUNT(required); row++) {
        struct mcpx_slice value = member(after, row);
        enum mcpx_json_type wanted =
            required[row].is_text ? MCPX_JSON_STRING : MCPX_JSON_ARRAY;

        if (mcpx_json_type(value) != wanted || mcpx_json_equals(value, MCPX_SLICE("")))
            return false;
        if (mcpx_json_length(value) == 0 && mcpx_json_length(member(before, row)) > 0)
            return false;
    }
    return true;
}
