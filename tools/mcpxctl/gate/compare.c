/*
 * compare.c - what the items of a gate compare, in texts alone.
 *
 * In canonical form equal values have equal bytes, and members stand in one order. So the first
 * value with other bytes is found level by level, without going back; and a fingerprint, the
 * SHA-256 of that form, is the same for a schema that is written in another way. A shape is
 * composed level by level from the shapes below it, which are texts already: of items they are
 * sorted, and equal ones stand once.
 *
 * Sorted by request, then by line, the events of one request stand together. Callers may use an id
 * again, so calls of one id are counted.
 */
#include "tools/mcpxctl/gate/compare.h"

#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "lib/json/tree.h"
#include "tools/common/command.h"
#include <mcpx/contract.h>
#include <mcpx/digest.h>
#include <mcpx/wrap.h>

#include <stdlib.h>

/* ---- bills of materials ---- */

const char *bill_fault(struct mcpx_slice text, size_t *count)
{
    static const struct {
        const char *sign;
        const char *list;
        const char *fault;
    } formats[] = {
        {"spdxVersion", "packages", "its packages are no list with an item"},
        {"bomFormat", "components", "its components are no list with an item"},
    };
    struct mcpx_slice bill;

    if (mcpx_json_check(text, 0, &bill, NULL) != MCPX_OK)
        return "it is no JSON";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct mcpx_slice list = mcpx_json_get(bill, formats[i].list);

        if (mcpx_json_type(mcpx_json_get(bill, formats[i].sign)) != MCPX_JSON_STRING)
            continue;
        *count = mcpx_json_length(list);
        return mcpx_json_type(list) == MCPX_JSON_ARRAY && *count > 0 ? NULL : formats[i].fault;
    }
    return "it has neither spdxVersion nor bomFormat";
}

/* Appends the canonical form. False for what is ambiguous, or no JSON. */
static bool canonical_add(struct mcpx_text *out, struct mcpx_slice json)
{
    return memory_checked(mcpx_canonical_add(out, json, NULL)) == MCPX_OK;
}

/* ---- where two documents differ ---- */

/* Appends a part of a JSON Pointer. */
static void add_part(struct mcpx_text *path, struct mcpx_slice name)
{
    struct mcpx_text quoted = {0}, plain = {0};

    mx_format(&quoted, "\"%s\"", name);
    mcpx_json_add_unescaped(&plain, mcpx_text_view(&quoted));
    mx_tree_pointer_add(path, mcpx_text_view(&plain));
    mcpx_text_fini(&quoted);
    mcpx_text_fini(&plain);
}

/*
 * Goes from two values that differ to the first two in them that do. Returns false when they are
 * what differs: they are no containers of one kind.
 */
static bool descend(struct mcpx_text *path, struct mcpx_slice *was, struct mcpx_slice *is)
{
    enum mcpx_json_type type = mcpx_json_type(*was);
    struct mcpx_json_walk left, right;
    size_t index = 0;
    bool more, same = true;

    if (type != mcpx_json_type(*is) || (type != MCPX_JSON_OBJECT && type != MCPX_JSON_ARRAY))
        return false;
    mcpx_json_walk_start(&left, *was);
    mcpx_json_walk_start(&right, *is);
    for (;; index++) {
        more = mcpx_json_walk_next(&left);
        if (!mcpx_json_walk_next(&right)) {
            *is = (struct mcpx_slice){NULL, 0};
            break;
        }
        *is = right.value;
        same = more && mcpx_slice_equal(left.name, right.name);
        if (!same || !mcpx_slice_equal(left.value, right.value))
            break;
    }
    *was = more && same ? left.value : (struct mcpx_slice){NULL, 0};
    if (type == MCPX_JSON_OBJECT)
        add_part(path, is->text ? right.name : left.name);
    else
        mx_format(path, "/%s", index);
    return true;
}

enum difference gate_difference_find(struct mcpx_text *path, struct mcpx_slice was,
                                     struct mcpx_slice is)
{
    struct mcpx_text old = {0}, new = {0};
    enum difference found = DIFFERENCE_UNKNOWN;

