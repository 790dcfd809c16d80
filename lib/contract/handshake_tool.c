/*
 * handshake_tool.c - which tools there are now, asked as a tool, which the edge answers itself.
 */
#include "lib/contract/handshake_tool.h"

#include "lib/contract/alias.h"
#include "lib/core/format.h"

#define TOOL(properties)                                                                      \
    "{\"name\":\"" MCPX_HANDSHAKE_TOOL "\",\"description\":\"Which tools there are, at "      \
    "which version, and who answers for them.\","                                             \
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{" properties                        \
    "},\"additionalProperties\":false},\"annotations\":{\"readOnlyHint\":true}}"

const char *mx_handshake_tool(const struct mcpx_terms *terms)
{
    bool has_context =
        terms->context.policy != MX_CONTEXT_IGNORE && terms->context.in_arguments;

    return has_context ? TOOL("\"context\":{\"type\":\"object\"}") : TOOL("");
}

/* The names of all tools; NULL when memory runs out. */
static struct mcpx_slice *names_of(struct mx_arena *arena, const struct mcpx_tools *tools)
{
    size_t count = mcpx_tools_count(tools);
    struct mcpx_slice *names =
        (struct mcpx_slice *)mx_arena_take(arena, count * sizeof *names);

    for (size_t i = 0; names && i < count; i++)
        names[i] = mcpx_tools_name(tools, i);
    return names;
}

enum mcpx_err mx_handshake_result(struct mcpx_text *out, const struct mcpx_terms *terms,
                                  const struct mcpx_tools *tools,
                                  struct mcpx_slice participant)
{
    struct mcpx_handshake handshake = terms->handshake;
    struct mx_arena arena = {0};
    struct mcpx_text document = {0};
    size_t before = out->len;
    enum mcpx_err err = MCPX_ENOMEM;

    handshake.namespaces.participant = participant;
    handshake.tools = names_of(&arena, tools);
    handshake.tool_count = mcpx_tools_count(tools);
    if (handshake.tools && mx_alias_list(&arena, terms, tools, &handshake))
        err = mcpx_handshake_add(&document, &handshake);
    if (!err)
        mx_format(out,
                  "{\"content\":[{\"type\":\"text\",\"text\":%q}],\"structuredContent\":%s}",
                  &document, &document);
    if (out->failed)
        err = MCPX_ENOMEM;
    if (err)
        out->len = before;
    mcpx_text_fini(&document);
    mx_arena_fini(&arena);
    return err;
}
