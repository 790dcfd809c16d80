/*
 * alias.c - finds tools by their names and aliases, writes the list of tools for clients, and
 * describes the tool of the handshake. A name is looked up among the tools first, then among the
 * single aliases, then in the namespace. An alias stands for a tool, never for another alias.
 *
 * For a tool with wrapped results, `tools/list` has only an outline as its schema: a client would
 * refuse every envelope by the tool's own schema. Some clients know one dialect only, and accept
 * only objects as schemas.
 */
#include "lib/contract/terms.h"

#include "lib/json/json_write.h"

#include <mcpx/json.h>

/* ---- the outline of an envelope ---- */

static const char envelope[] =
    "{\"type\":\"object\",\"required\":[\"schema_version\",\"result\"],\"properties\":{"
    "\"schema_version\":{\"type\":\"string\"},\"result\":{},"
    "\"provenance\":{\"type\":[\"object\",\"null\"]},\"errors\":{\"type\":\"array\"},"
    "\"warnings\":{\"type\":\"array\"},\"meta\":{\"type\":\"object\"}}}";

static const char response[] =
    "{\"type\":\"object\",\"required\":[\"tier\",\"tool_version\",\"tool_id\",\"request_id\","
    "\"capabilities\",\"error\",\"upgrade_hints\",\"data\"],\"properties\":{"
    "\"tier\":{\"type\":\"string\"},\"tool_version\":{\"type\":\"string\"},"
    "\"tool_id\":{\"type\":\"string\"},\"request_id\":{\"type\":\"string\"},"
    "\"capabilities\":{\"type\":\"array\"},\"duration_ms\":{\"type\":\"number\"},"
    "\"error\":{\"type\":[\"object\",\"null\"]},\"upgrade_hints\":{\"type\":\"array\"},"
    "\"data\":{}}}";

void mcpx_wrap_tool(struct mcpx_text *out, struct mcpx_slice tool, enum mcpx_form form)
{
    struct mcpx_slice outline =
        mcpx_slice_of(form == MCPX_FORM_RESPONSE ? response : envelope);
    struct mcpx_slice own = mcpx_json_get(tool, "outputSchema");
    struct mcpx_json_change changes[2] = {{"outputSchema", outline}, {"_meta", {NULL, 0}}};
    mx_scoped_text meta = {0};

    if (mcpx_json_type(tool) != MCPX_JSON_OBJECT || mcpx_slice_equal(own, outline) ||
        (form != MCPX_FORM_ENVELOPE && form != MCPX_FORM_RESPONSE)) {
        mcpx_text_slice(out, tool);
        return;
    }
    if (own.text) {
        mcpx_json_add_changed(&meta, mcpx_json_get(tool, "_meta"),
                              &(struct mcpx_json_change){MCPX_OUTPUT_SCHEMA_MEMBER, own}, 1);
        changes[1].value = mcpx_text_view(&meta);
    }
    mcpx_json_add_changed(out, tool, changes, own.text ? 2 : 1);
    out->failed |= meta.failed;
}

/* ---- aliases ---- */

static const struct mcpx_alias *find_single(const struct mcpx_handshake *known,
                                            struct mcpx_slice name)
{
    for (size_t i = 0; i < known->alias_count; i++) {
        if (mcpx_slice_equal(known->aliases[i].alias, name))
            return &known->aliases[i];
    }
    return NULL;
}

/* The part after the namespace and its dot; absent when the name is in another one. */
static struct mcpx_slice behind_space(const struct mcpx_handshake *known,
                                      struct mcpx_slice name)
{
    struct mcpx_slice space = known->alias_namespace;

    if (space.len == 0 || name.len <= space.len + 1 ||
        memcmp(name.text, space.text, space.len) != 0 || name.text[space.len] != '.')
        return (struct mcpx_slice){0};
    return (struct mcpx_slice){name.text + space.len + 1, name.len - space.len - 1};
}

struct mcpx_slice mx_alias_find(const struct mcpx_terms *terms, const struct mcpx_tools *tools,
                                struct mcpx_slice name)
{
    const struct mcpx_alias *single = find_single(&terms->handshake, name);
    struct mcpx_slice found =
        single ? single->canonical : behind_space(&terms->handshake, name);

    if (mx_tools_has(tools, name))
        return name;
    return found.text && mx_tools_has(tools, found) ? found : (struct mcpx_slice){0};
}

/* Fills in all working aliases, in no order. Returns false when memory runs out. */
static bool list_aliases(struct mx_arena *arena, const struct mcpx_terms *terms,
                         const struct mcpx_tools *tools, struct mcpx_handshake *out)
{
    const struct mcpx_handshake *known = &terms->handshake;
    size_t tool_count = known->alias_namespace.len > 0 ? mcpx_tools_count(tools) : 0;
    struct mcpx_alias *list =
        mx_arena_take(arena, (known->alias_count + tool_count) * sizeof *list);

    out->aliases = list;
    out->alias_count = 0;
    for (size_t i = 0; list && i < known->alias_count; i++) {
        const struct mcpx_alias *alias = &known->aliases[i];

        if (!mx_tools_has(tools, alias->alias) && mx_tools_has(tools, alias->canonical))
            list[out->alias_count++] = *alias;
    }
    for (size_t i = 0; list && i < tool_count; i++) {
        struct mcpx_slice name = mcpx_tools_name(tools, i), alias = {NULL, 0};
        mx_scoped_text text = mx_formatted("%s.%s", known->alias_namespace, name);

        if (!text.failed)
            alias = mx_arena_copy(arena, mcpx_text_view(&text));
        if (!alias.text)
            return false;
        if (!mx_tools_has(tools, alias) && !find_single(known, alias))
            list[out->alias_count++] = (struct mcpx_alias){alias, name};
    }
    return list;
}

