/*
 * handshake.c - which tools there are, and who answers for them. Every tool and every known
 * namespace is an entry of one list; sorted, the entries of a namespace stand together, its tools
 * in order.
 */
#include "lib/contract/record.h"

#include "lib/core/json_write.h"
#include <mcpx/json.h>
#include <mcpx/record.h>

#include <stdlib.h>

/*
 * A tool in its namespace, or the namespace itself: then `tool` is absent, and `known` tells what
 * is known of it.
 */
struct entry {
    struct mcpx_slice space;
    struct mcpx_slice tool;
    const struct mcpx_namespace *known;
};

static bool stands_before_a_dot(struct mcpx_slice name, struct mcpx_slice tool)
{
    return name.len > 0 && name.len < tool.len && tool.text[name.len] == '.' &&
           memcmp(name.text, tool.text, name.len) == 0;
}

struct mcpx_slice mcpx_namespace_of(const struct mcpx_namespaces *known,
                                    struct mcpx_slice tool)
{
    struct mcpx_slice longest = {NULL, 0};
    const char *dot;

    for (size_t i = 0; i < known->count; i++) {
        struct mcpx_slice name = known->list[i].name;

        if (name.len > longest.len && stands_before_a_dot(name, tool))
            longest = name;
    }
    if (longest.len > 0)
        return longest;
    dot = tool.len > 0 ? (const char *)memchr(tool.text, '.', tool.len) : NULL;
    if (dot && dot > tool.text)
        return (struct mcpx_slice){tool.text, (size_t)(dot - tool.text)};
    return known->participant;
}

static int by_space_and_tool(const void *a, const void *b)
{
    const struct entry *left = (const struct entry *)a, *right = (const struct entry *)b;
    int order = mcpx_slice_compare(left->space, right->space);

    return order != 0 ? order : mcpx_slice_compare(left->tool, right->tool);
}

static int by_alias(const void *a, const void *b)
{
    const struct mcpx_alias *left = (const struct mcpx_alias *)a;
    const struct mcpx_alias *right = (const struct mcpx_alias *)b;
    int order = mcpx_slice_compare(left->alias, right->alias);

    return order != 0 ? order : mcpx_slice_compare(left->canonical, right->canonical);
}

/* Fills the list, which has room for all, and sorts it. Returns how many entries there are. */
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

static void add_or_default(struct mcpx_text *out, const char *name, struct mcpx_slice text,
                           const char *otherwise)
{
    mcpx_json_add_member(out, name, text.len > 0 ? text : mcpx_slice_of(otherwise));
}

/* The namespace of the first entries. Returns how many of them it has. */
static size_t add_namespace(struct mcpx_text *out, const struct entry *entries, size_t left)
{
    struct mcpx_namespace known = {.name = entries->space};
    struct mcpx_slice last = {NULL, 0};
    struct mcpx_text tools = {0};
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
    mx_record_text(out, "namespace", known.name);
    add_or_default(out, "version", known.version, "0.0");
    mx_json_begin_array(out, "tools");
    mcpx_text_slice(out, mcpx_text_view(&tools));
    mx_json_end_array(out);
    add_or_default(out, "ownerTeam", known.owner, "unowned");
    add_or_default(out, "stability", known.stability, "unspecified");
    mx_json_end_object(out);
    out->failed |= tools.failed;
    mcpx_text_fini(&tools);
    return count;
}

static bool add_namespaces(struct mcpx_text *out, const struct mcpx_handshake *handshake)
{
    size_t most = handshake->namespaces.count + handshake->tool_count + 1, count, at = 0;
    struct entry *entries = (struct entry *)calloc(most, sizeof *entries);

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
    struct mcpx_alias *sorted = (struct mcpx_alias *)calloc(count + 1, sizeof *sorted);

    if (!sorted)
        return false;
    if (count > 0)
        memcpy(sorted, handshake->aliases, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_alias);
    mx_json_begin_array(out, "aliases");
    for (size_t i = 0; i < count; i++) {
        mx_json_begin_object(out, NULL);
        mcpx_json_add_member(out, "alias", sorted[i].alias);
        mcpx_json_add_member(out, "canonical", sorted[i].canonical);
        mx_json_end_object(out);
    }
    mx_json_end_array(out);
    free(sorted);
    return true;
}

static bool add_compatibility(struct mcpx_text *out, const struct mcpx_handshake *handshake)
{
    mx_json_begin_object(out, "compatibility");
    mx_json_add_bool(out, "legacyAliasesEnabled", handshake->aliases_enabled);
    mcpx_json_add_member(out, "aliasNamespace", handshake->alias_namespace);
    mcpx_json_add_member(out, "parityFixtureVersion", handshake->fixture_version);
    if (handshake->aliases_enabled && !add_aliases(out, handshake))
        return false;
    mx_json_end_object(out);
    return true;
}

enum mcpx_err mcpx_handshake_add(struct mcpx_text *out, const struct mcpx_handshake *handshake)
{
    struct mcpx_text made = {0};
    enum mcpx_err err = MCPX_ENOMEM;

    mx_json_begin_object(&made, NULL);
    mcpx_json_add_member(&made, "mcpVersion", handshake->mcp_version);
    mcpx_json_add_member(&made, "schemaVersion", handshake->schema_version);
    if (!add_namespaces(&made, handshake) || !add_compatibility(&made, handshake))
        goto out;
    mx_json_add_strings(&made, "featureFlags", handshake->flags, handshake->flag_count);
    mx_json_end_object(&made);
    if (made.failed || !mcpx_text_reserve(out, made.len))
        goto out;
    mcpx_text_slice(out, mcpx_text_view(&made));
    err = MCPX_OK;
out:
    mcpx_text_fini(&made);
    return err;
}
