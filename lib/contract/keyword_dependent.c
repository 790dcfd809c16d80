/*
 * keyword_dependent.c - dependentRequired, dependentSchemas, and draft-07's dependencies, which is
 * both: what else has to be there, or hold, when a member is there.
 */
#include "lib/contract/keywords.h"
#include "lib/contract/run.h"
#include "lib/contract/tree_find.h"

/* Names passed over that a step is worth. */
enum { NAMES_PER_STEP = 32 };

/*
 * unit    what the object has to be; MX_UNIT_NONE: names have to be there
 */
struct dependent {
    struct mcpx_slice name;
    uint32_t unit;
    uint32_t count;
    struct mcpx_slice *names;
};

static bool has_member(struct mx_run *run, uint32_t node, struct mcpx_slice name)
{
    return mx_run_spend(run, (uint64_t)run->tree->nodes[node].count / NAMES_PER_STEP, node) &&
           mx_tree_member(run->tree, node, name) != 0;
}

static bool has_names(struct mx_run *run, const struct mx_op *op, uint32_t node,
                      const struct dependent *dependent)
{
    bool fits = true;

    for (uint32_t i = 0; i < dependent->count && (fits || mx_run_goes_on(run)); i++) {
        if (!has_member(run, node, dependent->names[i]))
            fits = mx_run_fail_missing(run, op, dependent->names[i]);
    }
    return fits;
}

/* op->a names; data is what depends on them. */
static bool run_dependents(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct dependent *dependents = (const struct dependent *)op->data;
    bool fits = true;

    for (uint32_t i = 0; i < op->a && (fits || mx_run_goes_on(run)); i++) {
        const struct dependent *dependent = &dependents[i];

        if (!has_member(run, node, dependent->name))
            continue;
        if (dependent->unit == MX_UNIT_NONE)
            fits = has_names(run, op, node, dependent) && fits;
        else
            fits = mx_run_here(run, op->action, dependent->unit, node) && fits;
    }
    return fits && !run->stopped;
}

static void tell_missing(const struct mx_program *program, const struct mx_op *op,
                         struct mcpx_text *out)
{
    (void)program;
    (void)op;
    mcpx_text_puts(out, "is missing");
}

static const struct {
    enum mx_keyword key;
    struct mx_action action;
} rows[] = {
    {MX_KEY_DEPENDENT_REQUIRED, {"dependentRequired", run_dependents, tell_missing}},
    {MX_KEY_DEPENDENT_SCHEMAS, {"dependentSchemas", run_dependents, tell_missing}},
    {MX_KEY_DEPENDENCIES, {"dependencies", run_dependents, tell_missing}},
};

static void add_names(struct mx_build *build, struct dependent *dependent, uint32_t array)
{
    const struct mx_tree *tree = build->tree;

    dependent->unit = MX_UNIT_NONE;
    dependent->names = (struct mcpx_slice *)mx_build_take(build, tree->nodes[array].count *
                                                                     sizeof *dependent->names);
    for (uint32_t at = array + 1; at < mx_tree_end(tree, array) && !build->err;
         at = mx_tree_next(tree, at)) {
        if (mx_tree_type(tree, at) == MCPX_JSON_STRING)
            dependent->names[dependent->count++] = mx_build_text(build, at);
    }
}

void mx_keywords_dependent(struct mx_build *build)
{
    const struct mx_tree *tree = build->tree;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t object = build->value[rows[i].key], count = 0;
        struct dependent *dependents;

        if (!object || mx_tree_type(tree, object) != MCPX_JSON_OBJECT)
            continue;
        dependents = (struct dependent *)mx_build_take(build, tree->nodes[object].count *
                                                                  sizeof *dependents);
        for (uint32_t at = object + 1; at < mx_tree_end(tree, object) && !build->err;
             at = mx_tree_next(tree, at + 1)) {
            struct dependent *dependent = &dependents[count++];

            dependent->name = mx_build_text(build, at);
            if (mx_tree_type(tree, at + 1) == MCPX_JSON_ARRAY)
                add_names(build, dependent, at + 1);
            else
                dependent->unit = mx_build_unit(build, at + 1);
        }
        mx_build_op(build, MX_CLASS_OBJECT,
                    (struct mx_op){&rows[i].action, count, 0, dependents});
    }
}
