/*
 * keyword_array.c - what an array holds. uniqueItems sorts the hashes of the items and compares
 * those whose hashes are equal: a hundred thousand items that begin alike cost no more than others.
 */
#include "lib/json/tree.h"
#include "lib/schema/build.h"
#include "lib/schema/run.h"

#include "lib/json/json_write.h"

#include <stdlib.h>

enum { BYTES_PER_STEP = 64 };

/*
 * prefix   units of the first items, one each
 * rest     unit of those behind, or MX_UNIT_NONE
 */
struct items {
    uint32_t *prefix;
    uint32_t prefix_count;
    uint32_t rest;
    const struct mx_action *prefix_action;
    const struct mx_action *rest_action;
};

static bool run_items(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct items *items = (const struct items *)op->data;
    const struct mx_tree *tree = run->tree;
    uint32_t index = 0;
    bool fits = true;

    for (uint32_t at = node + 1; at < mx_tree_end(tree, node);
         at = mx_tree_next(tree, at), index++) {
        bool is_first = index < items->prefix_count;
        uint32_t unit = is_first ? items->prefix[index] : items->rest;

        if (unit == MX_UNIT_NONE)
            break;
        mx_run_see(run, index);
        if (mx_run_item(run, is_first ? items->prefix_action : items->rest_action, unit, at,
                        index))
            continue;
        if (!mx_run_goes_on(run))
            return false;
        fits = false;
    }
    return fits;
}

/* least, most: items that have to fit and may. */
struct contains {
    uint32_t unit;
    uint32_t least;
    uint32_t most;
    bool has_least;
    bool sees;
};

static void tell_least(const struct mx_program *program, const struct mx_op *op,
                       struct mcpx_text *out)
{
    uint32_t least = ((const struct contains *)op->data)->least;

    (void)program;
    mx_format(out, "must hold at least %s item%s of the kind that the schema asks for", least,
              least == 1 ? "" : "s");
}

static void tell_most(const struct mx_program *program, const struct mx_op *op,
                      struct mcpx_text *out)
{
    uint32_t most = ((const struct contains *)op->data)->most;

    (void)program;
    mx_format(out, "must hold at most %s item%s of the kind that the schema asks for", most,
              most == 1 ? "" : "s");
}

static const struct mx_action least_action = {"minContains", NULL, tell_least, NULL};
static const struct mx_action most_action = {"maxContains", NULL, tell_most, NULL};

static bool run_contains(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct contains *contains = (const struct contains *)op->data;
    const struct mx_tree *tree = run->tree;
    struct mx_op least = {contains->has_least ? &least_action : op->action, 0, 0, contains};
    struct mx_op most = {&most_action, 0, 0, contains};
    bool counts_all = contains->most != UINT32_MAX || (run->seen && contains->sees);
    uint32_t index = 0, found = 0;

    for (uint32_t at = node + 1; at < mx_tree_end(tree, node) && !run->stopped;
         at = mx_tree_next(tree, at), index++) {
        if (!counts_all && found >= contains->least)
            break;
        if (!mx_run_quietly(run, contains->unit, at))
            continue;
        found++;
        if (contains->sees)
            mx_run_see(run, index);
    }
    if (run->stopped)
        return false;
    if (found < contains->least)
        return mx_run_fail(run, &least);
    return found <= contains->most || mx_run_fail(run, &most);
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* True when one of the items from keys[0] on whose hash is the same equals it. */
static bool has_equal(struct mx_run *run, const uint64_t *keys, const uint64_t *end)
{
    for (const uint64_t *key = keys + 1; key < end && *key >> 32 == *keys >> 32; key++) {
        if (mx_tree_same(run->tree, (uint32_t)*keys, run->tree, (uint32_t)*key, &run->steps))
            return true;
        if (--run->steps < 0)
            return false;
    }
    return false;
}

static bool run_unique(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct mx_node *array = &run->tree->nodes[node];
    struct mx_arena_mark mark = mx_arena_mark(run->scratch);
    uint32_t count = 0;
    uint64_t *keys;
    bool is_unique = true;

    if (array->count < 2)
        return true;
    if (!mx_run_spend(
            run, (uint64_t)array->count + (array->end - array->begin) / BYTES_PER_STEP, node))
        return false;
    keys = (uint64_t *)mx_arena_take(run->scratch, array->count * sizeof *keys);
    if (!keys)
        return mx_run_starve(run, node);
    for (uint32_t at = node + 1; at < mx_tree_end(run->tree, node);
         at = mx_tree_next(run->tree, at))
        keys[count++] = (uint64_t)mx_tree_value_hash(run->tree, at) << 32 | at;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < count && is_unique && run->steps >= 0; i++)
        is_unique = !has_equal(run, keys + i, keys + count);
    mx_arena_release(run->scratch, mark);
    if (run->steps < 0)
        return mx_run_stop(run, node);
    return is_unique || mx_run_fail(run, op);
}

