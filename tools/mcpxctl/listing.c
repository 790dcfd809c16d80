/*
 * listing.c - a page of a server's list as lines.
 */
#include "tools/mcpxctl/listing.h"

#include "tools/common/visible.h"
#include "tools/mcpxctl/line.h"

static const struct listing listings[] = {
    {"tools", "tools/list", "mcp/response:tools/list", "tools", "name"},
    {"resources", "resources/list", "mcp/response:resources/list", "resources", "uri"},
    {"templates", "resources/templates/list", "mcp/response:resources/templates/list",
     "resourceTemplates", "uriTemplate"},
    {"prompts", "prompts/list", "mcp/response:prompts/list", "prompts", "name"},
};

enum { DESCRIPTION_MAX = 100 };

const struct listing *listing_find(const char *name)
{
    for (size_t i = 0; i < sizeof listings / sizeof *listings; i++)
        if (strcmp(listings[i].name, name) == 0)
            return &listings[i];
    return NULL;
}

void listing_write_request(struct mcpx_text *out, const struct listing *listing,
                           struct mcpx_slice cursor)
{
    mx_format(out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":%q", listing->method);
    if (cursor.text)
        mx_format(out, ",\"params\":{\"cursor\":%s}", cursor);
    mcpx_text_puts(out, "}");
}

/* The first line of a member, made visible. */
static void add_member(struct mcpx_text *out, struct mcpx_slice item, const char *name)
{
    struct mcpx_text plain = {0};
    struct mcpx_slice line;

    mcpx_json_add_unescaped(&plain, mcpx_json_get(item, name));
    line = mcpx_text_view(&plain);
    for (size_t i = 0; i < line.len; i++)
        if (line.text[i] == '\n')
            line.len = i;
    text_visible_short(out, line, DESCRIPTION_MAX);
    out->failed |= plain.failed;
    mcpx_text_fini(&plain);
}

static void add_json(struct mcpx_text *out, struct mcpx_slice from, struct mcpx_slice item)
{
    mx_format(out, "{\"participant\":%q,\"item\":", from);
    text_compact(out, item);
    mcpx_text_puts(out, "}\n");
}

bool listing_find_tool(struct mcpx_slice result, const char *name, struct nearest *nearest,
                       struct mcpx_slice *tool)
{
    struct mcpx_json_walk walk;
    bool found = false;

    mcpx_json_walk_start(&walk, mcpx_json_get(result, "tools"));
    while (!found && mcpx_json_walk_next(&walk)) {
        struct mcpx_text plain = {0};

        *tool = walk.value;
        if (mcpx_json_add_unescaped(&plain, mcpx_json_get(walk.value, "name")) && plain.text) {
            nearest_consider(nearest, plain.text);
            found = strcmp(plain.text, name) == 0;
        }
        mcpx_text_fini(&plain);
    }
    return found;
}

void listing_write_tool(struct mcpx_text *out, struct mcpx_slice from, struct mcpx_slice tool,
                        bool json)
{
    static const char *const schemas[] = {"inputSchema", "outputSchema"};
    struct mcpx_text about = {0};

    if (json) {
        add_json(out, from, tool);
        return;
    }
    text_format(out, "%s  %v\n", from, mcpx_json_get(tool, "name"));
    if (mcpx_json_add_unescaped(&about, mcpx_json_get(tool, "description"))) {
        text_lines(out, mcpx_text_view(&about));
        mcpx_text_puts(out, "\n");
    }
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        struct mcpx_slice schema = mcpx_json_get(tool, schemas[i]);

        if (!schema.text)
            continue;
        mx_format(out, "%s ", schemas[i]);
        text_pretty(out, schema, 0);
        mcpx_text_puts(out, "\n");
    }
    out->failed |= about.failed;
    mcpx_text_fini(&about);
}

void listing_write(struct mcpx_text *out, const struct listing *listing,
                   struct mcpx_slice from, struct mcpx_slice result, bool json)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, mcpx_json_get(result, listing->member));
    while (mcpx_json_walk_next(&walk)) {
        if (json) {
            add_json(out, from, walk.value);
            continue;
        }
        text_format(out, "%s  ", from);
        add_member(out, walk.value, listing->key);
        if (mcpx_json_get(walk.value, "description").text)
            mcpx_text_puts(out, "  ");
        add_member(out, walk.value, "description");
        mcpx_text_puts(out, "\n");
    }
}
