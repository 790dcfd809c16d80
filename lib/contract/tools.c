/*
 * tools.c - a server's tools and their schemas. A list is read when it arrives, entry by entry. A
 * schema is compiled at the first call of its tool, or when doubts are requested: so a tool with an
 * unusable schema does not affect the others.
 *
 * Compiled schemas count for the participant with the tools, once for each tool.
 */
#include "lib/contract/terms.h"

#include "lib/contract/wrap.h"
#include "lib/json/tree.h"
#include "lib/schema/program.h"
#include "lib/schema/run.h"

#include "lib/base/digits.h"
#include "lib/base/fault.h"
#include "lib/base/map.h"
#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include <mcpx/json.h>

/* Doubts of either sort, characters of a name in them, bytes of schemas compiled for them. */
enum { DOUBTS_MAX = 10, NAME_SHOWN = 100, CHECKED_MAX = 4 * 1024 * 1024 };

static const struct mcpx_slice prefix = {"mcp.tool:", 9};
static const char *const pointers[] = {"/inputSchema", "/outputSchema"};

/* One of a tool's schemas: compiled, or refused with a reason, or neither so far. */
struct side {
    const char *pointer; /* to it in the tool's entry */
    bool declared;
    bool is_refused;
    uint64_t used; /* time of the last use */
    struct mcpx_schema *schema;
    struct mx_finding refusal;
};

struct tool {
    struct mcpx_slice name; /* of `text` */
    struct mcpx_text text;  /* its name, then its entry in the list */
    struct side sides[2];   /* by enum mcpx_tool_side */
};

struct mcpx_tools {
    struct mcpx_shelf *shelf;
    struct mcpx_tools *next;
    struct mcpx_text owner;
    struct mx_map by_name;
    struct mx_map_key key;
    struct tool **list;
    size_t count;
    size_t room;
    size_t entries; /* of all pages, from 1 */
    size_t left_out;
    struct mcpx_text doubts;
    unsigned char digest[MX_SHA256_BYTES]; /* of all pages */
};

struct mcpx_tools *mcpx_tools_new(struct mcpx_shelf *shelf, struct mcpx_slice participant)
{
    struct mcpx_tools *tools = calloc(1, sizeof *tools);

    if (!tools)
        return NULL;
    mcpx_text_slice(&tools->owner, participant.len > 0 ? participant : MCPX_SLICE("-"));
    if (tools->owner.failed) {
        free(tools);
        return NULL;
    }
    tools->shelf = shelf;
    tools->next = shelf->tools;
    shelf->tools = tools;
    return tools;
}

/* Gives a compiled schema back. */
static void drop(struct mcpx_tools *tools, struct side *side)
{
    if (!side->schema)
        return;
    mx_holders_remove(&tools->shelf->held, mcpx_text_view(&tools->owner), side->schema->bytes);
    mcpx_schema_unref(side->schema);
    side->schema = NULL;
}

static void tool_free(struct mcpx_tools *tools, struct tool *tool)
{
    for (size_t i = 0; i < 2; i++) {
        drop(tools, &tool->sides[i]);
        mcpx_text_fini(&tool->sides[i].refusal.text);
    }
    mcpx_text_fini(&tool->text);
    free(tool);
}

void mcpx_tools_free(struct mcpx_tools *tools)
{
    struct mcpx_tools **link;

    if (!tools)
        return;
    for (size_t i = 0; i < tools->count; i++)
        tool_free(tools, tools->list[i]);
    for (link = &tools->shelf->tools; *link != tools;)
        link = &(*link)->next;
    *link = tools->next;
    mx_map_fini(&tools->by_name);
    mcpx_text_fini(&tools->owner);
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
    return mx_map_find(&tools->by_name, mx_map_hash(tools->key, name),
                       offsetof(struct tool, name), name);
}

bool mx_tools_has(const struct mcpx_tools *tools, struct mcpx_slice name)
{
    return find(tools, name) != NULL;
}

const unsigned char *mx_tools_digest(const struct mcpx_tools *tools)
{
    return tools->digest;
}

/* Adds the tool of the entry in the tree; the first one of a name counts. Returns false when memory
 * runs out. */
