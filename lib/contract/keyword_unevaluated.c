/*
 * keyword_unevaluated.c - unevaluatedItems and unevaluatedProperties: what no other subschema of
 * the value has looked at. Their checks come last; the marks are the run's.
 */
#include "lib/contract/keywords.h"
#include "lib/contract/run.h"

static bool is_seen(const struct mx_run *run, uint32_t index)
{
    return run->seen->bits[index / 64] >> index % 64 & 1;
}

/* op->a is the unit, op->b the type of the values whose items or members are meant. */
static bool run_rest(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct mx_tree *tree = run->tree;
    bool is_object = op->b == MCPX_JSON_OBJECT, all_fit = true;
    uint32_t index = 0;

    if (tree->nodes[node].type != op->b)
        return true;
    for (uint32_t at = node + 1; at < mx_tree_end(tree, node);
         at = mx_tree_next(tree, is_object ? at + 1 : at), index++) {
        bool fits = is_seen(run, index) ||
                    (is_object ? mx_run_member(run, op->action, op->a, at)
                               : mx_run_item(run, op->action, op->a, at, index));

        if (!fits && !mx_run_goes_on(run))
            return false;
        all_fit = all_fit && fits;
    }
    mx_run_see_all(run);
    return all_fit;
}

static const struct mx_action items_action = {"unevaluatedItems", run_rest, mx_tell_nothing};
static const struct mx_action properties_action = {"unevaluatedProperties", run_rest,
                                                   mx_tell_nothing};

void mx_keywords_unevaluated(struct mx_build *build)
{
    uint32_t items = mx_build_key_unit(build, MX_KEY_UNEVALUATED_ITEMS);
    uint32_t properties = mx_build_key_unit(build, MX_KEY_UNEVALUATED_PROPERTIES);

    if (items != MX_UNIT_NONE)
        mx_build_op(build, MX_CLASS_LAST,
                    (struct mx_op){&items_action, items, MCPX_JSON_ARRAY, NULL});
    if (properties != MX_UNIT_NONE)
        mx_build_op(build, MX_CLASS_LAST,
                    (struct mx_op){&properties_action, properties, MCPX_JSON_OBJECT, NULL});
    build->unit.unevaluated = items != MX_UNIT_NONE || properties != MX_UNIT_NONE;
}
