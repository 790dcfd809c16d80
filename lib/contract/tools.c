/*
 * tools.c - a server's tools and their schemas. A list is read when it comes, a schema compiled when
 * its tool is called first: servers have hundreds of tools, and one whose schema cannot be used is no
 * concern of the others.
 */
#include "lib/contract/tools.h"

#include "lib/contract/digest.h"
#include "lib/contract/tree_find.h"
#include "lib/contract/tree_read.h"

#include "lib/core/map.h"
#include "lib/core/room.h"

static const struct mcpx_slice prefix = {"mcp.tool:", 9};
static const char *const schema_members[] = {"inputSchema", "outputSchema"};
static const char *const pointers[] = {"/inputSchema", "/outputSchema"};

/* By enum mcpx_tool_side. */
struct tool {
    struct mcpx_slice name; /* of `text` */
    struct mcpx_text text;  /* its name, then its entry in the list */
    bool declared[2];
    struct mcpx_schema *schemas[2];
};

struct mcpx_tools {
    struct mcpx_shelf *shelf;
    struct mx_map by_name; /* 1 + index */
    struct mx_map_key key;
    struct tool **list;
    size_t count;
    size_t room;
};

struct mcpx_tools *mcpx_tools_new(struct mcpx_shelf *shelf)
{
    struct mcpx_tools *tools = (struct mcpx_tools *)calloc(1, sizeof *tools);

    if (tools)
        tools->shelf = shelf;
    return tools;
}

static void tool_free(struct tool *tool)
{
    if (!tool)
        return;
    mcpx_schema_unref(tool->schemas[MCPX_TOOL_INPUT]);
    mcpx_schema_unref(tool->schemas[MCPX_TOOL_OUTPUT]);
    mcpx_text_fini(&tool->text);
    free(tool);
}

void mcpx_tools_free(struct mcpx_tools *tools)
{
    if (!tools)
        return;
    for (size_t i = 0; i < tools->count; i++)
        tool_free(tools->list[i]);
    mx_map_fini(&tools->by_name);
    free(tools->list);
    free(tools);
}

size_t mcpx_tools_count(const struct mcpx_tools *tools)
{
    return tools->count;
}

struct mcpx_slice mcpx_tools_name(const struct mcpx_tools *tools, size_t index)
{
    return tools->list[index]->name;
}

static struct tool *find(const struct mcpx_tools *tools, struct mcpx_slice name)
{
    uint64_t hash = mx_map_hash(tools->key, name), value;
    size_t at = 0;

    while ((value = mx_map_next(&tools->by_name, hash, &at)) != 0) {
        if (mcpx_slice_equal(tools->list[value - 1]->name, name))
            return tools->list[value - 1];
    }
    return NULL;
}

bool mx_tools_has(const struct mcpx_tools *tools, struct mcpx_slice name)
{
    return find(tools, name) != NULL;
}

/* A tool of an entry; NULL when memory runs out. */
static struct tool *tool_new(const struct mx_tree *tree, uint32_t entry, uint32_t name)
{
    struct tool *tool = (struct tool *)calloc(1, sizeof *tool);

    if (!tool)
        return NULL;
    mx_tree_unescape(tree, name, &tool->text);
    tool->name.len = tool->text.len;
    mcpx_text_slice(&tool->text, mx_tree_bytes(tree, entry));
    tool->name.text = tool->text.text;
    for (size_t side = 0; side < 2; side++)
        tool->declared[side] =
            mx_tree_member(tree, entry, mcpx_slice_of(schema_members[side])) != 0;
    if (tool->text.failed) {
        tool_free(tool);
        return NULL;
    }
    return tool;
}

static bool add(struct mcpx_tools *tools, const struct mx_tree *tree, uint32_t entry)
{
    uint32_t name = mx_tree_member(tree, entry, MCPX_SLICE("name"));
    struct tool **list =
        (struct tool **)mx_room((void *)tools->list, tools->count, &tools->room, sizeof *list);
    struct tool *tool;

    if (!list)
        return false;
    tools->list = list;
    if (!mx_map_reserve(&tools->by_name))
        return false;
    tool = tool_new(tree, entry, name);
    if (!tool)
        return false;
    if (find(tools, tool->name)) {
        tool_free(tool);
        return true;
    }
    tools->list[tools->count++] = tool;
    mx_map_put(&tools->by_name, mx_map_hash(tools->key, tool->name), tools->count);
    return true;
}

