/*
 * keyword_logic.c - keywords with subschemas for the same value. Of allOf, anyOf, oneOf, not and
 * if, errors are listed only for a branch that must hold. `$ref` and `$dynamicRef` are resolved
 * when all subschemas are known; a dynamic one searches the entered resources, the outermost first.
 * dependentRequired, dependentSchemas, and dependencies of draft-07 are conditions on the presence
 * of a member. unevaluatedItems and unevaluatedProperties check the parts unseen by other
 * subschemas: they run last, and run.c keeps the marks.
 */
#include "lib/schema/build.h"

#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "lib/json/tree.h"
#include "lib/schema/run.h"

/* op->a branches; data is their units. */
static bool run_all(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const uint32_t *units = op->data;
    bool fits = true;

    for (uint32_t i = 0; i < op->a; i++) {
        if (!mx_run_next(run, mx_run_here(run, op->action, units[i], node), &fits))
            return false;
    }
    return fits;
}

static bool run_any(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const uint32_t *units = op->data;
    bool found = false;

    /* With marks of seen parts, every fitting branch counts. */
    for (uint32_t i = 0; i < op->a && !run->stopped && (!found || run->seen); i++)
        found = mx_run_try(run, units[i], node) || found;
    return (found && !run->stopped) || mx_run_fail(run, op);
}

static bool run_one(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const uint32_t *units = op->data;
    uint32_t found = 0;

    for (uint32_t i = 0; i < op->a && !run->stopped && found < 2; i++)
        found += mx_run_try(run, units[i], node);
    return (found == 1 && !run->stopped) || mx_run_fail(run, op);
}

static bool run_not(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    bool fits = mx_run_quietly(run, op->a, node);

    return (!fits && !run->stopped) || mx_run_fail(run, op);
}

static const struct mx_action then_action = {"then", NULL, NULL, ""};
static const struct mx_action else_action = {"else", NULL, NULL, ""};

/* op->a is the unit of `if`; data are those of `else` and `then`. */
static bool run_if(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    bool fits = mx_run_try(run, op->a, node);
    uint32_t unit = ((const uint32_t *)op->data)[fits];

    if (run->stopped)
        return false;
    return unit == MX_UNIT_NONE ||
           mx_run_here(run, fits ? &then_action : &else_action, unit, node);
}

static void tell_ways(const struct mx_op *op, struct mcpx_text *out)
{
    mx_format(out, "must be valid in %s one of %s way%s", op->action->sentence, op->a,
              op->a == 1 ? "" : "s");
}

static const struct {
    enum mx_keyword key;
    struct mx_action action;
} lists[] = {
    {MX_KEY_ALL_OF, {"allOf", run_all, NULL, ""}},
    {MX_KEY_ANY_OF, {"anyOf", run_any, tell_ways, "at least"}},
    {MX_KEY_ONE_OF, {"oneOf", run_one, tell_ways, "exactly"}},
};
static const struct mx_action not_action = {"not", run_not, NULL,
                                            "must not be what the schema excludes"};
static const struct mx_action if_action = {"if", run_if, NULL, ""};

static void add_condition(struct mx_build *build)
{
    uint32_t *units = mx_build_take(build, 2 * sizeof *units), condition;

    if (!units)
        return;
    condition = mx_build_key_unit(build, MX_KEY_IF);
    units[true] = mx_build_key_unit(build, MX_KEY_THEN);
    units[false] = mx_build_key_unit(build, MX_KEY_ELSE);
    mx_build_op(build, MX_CLASS_ALL, (struct mx_op){&if_action, condition, 0, units});
}

static void add_logic(struct mx_build *build)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        uint32_t node = build->value[lists[i].key], count;
        uint32_t *units;

        if (!node || mx_tree_type(build->tree, node) != MCPX_JSON_ARRAY)
            continue;
        units = mx_build_units(build, node, &count);
        mx_build_op(build, MX_CLASS_ALL, (struct mx_op){&lists[i].action, count, 0, units});
    }
    if (build->value[MX_KEY_NOT])
        mx_build_op(
            build, MX_CLASS_ALL,
            (struct mx_op){&not_action, mx_build_key_unit(build, MX_KEY_NOT), 0, NULL});
    if (build->value[MX_KEY_IF])
        add_condition(build);
}

/* The subschema of the name in a resource; MX_UNIT_NONE when it has none. */
static uint32_t choose(const struct mx_target *target, uint32_t resource)
{
    size_t low = 0, high = target->count, row;

    MX_SEARCH(low, high, row, target->choices[row].resource < resource);
    if (low < target->count && target->choices[low].resource == resource)
        return target->choices[low].unit;
    return MX_UNIT_NONE;
}

static bool run_ref(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct mx_target *target = op->data;
    uint32_t unit = MX_UNIT_NONE;

    for (uint32_t i = 0; target->count > 1 && unit == MX_UNIT_NONE && i < run->scope_count;
         i++)
        unit = choose(target, run->scope[i]);
    return mx_run_here(run, op->action, unit == MX_UNIT_NONE ? target->unit : unit, node);
}

