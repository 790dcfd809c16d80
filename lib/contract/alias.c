/*
 * alias.c - which tool does a name stand for? Names of tools come first, then single aliases, then
 * the namespace, and each is asked once: what an alias stands for is a tool or nothing.
 */
#include "lib/contract/alias.h"

#include "lib/contract/tools.h"
#include "lib/core/format.h"

static const struct mcpx_alias *find_single(const struct mx_alias_terms *aliases,
                                            struct mcpx_slice name)
{
    for (size_t i = 0; i < aliases->count; i++) {
        if (mcpx_slice_equal(aliases->list[i].alias, name))
            return &aliases->list[i];
    }
    return NULL;
}

/* What stands behind the namespace and its dot; absent when the name is in another one. */
static struct mcpx_slice behind_space(const struct mx_alias_terms *aliases,
                                      struct mcpx_slice name)
{
    size_t len = aliases->space.len;

    if (len == 0 || name.len <= len + 1 || memcmp(name.text, aliases->space.text, len) != 0 ||
        name.text[len] != '.')
        return (struct mcpx_slice){0};
    return (struct mcpx_slice){name.text + len + 1, name.len - len - 1};
}

struct mcpx_slice mx_alias_find(const struct mcpx_terms *terms, const struct mcpx_tools *tools,
                                struct mcpx_slice name)
{
    const struct mcpx_alias *single = find_single(&terms->aliases, name);
    struct mcpx_slice found = single ? single->canonical : behind_space(&terms->aliases, name);

    if (mx_tools_has(tools, name))
        return name;
    return found.text && mx_tools_has(tools, found) ? found : (struct mcpx_slice){0};
}

/* NAMESPACE.NAME; absent when memory runs out. */
static struct mcpx_slice in_space(struct mx_arena *arena, struct mcpx_slice space,
                                  struct mcpx_slice name)
{
    struct mcpx_text text = {0};
    struct mcpx_slice copy = {0};

    mx_format(&text, "%s.%s", space, name);
    if (!text.failed)
        copy = mx_arena_copy(arena, mcpx_text_view(&text));
    mcpx_text_fini(&text);
    return copy;
}

bool mx_alias_list(struct mx_arena *arena, const struct mcpx_terms *terms,
                   const struct mcpx_tools *tools, struct mcpx_handshake *out)
{
    const struct mx_alias_terms *aliases = &terms->aliases;
    size_t tool_count = aliases->space.len > 0 ? mcpx_tools_count(tools) : 0, count = 0;
    struct mcpx_alias *list = (struct mcpx_alias *)mx_arena_take(
        arena, (aliases->count + tool_count) * sizeof *list);

    if (!list)
        return false;
    for (size_t i = 0; i < aliases->count; i++) {
        const struct mcpx_alias *alias = &aliases->list[i];

        if (!mx_tools_has(tools, alias->alias) && mx_tools_has(tools, alias->canonical))
            list[count++] = *alias;
    }
    for (size_t i = 0; i < tool_count; i++) {
        struct mcpx_slice name = mcpx_tools_name(tools, i);
        struct mcpx_slice alias = in_space(arena, aliases->space, name);

        if (!alias.text)
            return false;
        if (!mx_tools_has(tools, alias) && !find_single(aliases, alias))
            list[count++] = (struct mcpx_alias){alias, name};
    }
    out->aliases = list;
    out->alias_count = count;
    return true;
}

void mx_alias_doubts_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                         const struct mcpx_tools *tools)
{
    const struct mx_alias_terms *aliases = &terms->aliases;

    for (size_t i = 0; i < aliases->count; i++) {
        struct mcpx_slice alias = aliases->list[i].alias, tool = aliases->list[i].canonical;

        if (mx_tools_has(tools, alias))
            mx_format(out, "the alias %q is the name of a tool: that one is called\n", alias);
        else if (!mx_tools_has(tools, tool))
            mx_format(out, "the alias %q is for %q, and the server has no such tool\n", alias,
                      tool);
    }
    for (size_t i = 0; i < mcpx_tools_count(tools); i++) {
        struct mcpx_slice name = mcpx_tools_name(tools, i);
        struct mcpx_slice tool = behind_space(aliases, name);

        if (tool.text && mx_tools_has(tools, tool))
            mx_format(out, "%q is a tool, and so no alias of the tool %q\n", name, tool);
    }
}
