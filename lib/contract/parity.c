/*
 * parity.c - do two logs say the same? Both are read side by side, a line of each at a time, and every
 * member that differs is told: whoever compares two transports wants to know what differs, not that
 * something does. A line that cannot be read is a fault and no difference; a broken log proves nothing.
 */
#include "lib/contract/canonical.h"
#include "lib/contract/tree_find.h"
#include "lib/contract/tree_read.h"
#include "lib/contract/tree_same.h"

#include "lib/core/format.h"
#include <mcpx/record.h>

/* By enum mcpx_parity_side, as all arrays here. */
struct comparison {
    struct mcpx_parity *parity;
    struct mcpx_slice left[2]; /* of the logs */
    struct mx_tree trees[2];
    struct mcpx_text path; /* of the values that are being compared */
    size_t line;
};

static void compare_values(struct comparison *comparison, uint32_t golden, uint32_t other);

static size_t count_lines(struct mcpx_slice log)
{
    size_t count = log.len > 0 && log.text[log.len - 1] != '\n';

    for (size_t i = 0; i < log.len; i++)
        count += log.text[i] == '\n';
    return count;
}

/* Cuts off the next line, without its end. Returns false when there is none. */
static bool next_line(struct mcpx_slice *left, struct mcpx_slice *line)
{
    const char *end;

    if (left->len == 0)
        return false;
    end = (const char *)memchr(left->text, '\n', left->len);
    *line = (struct mcpx_slice){left->text, end ? (size_t)(end - left->text) : left->len};
    left->text += line->len + (end != NULL);
    left->len -= line->len + (end != NULL);
    return true;
}

static void tell(struct comparison *comparison)
{
    struct mcpx_parity *parity = comparison->parity;
    struct mcpx_slice path = mcpx_text_view(&comparison->path);

    parity->differences++;
    if (parity->differ && !comparison->path.failed)
        parity->differ(parity->context, comparison->line, path.len ? path : MCPX_SLICE(""));
}

static void go_back(struct comparison *comparison, size_t len)
{
    if (comparison->path.failed)
        return;
    comparison->path.len = len;
    if (comparison->path.text)
        comparison->path.text[len] = '\0';
}

/* Of a line itself: what is another one in each run, or over each transport. */
static bool is_left_out(const struct mx_tree *tree, uint32_t object, uint32_t name)
{
    static const char *const names[] = {"ts",         "traceId",   "spanId", "requestId",
                                        "durationMs", "transport", "route"};

    for (size_t i = 0; object == 0 && i < sizeof names / sizeof *names; i++) {
        if (mx_tree_is(tree, name, mcpx_slice_of(names[i])))
            return true;
    }
    return false;
}

/* The value that a member of one side has in an object of the other; 0 when it is not there. */
static uint32_t find(struct comparison *comparison, enum mcpx_parity_side side, uint32_t name,
                     uint32_t object)
{
    const struct mx_tree *tree = &comparison->trees[!side];
    struct mcpx_text text = {0};
    uint32_t found;

    mx_tree_unescape(&comparison->trees[side], name, &text);
    found = mx_tree_member(tree, object, mcpx_text_view(&text));
    comparison->path.failed |= text.failed;
    mcpx_text_fini(&text);
    return found;
}

/* A member of one side, with its value in the other one's object. */
static void compare_member(struct comparison *comparison, enum mcpx_parity_side side,
                           uint32_t name, uint32_t object)
{
    size_t len = comparison->path.len;
    uint32_t found = find(comparison, side, name, object);

    if (found && side == MCPX_PARITY_NEW)
        return; /* compared already */
    mx_tree_pointer_name(&comparison->trees[side], name, &comparison->path);
    if (found)
        compare_values(comparison, name + 1, found);
    else
        tell(comparison);
    go_back(comparison, len);
}

static void compare_objects(struct comparison *comparison, uint32_t golden, uint32_t other)
{
    const uint32_t objects[2] = {golden, other};

    for (int i = 0; i < 2; i++) {
        enum mcpx_parity_side side = (enum mcpx_parity_side)i;
        const struct mx_tree *tree = &comparison->trees[side];
        uint32_t at = objects[side] + 1;

        for (; at < mx_tree_end(tree, objects[side]); at = mx_tree_next(tree, at + 1)) {
            if (!is_left_out(tree, objects[side], at))
                compare_member(comparison, side, at, objects[!side]);
        }
    }
}