#define TOOL(properties)                                                                      \
    "{\"name\":\"" MCPX_HANDSHAKE_TOOL "\",\"description\":\"Which tools there are, at "      \
    "which version, and who answers for them.\","                                             \
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{" properties                        \
    "},\"additionalProperties\":false},\"annotations\":{\"readOnlyHint\":true}}"

const char *mx_handshake_tool(const struct mcpx_terms *terms)
{
    bool has_context =
        terms->context.policy != MX_CONTEXT_IGNORE && *terms->context.place != '_';

    return has_context ? TOOL("\"context\":{\"type\":\"object\"}") : TOOL("");
}

enum mcpx_err mx_handshake_result(struct mcpx_text *out, const struct mcpx_terms *terms,
                                  const struct mcpx_tools *tools,
                                  struct mcpx_slice participant)
{
    struct mcpx_handshake handshake = terms->handshake;
    size_t before = out->len, count = mcpx_tools_count(tools);
    MX_SCOPED(mx_arena_fini) struct mx_arena arena = {0};
    struct mcpx_slice *names = mx_arena_take(&arena, count * sizeof *names);
    mx_scoped_text document = {0};
    enum mcpx_err err = MCPX_ENOMEM;

    handshake.namespaces.participant = participant;
    handshake.tools = names;
    handshake.tool_count = count;
    for (size_t i = 0; names && i < count; i++)
        names[i] = mcpx_tools_name(tools, i);
    if (names && list_aliases(&arena, terms, tools, &handshake))
        err = mcpx_handshake_add(&document, &handshake);
    if (!err)
        mx_format(out,
                  "{\"content\":[{\"type\":\"text\",\"text\":%q}],\"structuredContent\":%s}",
                  &document, &document);
    if (out->failed)
        err = MCPX_ENOMEM;
    if (err)
        out->len = before;
    return err;
}

void mcpx_terms_tool_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                         struct mcpx_slice name, struct mcpx_slice tool)
{
    mcpx_wrap_tool(out, tool, mx_terms_of(terms, name)->form);
}

static void add_items(struct mcpx_text *out, const struct mcpx_terms *terms,
                      struct mcpx_slice list)
{
    mx_scoped_text name = {0};
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, list);
    for (bool is_first = true; mcpx_json_walk_next(&walk); is_first = false) {
        mcpx_text_reset(&name);
        mcpx_json_add_unescaped(&name, mcpx_json_get(walk.value, "name"));
        mcpx_text_puts(out, is_first ? "" : ",");
        mcpx_terms_tool_add(out, terms, mcpx_text_view(&name), walk.value);
    }
    out->failed = out->failed || name.failed;
}

void mcpx_terms_list_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                         struct mcpx_slice result, const struct mcpx_tools *tools)
{
    struct mcpx_slice list = mcpx_json_get(result, "tools");
    bool is_last = !mcpx_json_get(result, "nextCursor").text;
    mx_scoped_text changed = {0};

    if (!mcpx_terms_change_lists(terms) || mcpx_json_type(list) != MCPX_JSON_ARRAY) {
        mcpx_text_slice(out, result);
        return;
    }
    mcpx_text_puts(&changed, "[");
    add_items(&changed, terms, list);
    if (is_last && terms->has_handshake &&
        !(tools && mx_tools_has(tools, MCPX_SLICE(MCPX_HANDSHAKE_TOOL))))
        mx_format(&changed, "%s%s", changed.len > 1 ? "," : "", mx_handshake_tool(terms));
    mcpx_text_puts(&changed, "]");
    mcpx_json_add_changed(out, result,
                          &(struct mcpx_json_change){"tools", mcpx_text_view(&changed)}, 1);
    out->failed = out->failed || changed.failed;
}

void mcpx_terms_doubts_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                           struct mcpx_tools *tools)
{
    const struct mcpx_handshake *known = &terms->handshake;

    mcpx_tools_doubts_add(out, tools);
    for (size_t i = 0; i < known->alias_count; i++) {
        struct mcpx_slice alias = known->aliases[i].alias, tool = known->aliases[i].canonical;

        if (mx_tools_has(tools, alias))
            mx_format(out, "the alias %q is the name of a tool: that one is called\n", alias);
        else if (!mx_tools_has(tools, tool))
            mx_format(out, "the alias %q is for %q, and the server has no such tool\n", alias,
                      tool);
    }
    for (size_t i = 0; i < mcpx_tools_count(tools); i++) {
        struct mcpx_slice name = mcpx_tools_name(tools, i);
        struct mcpx_slice tool = behind_space(known, name);

        if (tool.text && mx_tools_has(tools, tool))
            mx_format(out, "%q is a tool, and so no alias of the tool %q\n", name, tool);
    }
    if (terms->has_handshake && mx_tools_has(tools, MCPX_SLICE(MCPX_HANDSHAKE_TOOL)))
        mx_format(out, "the server has a tool %q: it is called instead of the handshake\n",
                  MCPX_HANDSHAKE_TOOL);
    for (size_t i = 0; i < terms->tool_count; i++) {
        if (!mx_tools_has(tools, terms->tools[i].name))
            mx_format(out, "there are terms for the tool %q, and the server has none\n",
                      terms->tools[i].name);
    }
}
