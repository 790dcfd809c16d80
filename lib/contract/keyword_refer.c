/*
 * keyword_refer.c - $ref and $dynamicRef. Where they lead is found when all subschemas are known; a
 * dynamic one asks the resources that were entered on the way, the outermost first.
 */
#include "lib/contract/keywords.h"
#include "lib/contract/run.h"

static bool run_ref(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct mx_target *target = (const struct mx_target *)op->data;

    return mx_run_here(run, op->action, target->unit, node);
}

/* The subschema that a resource has under the name; MX_UNIT_NONE when it has none. */
static uint32_t choose(const struct mx_target *target, uint32_t resource)
{
    uint32_t low = 0, high = target->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (target->choices[middle].resource < resource)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < target->count && target->choices[low].resource == resource)
        return target->choices[low].unit;
    return MX_UNIT_NONE;
}

static bool run_dynamic(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct mx_target *target = (const struct mx_target *)op->data;
    uint32_t unit = MX_UNIT_NONE;

    for (uint32_t i = 0; target->dynamic && unit == MX_UNIT_NONE && i < run->scope_count; i++)
        unit = choose(target, run->scope[i]);
    return mx_run_here(run, op->action, unit == MX_UNIT_NONE ? target->unit : unit, node);
}

static const struct mx_action ref_action = {"$ref", run_ref, mx_tell_nothing};
static const struct mx_action dynamic_action = {"$dynamicRef", run_dynamic, mx_tell_nothing};

static void add_reference(struct mx_build *build, enum mx_keyword key,
                          const struct mx_action *action, bool dynamic)
{
    uint32_t node = build->value[key];
    struct mx_target *target;

    if (!node || mx_tree_type(build->tree, node) != MCPX_JSON_STRING)
        return;
    target = (struct mx_target *)mx_build_take(build, sizeof *target);
    if (!target)
        return;
    target->dynamic = dynamic;
    mx_build_reference(build, node, target);
    mx_build_op(build, MX_CLASS_ALL, (struct mx_op){action, 0, 0, target});
}

void mx_keywords_refer(struct mx_build *build)
{
    add_reference(build, MX_KEY_REF, &ref_action, false);
    add_reference(build, MX_KEY_DYNAMIC_REF, &dynamic_action, true);
}