    if (canonical_add(&old, was) && canonical_add(&new, is)) {
        was = mcpx_text_view(&old);
        is = mcpx_text_view(&new);
        found = mcpx_slice_equal(was, is) ? DIFFERENCE_NONE : DIFFERENCE_FOUND;
        while (found == DIFFERENCE_FOUND && descend(path, &was, &is)) {}
    }
    mcpx_text_fini(&old);
    mcpx_text_fini(&new);
    return found;
}

/* ---- fingerprints of schemas ---- */

static struct mcpx_slice output_schema(struct mcpx_slice tool)
{
    struct mcpx_slice own =
        mcpx_json_get(mcpx_json_get(tool, "_meta"), MCPX_OUTPUT_SCHEMA_MEMBER);

    return own.text ? own : mcpx_json_get(tool, "outputSchema");
}

static bool digest(struct mcpx_slice schema, char sum[MCPX_SHA256_LEN + 1])
{
    return memory_checked(mcpx_digest_json(schema, sum, NULL)) == MCPX_OK;
}

static bool add_tool(struct mcpx_text *out, struct mcpx_slice tool)
{
    struct mcpx_slice name = mcpx_json_get(tool, "name");
    struct mcpx_slice input = mcpx_json_get(tool, "inputSchema");
    struct mcpx_slice output = output_schema(tool);
    char sum[MCPX_SHA256_LEN + 1];

    if (mcpx_json_type(name) != MCPX_JSON_STRING || !input.text || !digest(input, sum))
        return false;
    mx_format(out, "%s%s:{\"input\":\"sha256:%s\",", out->len > 1 ? "," : "", name, sum);
    if (output.text && !digest(output, sum))
        return false;
    if (output.text)
        mx_format(out, "\"output\":\"sha256:%s\"}", sum);
    else
        mcpx_text_puts(out, "\"output\":null}");
    return true;
}

bool fingerprints_add(struct mcpx_text *out, struct mcpx_slice tools, struct mcpx_slice *tool)
{
    struct mcpx_text list = {0};
    struct mcpx_json_walk walk;
    bool good = true;

    mcpx_text_puts(&list, "{");
    mcpx_json_walk_start(&walk, tools);
    while (good && mcpx_json_walk_next(&walk)) {
        *tool = walk.value;
        good = add_tool(&list, walk.value);
    }
    mcpx_text_puts(&list, "}");
    good = good && canonical_add(out, mcpx_text_view(&list));
    mcpx_text_fini(&list);
    return good;
}

/* The member whose name has these bytes; the names of both documents are canonical. */
static struct mcpx_slice member_of(struct mcpx_slice object, struct mcpx_slice name)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, object);
    while (mcpx_json_walk_next(&walk))
        if (mcpx_slice_equal(walk.name, name))
            return walk.value;
    return (struct mcpx_slice){NULL, 0};
}

static void tell_tool(struct mcpx_text *out, struct mcpx_slice name, const char *what)
{
    mx_format(out, "%s%s%s", out->len > 0 ? "; " : "", name, what);
}

static void tell_change(struct mcpx_text *out, struct mcpx_slice name, struct mcpx_slice was,
                        struct mcpx_slice is)
{
    static const char *const schemas[][2] = {{"input", ": its input schema changed"},
                                             {"output", ": its output schema changed"}};

    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
        if (!mcpx_json_same(mcpx_json_get(was, schemas[i][0]),
                            mcpx_json_get(is, schemas[i][0])))
            tell_tool(out, name, schemas[i][1]);
}

bool fingerprints_equal(struct mcpx_text *out, struct mcpx_slice was, struct mcpx_slice is)
{
    struct mcpx_text old = {0};
    struct mcpx_json_walk walk;
    bool equal;

    if (!canonical_add(&old, was)) {
        mcpx_text_puts(out, "what was written down is ambiguous");
        mcpx_text_fini(&old);
        return false;
    }
    was = mcpx_text_view(&old);
    equal = mcpx_slice_equal(was, is);
    mcpx_json_walk_start(&walk, is);
    while (mcpx_json_walk_next(&walk)) {
        struct mcpx_slice before = member_of(was, walk.name);

        if (!before.text)
            tell_tool(out, walk.name, ": the tool was added");
        else
            tell_change(out, walk.name, before, walk.value);
    }
    mcpx_json_walk_start(&walk, was);
    while (mcpx_json_walk_next(&walk))
        if (!member_of(is, walk.name).text)
            tell_tool(out, walk.name, ": the tool is gone");
    mcpx_text_fini(&old);
    return equal;
}

