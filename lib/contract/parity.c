/*
 * parity.c - compares two logs line by line, and reports every different member, for the comparison
 * of two transports. An unreadable line is an error, not a difference.
 *
 * The names of one object are sorted, and those of the other looked up. Rejected: a table of
 * hashes, because their author can choose names with equal hashes.
 */
#include "lib/json/digest.h"
#include "lib/json/tree.h"

#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include <mcpx/record.h>

#include <stdlib.h>

/* By enum mcpx_parity_side. `path`: of the compared values. */
struct mx_parity_state {
    struct mx_tree trees[2];
    struct mcpx_text path;
};

static void compare_values(struct mcpx_parity *parity, uint32_t golden, uint32_t other);

static void tell(struct mcpx_parity *parity)
{
    const struct mcpx_text *path = &parity->state->path;
    const size_t *lines = parity->lines;
    size_t line = lines[0] > lines[1] ? lines[0] : lines[1];

    parity->differences++;
    if (parity->differ && !path->failed)
        parity->differ(parity->context, line,
                       path->len ? mcpx_text_view(path) : MCPX_SLICE(""));
}

/* True for members of a line that differ between runs or transports anyway. */
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

/* Compares a member of one side with its value `other` on the other side; 0: missing. */
static void compare_member(struct mcpx_parity *parity, enum mcpx_parity_side side,
                           uint32_t name, uint32_t other)
{
    size_t len = parity->state->path.len;

    mx_tree_pointer_name(&parity->state->trees[side], name, &parity->state->path);
    if (other)
        compare_values(parity, name + 1, other);
    else
        tell(parity);
    mx_take_back(&parity->state->path, len);
}

/* Finds a member of the new log's object by a name, a node of the other log's tree. */
static struct mx_named *find(struct mx_named *list, size_t count, const struct mx_tree *tree,
                             uint32_t name)
{
    struct mx_named key = {.inside = mx_tree_inside(tree, name)};

    return bsearch(&key, list, count, sizeof *list, mx_named_compare);
}

/* Members found in both get node 0 in the list, never that of a name. */
static void compare_objects(struct mcpx_parity *parity, uint32_t golden, uint32_t other)
{
    const struct mx_tree *a = &parity->state->trees[MCPX_PARITY_GOLDEN];
    const struct mx_tree *b = &parity->state->trees[MCPX_PARITY_NEW];
    size_t count = b->nodes[other].count;
    struct mx_named *list = mx_tree_sorted(b, other), *found;

    parity->state->path.failed |= list == NULL;
    MX_EACH_WHILE(list, at, a, golden, true) {
        found = find(list, count, a, at);
        if (!is_left_out(a, golden, at))
            compare_member(parity, MCPX_PARITY_GOLDEN, at, found ? found->node + 1 : 0);
        if (found)
            found->node = 0;
    }
    MX_EACH_WHILE(list, at, b, other, true) {
        if (find(list, count, b, at)->node && !is_left_out(b, other, at))
            compare_member(parity, MCPX_PARITY_NEW, at, 0);
    }
    free(list);
}

static void compare_items(struct mcpx_parity *parity, uint32_t golden, uint32_t other)
{
    const struct mx_tree *trees = parity->state->trees;
    size_t len = parity->state->path.len;
    uint32_t end = mx_tree_next(&trees[MCPX_PARITY_GOLDEN], golden);
    uint32_t a = golden + 1, b = other + 1;

    for (unsigned i = 0; a < end; i++) {
        mx_format(&parity->state->path, "/%s", i);
        compare_values(parity, a, b);
        mx_take_back(&parity->state->path, len);
        a = mx_tree_next(&trees[MCPX_PARITY_GOLDEN], a);
        b = mx_tree_next(&trees[MCPX_PARITY_NEW], b);
    }
}

/* Recurses into containers; mx_tree_read bounds the depth. */
static void compare_values(struct mcpx_parity *parity, uint32_t golden, uint32_t other)
{
    const struct mx_tree *a = &parity->state->trees[MCPX_PARITY_GOLDEN];
    const struct mx_tree *b = &parity->state->trees[MCPX_PARITY_NEW];
    enum mcpx_json_type type = mx_tree_type(a, golden);
    int64_t steps = INT64_MAX;

    if (type == mx_tree_type(b, other) && type == MCPX_JSON_OBJECT)
        compare_objects(parity, golden, other);
    else if (type == mx_tree_type(b, other) && type == MCPX_JSON_ARRAY &&
             a->nodes[golden].count == b->nodes[other].count)
        compare_items(parity, golden, other);
    else if (!mx_tree_same(a, golden, b, other, &steps))
        tell(parity);
}

static enum mcpx_err read_line(struct mcpx_parity *parity, enum mcpx_parity_side side,
                               struct mcpx_slice line, struct mcpx_fault *fault)
{
    enum mcpx_err err = mx_canonical_read(&parity->state->trees[side], line, fault);

    parity->lines[side]++;
    if (err)
        parity->side = side;
    return err;
}

enum mcpx_err mcpx_parity_next(struct mcpx_parity *parity, const struct mcpx_slice lines[2],
                               struct mcpx_fault *fault)
{
    enum mcpx_err err = MCPX_OK;

    if (!parity->state)
        parity->state = calloc(1, sizeof *parity->state);
    if (!parity->state)
        return MCPX_ENOMEM;
    for (int i = 0; i < 2 && !err; i++) {
        if (lines[i].text)
            err = read_line(parity, (enum mcpx_parity_side)i, lines[i], fault);
    }
    if (err)
        return err;
    if (lines[0].text && lines[1].text)
        compare_values(parity, 0, 0);
    else if (lines[0].text || lines[1].text)
        tell(parity);
    return parity->state->path.failed ? MCPX_ENOMEM : MCPX_OK;
}

void mcpx_parity_fini(struct mcpx_parity *parity)
{
    struct mx_parity_state *state = parity->state;

    if (!state)
        return;
    for (int i = 0; i < 2; i++)
        mx_tree_fini(&state->trees[i]);
    mcpx_text_fini(&state->path);
    free(state);
    parity->state = NULL;
}