static void compare_items(struct comparison *comparison, uint32_t golden, uint32_t other)
{
    const struct mx_tree *trees = comparison->trees;
    size_t len = comparison->path.len;
    uint32_t end = mx_tree_end(&trees[MCPX_PARITY_GOLDEN], golden);
    uint32_t a = golden + 1, b = other + 1;

    for (unsigned i = 0; a < end; i++) {
        mx_format(&comparison->path, "/%s", i);
        compare_values(comparison, a, b);
        go_back(comparison, len);
        a = mx_tree_next(&trees[MCPX_PARITY_GOLDEN], a);
        b = mx_tree_next(&trees[MCPX_PARITY_NEW], b);
    }
}

/* Calls itself for what containers hold; mx_tree_read bounds how deep. */
static void compare_values(struct comparison *comparison, uint32_t golden, uint32_t other)
{
    const struct mx_tree *a = &comparison->trees[MCPX_PARITY_GOLDEN];
    const struct mx_tree *b = &comparison->trees[MCPX_PARITY_NEW];
    enum mcpx_json_type type = mx_tree_type(a, golden);
    int64_t steps = INT64_MAX;

    if (type == mx_tree_type(b, other) && type == MCPX_JSON_OBJECT)
        compare_objects(comparison, golden, other);
    else if (type == mx_tree_type(b, other) && type == MCPX_JSON_ARRAY &&
             a->nodes[golden].count == b->nodes[other].count)
        compare_items(comparison, golden, other);
    else if (!mx_tree_same(a, golden, b, other, &steps))
        tell(comparison);
}

/* Reads a line of a side, which begins at `offset` of its log. */
static enum mcpx_err read_line(struct comparison *comparison, enum mcpx_parity_side side,
                               struct mcpx_slice line, size_t offset, struct mcpx_fault *fault)
{
    struct mx_tree *tree = &comparison->trees[side];
    struct mcpx_fault found = {"", "", 0};
    enum mcpx_err err = mx_tree_read(tree, line, &found);

    if (!err && tree->ambiguous) {
        found = mx_canonical_fault(tree);
        err = MCPX_EINVALID;
    }
    if (!err)
        return MCPX_OK;
    found.offset += offset;
    comparison->parity->side = side;
    if (fault)
        *fault = found;
    return err;
}

/* Compares the next line of both; `ended` when neither has one. */
static enum mcpx_err compare_next(struct comparison *comparison,
                                  const struct mcpx_slice logs[2], bool *ended,
                                  struct mcpx_fault *fault)
{
    bool has[2];

    comparison->line++;
    for (int i = 0; i < 2; i++) {
        struct mcpx_slice line = {NULL, 0};
        enum mcpx_err err = MCPX_OK;

        has[i] = next_line(&comparison->left[i], &line);
        if (has[i])
            err = read_line(comparison, (enum mcpx_parity_side)i, line,
                            (size_t)(line.text - logs[i].text), fault);
        if (err)
            return err;
    }
    *ended = !has[0] && !has[1];
    if (has[0] && has[1])
        compare_values(comparison, 0, 0);
    else if (!*ended)
        tell(comparison);
    return comparison->path.failed ? MCPX_ENOMEM : MCPX_OK;
}

enum mcpx_err mcpx_parity_compare(struct mcpx_slice golden, struct mcpx_slice other,
                                  struct mcpx_parity *parity, struct mcpx_fault *fault)
{
    const struct mcpx_slice logs[2] = {golden, other};
    struct comparison comparison = {.parity = parity, .left = {golden, other}};
    enum mcpx_err err = MCPX_OK;
    bool ended = false;

    parity->differences = 0;
    for (int i = 0; i < 2; i++)
        parity->lines[i] = count_lines(logs[i]);
    while (!err && !ended)
        err = compare_next(&comparison, logs, &ended, fault);
    for (int i = 0; i < 2; i++)
        mx_tree_fini(&comparison.trees[i]);
    mcpx_text_fini(&comparison.path);
    return err;
}