/* ---- shapes ---- */

enum { DEPTH_MAX = 128 };

static bool add_value(struct mcpx_text *out, struct mcpx_slice value, size_t depth);

static int compare_shapes(const void *left, const void *right)
{
    return mcpx_slice_compare(mcpx_text_view(left), mcpx_text_view(right));
}

/* The shapes of an array's items, so many as there is room for in `shapes`. */
static bool add_items(struct mcpx_text *out, struct mcpx_slice array, struct mcpx_text *shapes,
                      size_t depth)
{
    struct mcpx_json_walk walk;
    size_t count = 0;

    mcpx_json_walk_start(&walk, array);
    while (mcpx_json_walk_next(&walk))
        if (!add_value(&shapes[count++], walk.value, depth))
            return false;
    if (count > 0)
        qsort(shapes, count, sizeof *shapes, compare_shapes);
    mcpx_text_puts(out, "[");
    for (size_t i = 0; i < count; i++)
        if (i == 0 || compare_shapes(&shapes[i - 1], &shapes[i]) != 0)
            mx_format(out, "%s%s", i == 0 ? "" : ",", &shapes[i]);
    mcpx_text_puts(out, "]");
    return true;
}

static bool add_array(struct mcpx_text *out, struct mcpx_slice array, size_t depth)
{
    size_t count = mcpx_json_length(array);
    struct mcpx_text *shapes = calloc(count + 1, sizeof *shapes);
    bool good = add_items(out, array, shapes, depth);

    for (size_t i = 0; i < count; i++)
        mcpx_text_fini(&shapes[i]);
    free(shapes);
    return good;
}

static bool add_object(struct mcpx_text *out, struct mcpx_slice object, size_t depth)
{
    struct mcpx_text members = {0};
    struct mcpx_json_walk walk;
    bool good = true;

    mcpx_text_puts(&members, "{");
    mcpx_json_walk_start(&walk, object);
    while (good && mcpx_json_walk_next(&walk)) {
        mx_format(&members, "%s\"%s\":", members.len > 1 ? "," : "", walk.name);
        good = add_value(&members, walk.value, depth);
    }
    mcpx_text_puts(&members, "}");
    good = good && canonical_add(out, mcpx_text_view(&members));
    mcpx_text_fini(&members);
    return good;
}

static bool add_value(struct mcpx_text *out, struct mcpx_slice value, size_t depth)
{
    static const char *const types[] = {
        [MCPX_JSON_ABSENT] = "\"absent\"", [MCPX_JSON_STRING] = "\"string\"",
        [MCPX_JSON_NUMBER] = "\"number\"", [MCPX_JSON_BOOL] = "\"boolean\"",
        [MCPX_JSON_NULL] = "\"null\"",
    };
    enum mcpx_json_type type = mcpx_json_type(value);

    if (depth > DEPTH_MAX)
        return false;
    if (type == MCPX_JSON_OBJECT)
        return add_object(out, value, depth + 1);
    if (type == MCPX_JSON_ARRAY)
        return add_array(out, value, depth + 1);
    mcpx_text_puts(out, types[type]);
    return true;
}

bool shape_add(struct mcpx_text *out, struct mcpx_slice value)
{
    struct mcpx_text shape = {0};
    bool good = add_value(&shape, value, 0);

    if (good)
        mcpx_text_slice(out, mcpx_text_view(&shape));
    mcpx_text_fini(&shape);
    return good;
}

/* ---- telemetry ---- */

void events_add(struct events *events, struct mcpx_slice text, size_t line)
{
    struct mcpx_slice name = mcpx_json_get(text, "eventName");
    struct event event = {EVENT_RESULT, line, mcpx_json_get(text, "requestId"), {NULL, 0}};

    events->list = mx_room(events->list, events->count, &events->size, sizeof event);
    if (mcpx_json_equals(name, MCPX_SLICE("mcp.alias.call"))) {
        event.type = EVENT_ALIAS;
        event.tool = mcpx_json_get(text, "canonicalToolName");
    } else if (mcpx_json_equals(name, MCPX_SLICE("mcp.tool.call"))) {
        event.type = EVENT_CALL;
        event.tool = mcpx_json_get(text, "toolName");
    }
    events->list[events->count++] = event;
}