static bool add(struct mcpx_tools *tools, const struct mx_tree *tree, uint32_t name)
{
    struct tool *tool = calloc(1, sizeof *tool);
    bool failed;

    if (!tool)
        return false;
    mx_tree_unescape(tree, name, &tool->text);
    tool->name.len = tool->text.len;
    mcpx_text_slice(&tool->text, mx_tree_bytes(tree, 0));
    tool->name.text = tool->text.text;
    for (size_t i = 0; i < 2; i++) {
        tool->sides[i].pointer = pointers[i];
        tool->sides[i].declared = mx_tree_member(tree, 0, mcpx_slice_of(pointers[i] + 1)) != 0;
    }
    failed = tool->text.failed ||
             !mx_make_room(&tools->list, tools->count, &tools->room, sizeof tool) ||
             !mx_map_reserve(&tools->by_name);
    if (failed || find(tools, tool->name)) {
        tool_free(tools, tool);
        return !failed;
    }
    tools->list[tools->count++] = tool;
    mx_map_put(&tools->by_name, mx_map_hash(tools->key, tool->name), (uintptr_t)tool);
    return true;
}

/* Digests a page together with those before it. Names come from the server, so the hashes of their
 * map have a key it cannot predict. */
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

/* Removes the newest tools until `count` are left. */
static void cut(struct mcpx_tools *tools, size_t count)
{
    while (tools->count > count) {
        struct tool *tool = tools->list[tools->count - 1];

        mx_map_remove(&tools->by_name, mx_map_hash(tools->key, tool->name), (uintptr_t)tool);
        tool_free(tools, tool);
        tools->count--;
    }
}

/* Notes why an entry is left out, unless there are many such entries. */
static void leave_out(struct mcpx_tools *tools, struct mcpx_slice entry, const char *reason)
{
    mx_scoped_text name = {0};

    if (++tools->left_out > DOUBTS_MAX)
        return;
    mcpx_json_add_unescaped(&name, mcpx_json_get(entry, "name"));
    mx_format(&tools->doubts, "entry %s of the list of tools", tools->entries);
    if (name.len > 0)
        mx_format(&tools->doubts, ", %q,", mx_cut(mcpx_text_view(&name), NAME_SHOWN));
    mx_format(&tools->doubts, " is left out: %s\n", reason);
    tools->doubts.failed |= name.failed;
}

/* Adds the tool of an entry, or notes that it is not one. Returns false when memory runs out. */
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

enum mcpx_err mcpx_tools_add(struct mcpx_tools *tools, struct mcpx_slice result,
                             struct mcpx_fault *fault)
{
    MX_SCOPED(mx_tree_fini) struct mx_tree tree = {0};
    size_t before = tools->count;
    struct mcpx_slice value, list;
    bool is_added;
    enum mcpx_err err = mcpx_json_check(result, 0, &value, fault);

    if (err)
        return err;
    list = mcpx_json_get(value, "tools");
    if (mcpx_json_type(list) != MCPX_JSON_ARRAY)
        return mx_fault_set(fault, "expected an object with an array 'tools'", "",
                            list.text ? (size_t)(list.text - result.text) : 0);
    is_added = digest_page(tools, result);
    MCPX_JSON_EACH_WHILE(is_added, walk, list)
        is_added = add_entry(tools, &tree, walk.value);
    if (!is_added)
        cut(tools, before);
    return is_added ? MCPX_OK : MCPX_ENOMEM;
}

/* Drops the least recently used compiled schema of the largest holder. Defaults for undeclared
 * schemas stay: they are small and lent for longer. Returns false when there is none.
 */
static bool give_way(struct mcpx_shelf *shelf)
{
    struct mcpx_slice largest = mx_holders_largest(&shelf->held);
    struct mcpx_tools *of = NULL;
    struct side *oldest = NULL;

    for (struct mcpx_tools *tools = shelf->tools; tools; tools = tools->next) {
        size_t count =
            mcpx_slice_equal(mcpx_text_view(&tools->owner), largest) ? 2 * tools->count : 0;

        for (size_t i = 0; i < count; i++) {
            struct side *side = &tools->list[i / 2]->sides[i % 2];

            if (!side->schema || !side->declared || (oldest && side->used > oldest->used))
                continue;
            oldest = side;
            of = tools;
        }
    }
    if (oldest)
        drop(of, oldest);
    return oldest;
}

/* Keeps a schema within its participant's quota; takes its reference. */
static enum mcpx_err keep(struct mcpx_tools *tools, struct side *side,
                          struct mcpx_schema *schema)
{
    struct mx_holders *held = &tools->shelf->held;
    struct mcpx_slice owner = mcpx_text_view(&tools->owner);
    enum mx_sharing sharing = mx_holders_ask(held, owner, schema->bytes);