static const struct mx_action ref_action = {"$ref", run_ref, NULL, ""};
static const struct mx_action dynamic_action = {"$dynamicRef", run_ref, NULL, ""};

static void add_reference(struct mx_build *build, enum mx_keyword key,
                          const struct mx_action *action, bool dynamic)
{
    uint32_t node = build->value[key];
    struct mx_target *target;

    if (!node || mx_tree_type(build->tree, node) != MCPX_JSON_STRING)
        return;
    target = mx_build_take(build, sizeof *target);
    if (!target)
        return;
    if (!mx_make_room(&build->pending, build->pending_count, &build->pending_room,
                      sizeof *build->pending)) {
        mx_library_starve(build->library);
        return;
    }
    build->pending[build->pending_count++] =
        (struct mx_pending){build->at, node, target, dynamic, 0};
    mx_build_op(build, MX_CLASS_ALL, (struct mx_op){action, 0, 0, target});
}

/* Skipped names per step. */
enum { NAMES_PER_STEP = 32 };

struct dependent {
    struct mcpx_slice name;
    uint32_t unit; /* subschema of the object; MX_UNIT_NONE: `names` are required */
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

/* op->a names; data are their dependents. */
static bool run_dependents(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct dependent *dependents = op->data;
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

static const struct {
    enum mx_keyword key;
    struct mx_action action;
} rows[] = {
    {MX_KEY_DEPENDENT_REQUIRED, {"dependentRequired", run_dependents, NULL, "is missing"}},
    {MX_KEY_DEPENDENT_SCHEMAS, {"dependentSchemas", run_dependents, NULL, "is missing"}},
    {MX_KEY_DEPENDENCIES, {"dependencies", run_dependents, NULL, "is missing"}},
};

static void add_names(struct mx_build *build, struct dependent *dependent, uint32_t array)
{
    const struct mx_tree *tree = build->tree;

    dependent->unit = MX_UNIT_NONE;
    dependent->names =
        mx_build_take(build, tree->nodes[array].count * sizeof *dependent->names);
    MX_EACH_WHILE(!build->library->err, at, tree, array, false) {
        if (mx_tree_type(tree, at) == MCPX_JSON_STRING)
            dependent->names[dependent->count++] = mx_build_text(build, at);
    }
}

static void add_dependents(struct mx_build *build)
{
    const struct mx_tree *tree = build->tree;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t object = build->value[rows[i].key], count = 0;
        struct dependent *dependents;

        if (!object || mx_tree_type(tree, object) != MCPX_JSON_OBJECT)
            continue;
        dependents = mx_build_take(build, tree->nodes[object].count * sizeof *dependents);
        MX_EACH_WHILE(!build->library->err, at, tree, object, true) {
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

/* op->a is the unit, op->b the type of the containers. */
static bool run_rest(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct mx_tree *tree = run->tree;
    bool is_object = op->b == MCPX_JSON_OBJECT, all_fit = true;
    uint32_t index = 0;

    if (tree->nodes[node].type != op->b)
        return true;
    for (uint32_t at = node + 1; at < mx_tree_next(tree, node);
         at = mx_tree_next(tree, is_object ? at + 1 : at), index++) {
        bool fits = (run->seen->bits[index / 64] >> index % 64 & 1) ||
                    (is_object ? mx_run_member(run, op->action, op->a, at)
                               : mx_run_item(run, op->action, op->a, at, index));

        if (!mx_run_next(run, fits, &all_fit))
            return false;
    }
    mx_run_see_all(run);
    return all_fit;
}

static const struct mx_action items_action = {"unevaluatedItems", run_rest, NULL, ""};
static const struct mx_action properties_action = {"unevaluatedProperties", run_rest, NULL,
                                                   ""};

static void add_unevaluated(struct mx_build *build)
{
    uint32_t items = mx_build_key_unit(build, MX_KEY_UNEVALUATED_ITEMS);
    uint32_t properties = mx_build_key_unit(build, MX_KEY_UNEVALUATED_PROPERTIES);

    if (items != MX_UNIT_NONE)
        mx_build_op(build, MX_CLASS_LAST,
                    (struct mx_op){&items_action, items, MCPX_JSON_ARRAY, NULL});
    if (properties != MX_UNIT_NONE)
        mx_build_op(build, MX_CLASS_LAST,
                    (struct mx_op){&properties_action, properties, MCPX_JSON_OBJECT, NULL});
}

void mx_keywords_logic(struct mx_build *build)
{
    add_dependents(build);
    add_reference(build, MX_KEY_REF, &ref_action, false);
    add_reference(build, MX_KEY_DYNAMIC_REF, &dynamic_action, true);
    add_logic(build);
    add_unevaluated(build);
}