static enum mcpx_err refuse(const struct mx_tree *tree, uint32_t node, const char *reason,
                            struct mcpx_fault *fault)
{
    if (fault)
        *fault = (struct mcpx_fault){reason, "", tree->nodes[node].begin};
    return MCPX_EINVALID;
}

/* Checks that the result is a list of tools; `list` is filled. */
static enum mcpx_err check(const struct mx_tree *tree, uint32_t *list,
                           struct mcpx_fault *fault)
{
    *list = mx_tree_member(tree, 0, MCPX_SLICE("tools"));
    if (*list == 0 || mx_tree_type(tree, *list) != MCPX_JSON_ARRAY)
        return refuse(tree, *list, "expected an object with an array 'tools'", fault);
    for (uint32_t at = *list + 1; at < mx_tree_end(tree, *list); at = mx_tree_next(tree, at)) {
        uint32_t name = mx_tree_member(tree, at, MCPX_SLICE("name"));

        if (name == 0 || mx_tree_type(tree, name) != MCPX_JSON_STRING)
            return refuse(tree, at, "expected a tool: an object with a string 'name'", fault);
    }
    return MCPX_OK;
}

/* Names come from the server: the hashes of their map have a key that it does not know beforehand. */
static bool key_ready(struct mcpx_tools *tools, struct mcpx_slice result)
{
    unsigned char digest[MX_SHA256_BYTES];

    if (tools->count > 0)
        return true;
    if (!mx_sha256(result, digest))
        return false;
    memcpy(&tools->key, digest, sizeof tools->key);
    return true;
}

/* Takes the newest tools away again until `count` are left. */
static void cut(struct mcpx_tools *tools, size_t count)
{
    while (tools->count > count) {
        struct tool *tool = tools->list[tools->count - 1];

        mx_map_remove(&tools->by_name, mx_map_hash(tools->key, tool->name), tools->count);
        tool_free(tool);
        tools->count--;
    }
}

enum mcpx_err mcpx_tools_add(struct mcpx_tools *tools, struct mcpx_slice result,
                             struct mcpx_fault *fault)
{
    struct mx_tree tree = {0};
    enum mcpx_err err = mx_tree_read(&tree, result, fault);
    size_t before = tools->count;
    uint32_t list = 0;

    if (!err)
        err = check(&tree, &list, fault);
    if (!err && !key_ready(tools, result))
        err = MCPX_ENOMEM;
    for (uint32_t at = list + 1; !err && at < mx_tree_end(&tree, list);
         at = mx_tree_next(&tree, at)) {
        if (!add(tools, &tree, at))
            err = MCPX_ENOMEM;
    }
    if (err)
        cut(tools, before);
    mx_tree_fini(&tree);
    return err;
}

/* Compiles one of a tool's schemas. */
static enum mcpx_err compile(struct mcpx_tools *tools, struct tool *tool,
                             enum mcpx_tool_side side, struct mcpx_schema_report *report)
{
    struct mcpx_slice entry = {tool->text.text + tool->name.len,
                               tool->text.len - tool->name.len};
    struct mcpx_schema_options options = {.pointer = mcpx_slice_of(pointers[side])};

    if (!tool->declared[side]) {
        entry = MCPX_SLICE("true");
        options.pointer = MCPX_SLICE("");
    }
    return mcpx_schema_compile(tools->shelf, entry, &options, report, &tool->schemas[side]);
}

enum mcpx_err mcpx_tools_schema(struct mcpx_tools *tools, struct mcpx_slice name,
                                enum mcpx_tool_side side, struct mcpx_schema_report *report,
                                struct mcpx_tool_schema *out)
{
    struct tool *tool = find(tools, name);
    enum mcpx_err err = MCPX_OK;

    if (!tool && name.len > prefix.len && memcmp(name.text, prefix.text, prefix.len) == 0)
        tool = find(tools, (struct mcpx_slice){name.text + prefix.len, name.len - prefix.len});
    if (!tool)
        return MCPX_ENOTFOUND;
    if (!tool->schemas[side])
        err = compile(tools, tool, side, report);
    if (!err)
        *out = (struct mcpx_tool_schema){tool->schemas[side], tool->declared[side]};
    return err;
}
