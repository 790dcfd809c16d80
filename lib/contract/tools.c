/*
 * tools.c - a server's tools and their schemas. A list is read when it comes, a schema compiled
 * when its tool is called first: servers have hundreds of tools, and one whose schema cannot be
 * used, or that is no tool at all, is no concern of the others. So a list is read entry by entry.
 */
#include "lib/contract/tools.h"

#include "lib/contract/tree_find.h"
#include "lib/contract/tree_read.h"
#include "lib/contract/wrap.h"

#include "lib/core/format.h"
#include "lib/core/map.h"
#include "lib/core/room.h"
#include <mcpx/json.h>

/* Entries that are left out by name, and characters of such a name. */
enum { DOUBTS_MAX = 10, NAME_SHOWN = 100 };

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
    size_t entries; /* of all pages, from 1 */
    size_t left_out;
    struct mcpx_text doubts;
    unsigned char digest[MX_SHA256_BYTES]; /* of all pages */
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
    mcpx_text_fini(&tools->doubts);
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

const unsigned char *mx_tools_digest(const struct mcpx_tools *tools)
{
    return tools->digest;
}

/* A tool of an entry, which the tree is; NULL when memory runs out. */
static struct tool *tool_new(const struct mx_tree *tree, uint32_t name)
{
    struct tool *tool = (struct tool *)calloc(1, sizeof *tool);

    if (!tool)
        return NULL;
    mx_tree_unescape(tree, name, &tool->text);
    tool->name.len = tool->text.len;
    mcpx_text_slice(&tool->text, mx_tree_bytes(tree, 0));
    tool->name.text = tool->text.text;
    for (size_t side = 0; side < 2; side++)
        tool->declared[side] =
            mx_tree_member(tree, 0, mcpx_slice_of(schema_members[side])) != 0;
    if (tool->text.failed) {
        tool_free(tool);
        return NULL;
    }
    return tool;
}

static bool add(struct mcpx_tools *tools, const struct mx_tree *tree, uint32_t name)
{
    struct tool **list =
        (struct tool **)mx_room((void *)tools->list, tools->count, &tools->room, sizeof *list);
    struct tool *tool;

    if (!list)
        return false;
    tools->list = list;
    if (!mx_map_reserve(&tools->by_name))
        return false;
    tool = tool_new(tree, name);
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

/* Digests a page together with those before it. Names come from the server: the hashes of their map
 * have a key that it does not know beforehand. */
static bool digest_page(struct mcpx_tools *tools, struct mcpx_slice result)
{
    unsigned char pages[2 * MX_SHA256_BYTES];

    memcpy(pages, tools->digest, MX_SHA256_BYTES);
    if (!mx_sha256(result, pages + MX_SHA256_BYTES) ||
        !mx_sha256((struct mcpx_slice){(const char *)pages, sizeof pages}, tools->digest))
        return false;
    if (tools->count == 0)
        memcpy(&tools->key, tools->digest, sizeof tools->key);
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

/* Notes why an entry is none of the tools, unless there are many such. */
static void leave_out(struct mcpx_tools *tools, struct mcpx_slice entry, const char *reason)
{
    struct mcpx_text name = {0};

    if (++tools->left_out > DOUBTS_MAX)
        return;
    mcpx_json_add_unescaped(&name, mcpx_json_get(entry, "name"));
    mx_format(&tools->doubts, "entry %s of the list of tools", tools->entries);
    if (name.len > 0)
        mx_format(&tools->doubts, ", %q,", mx_cut(mcpx_text_view(&name), NAME_SHOWN));
    mx_format(&tools->doubts, " is left out: %s\n", reason);
    tools->doubts.failed |= name.failed;
    mcpx_text_fini(&name);
}

/* Adds what an entry is, or notes that it is no tool. Returns false when memory runs out. */
static bool add_entry(struct mcpx_tools *tools, struct mx_tree *tree, struct mcpx_slice entry)
{
    struct mcpx_fault fault = {"", "", 0};
    enum mcpx_err err = mx_tree_read(tree, entry, &fault);
    uint32_t name = err ? 0 : mx_tree_member(tree, 0, MCPX_SLICE("name"));

    tools->entries++;
    if (err == MCPX_ENOMEM)
        return false;
    if (name && mx_tree_type(tree, name) == MCPX_JSON_STRING)
        return add(tools, tree, name);
    leave_out(tools, entry, err ? fault.reason : "expected an object with a string 'name'");
    return !tools->doubts.failed;
}

static enum mcpx_err add_page(struct mcpx_tools *tools, struct mcpx_slice list)
{
    struct mx_tree tree = {0};
    struct mcpx_json_walk walk;
    bool is_added = true;

    mcpx_json_walk_start(&walk, list);
    while (is_added && mcpx_json_walk_next(&walk))
        is_added = add_entry(tools, &tree, walk.value);
    mx_tree_fini(&tree);
    return is_added ? MCPX_OK : MCPX_ENOMEM;
}

enum mcpx_err mcpx_tools_add(struct mcpx_tools *tools, struct mcpx_slice result,
                             struct mcpx_fault *fault)
{
    size_t before = tools->count;
    struct mcpx_slice value, list;
    enum mcpx_err err = mcpx_json_check(result, 0, &value, fault);

    if (err)
        return err;
    list = mcpx_json_get(value, "tools");
    if (mcpx_json_type(list) != MCPX_JSON_ARRAY) {
        if (fault)
            *fault = (struct mcpx_fault){"expected an object with an array 'tools'", "",
                                         list.text ? (size_t)(list.text - result.text) : 0};
        return MCPX_EINVALID;
    }
    err = digest_page(tools, result) ? add_page(tools, list) : MCPX_ENOMEM;
    if (err)
        cut(tools, before);
    return err;
}

void mcpx_tools_doubts_add(struct mcpx_text *out, const struct mcpx_tools *tools)
{
    mcpx_text_slice(out, mcpx_text_view(&tools->doubts));
    if (tools->left_out > DOUBTS_MAX)
        mx_format(out, "%s more entries of the list of tools are left out\n",
                  tools->left_out - DOUBTS_MAX);
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
