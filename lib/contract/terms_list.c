/*
 * terms_list.c - the tools of a server as its edge shows them, and terms that do not fit them.
 */
#include "lib/contract/alias.h"
#include "lib/contract/handshake_tool.h"
#include "lib/contract/tools.h"
#include "lib/core/format.h"

#include <mcpx/json.h>

void mcpx_terms_tool_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                         struct mcpx_slice name, struct mcpx_slice tool)
{
    mcpx_wrap_tool(out, tool, mx_terms_of(terms, name)->form);
}

/* Appends the items of a list of tools, with a comma between them. */
static void add_items(struct mcpx_text *out, const struct mcpx_terms *terms,
                      struct mcpx_slice list)
{
    struct mcpx_text name = {0};
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, list);
    for (bool is_first = true; mcpx_json_walk_next(&walk); is_first = false) {
        mcpx_text_reset(&name);
        mcpx_json_add_unescaped(&name, mcpx_json_get(walk.value, "name"));
        mcpx_text_puts(out, is_first ? "" : ",");
        mcpx_terms_tool_add(out, terms, mcpx_text_view(&name), walk.value);
    }
    out->failed = out->failed || name.failed;
    mcpx_text_fini(&name);
}

void mcpx_terms_list_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                         struct mcpx_slice result, const struct mcpx_tools *tools)
{
    struct mcpx_slice list = mcpx_json_get(result, "tools");
    bool is_last = !mcpx_json_get(result, "nextCursor").text;
    struct mcpx_text changed = {0};

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
    mcpx_text_fini(&changed);
}

void mcpx_terms_doubts_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                           const struct mcpx_tools *tools)
{
    mcpx_tools_doubts_add(out, tools);
    mx_alias_doubts_add(out, terms, tools);
    if (terms->has_handshake && mx_tools_has(tools, MCPX_SLICE(MCPX_HANDSHAKE_TOOL)))
        mx_format(out, "the server has a tool %q: it is called instead of the handshake\n",
                  MCPX_HANDSHAKE_TOOL);
    for (size_t i = 0; i < terms->tool_count; i++) {
        if (!mx_tools_has(tools, terms->tools[i].name))
            mx_format(out, "there are terms for the tool %q, and the server has none\n",
                      terms->tools[i].name);
    }
}