    while (sharing == MX_SHARING_OVER_TOTAL && give_way(tools->shelf))
        sharing = mx_holders_ask(held, owner, schema->bytes);
    if (sharing == MX_SHARING_FITS && mx_holders_add(held, owner, schema->bytes)) {
        side->schema = schema;
        return MCPX_OK;
    }
    mcpx_schema_unref(schema);
    return sharing == MX_SHARING_FITS ? MCPX_ENOMEM : MCPX_ELIMIT;
}

/* Keeps the reason of an unusable schema: another check could take long. */
static enum mcpx_err refuse(struct side *side, const struct mcpx_schema_error *error)
{
    struct mx_finding *refusal = &side->refusal;

    mx_format(&refusal->text, "%s%s", side->pointer, error->path);
    mx_finding_key(refusal, error->keyword);
    mcpx_text_slice(&refusal->text, error->message);
    side->is_refused = true;
    return refusal->text.failed ? MCPX_ENOMEM : MCPX_EINVALID;
}

static enum mcpx_err refuse_bytes(const struct mcpx_tools *tools, struct side *side)
{
    mx_scoped_text message =
        mx_formatted("must not take, compiled, more than what its participant has left of "
                     "limits.schema_bytes (%s)",
                     tools->shelf->held.cap);

    return refuse(side, &(struct mcpx_schema_error){MCPX_SLICE(""), MCPX_SLICE("bounds"),
                                                    mcpx_text_view(&message)});
}

/* Compiles one of a tool's schemas; the caller owns a reference. */
static enum mcpx_err compile(struct mcpx_tools *tools, const struct tool *tool,
                             struct side *side, struct mcpx_schema **out)
{
    struct mcpx_slice entry = mx_behind(mcpx_text_view(&tool->text), tool->name.len);
    struct mcpx_schema_options options = {.pointer = mcpx_slice_of(side->pointer)};
    MX_SCOPED(mcpx_schema_report_fini) struct mcpx_schema_report report = {0};
    enum mcpx_err err;

    if (!side->declared) {
        entry = MCPX_SLICE("true");
        options.pointer = MCPX_SLICE("");
    }
    err = mcpx_schema_compile(tools->shelf, entry, &options, &report, out);
    return err == MCPX_EINVALID ? refuse(side, &report.errors[0]) : err;
}

void mcpx_tools_doubts_add(struct mcpx_text *out, struct mcpx_tools *tools)
{
    size_t told = 0, bytes = 0;

    mcpx_text_slice(out, mcpx_text_view(&tools->doubts));
    if (tools->left_out > DOUBTS_MAX)
        mx_format(out, "%s more entries of the list of tools are left out\n",
                  tools->left_out - DOUBTS_MAX);
    for (size_t i = 0;
         i < 2 * tools->count && told < DOUBTS_MAX && bytes < CHECKED_MAX && !out->failed;
         i++) {
        struct tool *tool = tools->list[i / 2];
        struct side *side = &tool->sides[i % 2];
        struct mcpx_schema *schema = NULL;
        struct mcpx_schema_error why;

        if (side->declared && !side->schema && !side->is_refused)
            out->failed = compile(tools, tool, side, &schema) == MCPX_ENOMEM;
        bytes += schema ? schema->bytes : 0;
        mcpx_schema_unref(schema);
        if (!side->is_refused)
            continue;
        why = mx_finding_view(&side->refusal);
        mx_format(out, "a schema of the tool %q cannot be used: %s %s\n",
                  mx_cut(tool->name, NAME_SHOWN), why.path, why.message);
        told++;
    }
}

enum mcpx_err mcpx_tools_schema(struct mcpx_tools *tools, struct mcpx_slice name,
                                enum mcpx_tool_side which, struct mcpx_schema_report *report,
                                struct mcpx_tool_schema *out)
{
    struct tool *tool = find(tools, name);
    enum mcpx_err err = MCPX_OK;
    struct mcpx_schema *schema;
    struct side *side;

    if (!tool && name.len > prefix.len && memcmp(name.text, prefix.text, prefix.len) == 0)
        tool = find(tools, mx_behind(name, prefix.len));
    if (!tool)
        return MCPX_ENOTFOUND;
    side = &tool->sides[which];
    if (!side->schema && !side->is_refused) {
        err = compile(tools, tool, side, &schema);
        if (!err)
            err = keep(tools, side, schema);
        if (err == MCPX_ELIMIT)
            err = refuse_bytes(tools, side);
    }
    if (side->is_refused && err != MCPX_ENOMEM)
        err =
            report ? mx_report_error(report, mx_finding_view(&side->refusal)) : MCPX_EINVALID;
    if (err)
        return err;
    side->used = ++tools->shelf->uses;
    *out = (struct mcpx_tool_schema){side->schema, side->declared};
    return MCPX_OK;
}