static const struct mx_action items_action = {"items", run_items, NULL, ""};
static const struct mx_action prefix_action = {"prefixItems", run_items, NULL, ""};
static const struct mx_action additional_action = {"additionalItems", run_items, NULL, ""};
static const struct mx_action contains_action = {"contains", run_contains, tell_least, NULL};
static const struct mx_action unique_action = {"uniqueItems", run_unique, NULL,
                                               "must not hold an item twice"};

static void add_items(struct mx_build *build)
{
    bool is_07 = build->manner.draft == MX_DRAFT_07;
    uint32_t rest = build->value[MX_KEY_ITEMS];
    uint32_t prefix = is_07 ? rest : build->value[MX_KEY_PREFIX_ITEMS];
    struct items *items;

    if (prefix && mx_tree_type(build->tree, prefix) != MCPX_JSON_ARRAY)
        prefix = 0;
    if (is_07 && prefix)
        rest = build->value[MX_KEY_ADDITIONAL_ITEMS];
    if (!prefix && !rest)
        return;
    items = (struct items *)mx_build_take(build, sizeof *items);
    if (!items)
        return;
    items->rest = rest ? mx_build_unit(build, rest) : MX_UNIT_NONE;
    if (prefix)
        items->prefix = mx_build_units(build, prefix, &items->prefix_count);
    items->prefix_action = is_07 ? &items_action : &prefix_action;
    items->rest_action = is_07 && prefix ? &additional_action : &items_action;
    mx_build_op(
        build, MX_CLASS_ARRAY,
        (struct mx_op){prefix ? items->prefix_action : items->rest_action, 0, 0, items});
}

static void add_contains(struct mx_build *build)
{
    struct contains *contains = (struct contains *)mx_build_take(build, sizeof *contains);

    if (!contains)
        return;
    contains->unit = mx_build_key_unit(build, MX_KEY_CONTAINS);
    contains->has_least = build->value[MX_KEY_MIN_CONTAINS] != 0;
    contains->least = mx_build_count(build, MX_KEY_MIN_CONTAINS, 1);
    contains->most = mx_build_count(build, MX_KEY_MAX_CONTAINS, UINT32_MAX);
    contains->sees = build->manner.draft != MX_DRAFT_07;
    mx_build_op(build, MX_CLASS_ARRAY, (struct mx_op){&contains_action, 0, 0, contains});
}

void mx_keywords_array(struct mx_build *build)
{
    uint32_t unique = build->value[MX_KEY_UNIQUE_ITEMS];

    add_items(build);
    if (build->value[MX_KEY_CONTAINS])
        add_contains(build);
    if (unique && build->tree->text.text[build->tree->nodes[unique].begin] == 't')
        mx_build_op(build, MX_CLASS_ARRAY, (struct mx_op){&unique_action, 0, 0, NULL});
}