void events_fini(struct events *events)
{
    free(events->list);
    *events = (struct events){.count = 0};
}

static int compare_events(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    int order = mcpx_slice_compare(a->request, b->request);

    return order ? order : (a->line > b->line) - (a->line < b->line);
}

/*
 * The story of one request so far.
 *
 * alias   not followed by its call yet; NULL: none
 * call    the last one
 * open    calls without a result
 */
struct story {
    const struct event *alias;
    const struct event *call;
    size_t open;
};

/* The fault with the smallest line. */
struct fault {
    size_t line;
    const char *what;
};

static void note(struct fault *fault, const struct event *event, const char *what)
{
    if (fault->line == 0 || event->line < fault->line)
        *fault = (struct fault){event->line, what};
}

static void add_to_story(struct story *story, const struct event *event, struct fault *fault)
{
    switch (event->type) {
    case EVENT_ALIAS:
        if (story->alias)
            note(fault, story->alias, "no call follows this alias");
        story->alias = event;
        break;
    case EVENT_CALL:
        if (story->alias && !mcpx_json_same(story->alias->tool, event->tool))
            note(fault, event, "the alias before this call is one of another tool");
        story->alias = NULL;
        story->call = event;
        story->open++;
        break;
    case EVENT_RESULT:
        if (story->open == 0)
            note(fault, event, "there is no call that this result ends");
        else
            story->open--;
        break;
    }
}

static void end_story(struct story *story, struct fault *fault)
{
    if (story->alias)
        note(fault, story->alias, "no call follows this alias");
    if (story->open > 0)
        note(fault, story->call, "this call has no result");
    *story = (struct story){NULL, NULL, 0};
}

bool events_pair_up(struct events *events, struct mcpx_text *out)
{
    struct story story = {NULL, NULL, 0};
    struct fault fault = {0, ""};

    if (events->count > 0)
        qsort(events->list, events->count, sizeof *events->list, compare_events);
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->list[i];

        if (i > 0 && !mcpx_slice_equal(event[-1].request, event->request))
            end_story(&story, &fault);
        add_to_story(&story, event, &fault);
    }
    end_story(&story, &fault);
    if (fault.line > 0)
        mx_format(out, "line %s: %s", fault.line, fault.what);
    return fault.line == 0;
}

bool events_have(const struct events *events, struct mcpx_slice request)
{
    for (size_t i = 0; i < events->count; i++)
        if (events->list[i].type == EVENT_CALL &&
            mcpx_json_equals(events->list[i].request, request))
            return true;
    return false;
}

/* ---- outcomes ---- */

static const char *word_of(struct mcpx_slice code)
{
    for (int i = 0; i < MCPX_CODE_COUNT; i++) {
        const char *name = mcpx_code_name((enum mcpx_code)i);

        if (mcpx_json_equals(code, mcpx_slice_of(name)))
            return name;
    }
    return "error";
}

/* The first item of an array. */
static struct mcpx_slice first_of(struct mcpx_slice array)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, array);
    return mcpx_json_walk_next(&walk) ? walk.value : (struct mcpx_slice){NULL, 0};
}

const char *outcome_of(struct mcpx_slice response)
{
    struct mcpx_slice error = mcpx_json_get(response, "error");
    struct mcpx_slice result = mcpx_json_get(response, "result");
    struct mcpx_slice envelope = mcpx_json_get(result, "structuredContent");
    struct mcpx_slice details;

    if (error.text)
        return word_of(mcpx_json_get(mcpx_json_get(error, "data"), "canonical_code"));
    if (!mcpx_slice_equal(mcpx_json_get(result, "isError"), MCPX_SLICE("true")))
        return "ok";
    details = mcpx_json_get(mcpx_json_get(envelope, "error"), "error_details");
    if (!details.text)
        details = mcpx_json_get(first_of(mcpx_json_get(envelope, "errors")), "details");
    return word_of(mcpx_json_get(details, "canonical_code"));
}
