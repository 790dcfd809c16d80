/*
 * keyword_logic.c - allOf, anyOf, oneOf, not, if. What branches find is not listed, except where a
 * branch has to hold: there the fault is in the value, not in the choice.
 */
#include "lib/contract/keywords.h"
#include "lib/contract/run.h"

#include "lib/core/format.h"

/* op->a branches; data is their units. */
static bool run_all(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const uint32_t *units = (const uint32_t *)op->data;
    bool fits = true;

    for (uint32_t i = 0; i < op->a; i++) {
        if (mx_run_here(run, op->action, units[i], node))
            continue;
        if (!mx_run_goes_on(run))
            return false;
        fits = false;
    }
    return fits;
}

static bool run_any(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const uint32_t *units = (const uint32_t *)op->data;
    bool found = false;

    /* Where it is asked what was looked at, every branch that fits has a say. */
    for (uint32_t i = 0; i < op->a && !run->stopped && (!found || run->seen); i++)
        found = mx_run_try(run, units[i], node) || found;
    if (run->stopped)
        return false;
    return found || mx_run_fail(run, op);
}

static bool run_one(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const uint32_t *units = (const uint32_t *)op->data;
    uint32_t found = 0;

    for (uint32_t i = 0; i < op->a && !run->stopped && found < 2; i++)
        found += mx_run_try(run, units[i], node);
    if (run->stopped)
        return false;
    return found == 1 || mx_run_fail(run, op);
}

static bool run_not(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    bool fits = mx_run_quietly(run, op->a, node);

    if (run->stopped)
        return false;
    return !fits || mx_run_fail(run, op);
}

struct condition {
    uint32_t if_unit;
    uint32_t then_unit;
    uint32_t else_unit;
};

static const struct mx_action then_action = {"then", NULL, mx_tell_nothing};
static const struct mx_action else_action = {"else", NULL, mx_tell_nothing};

static bool run_if(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct condition *condition = (const struct condition *)op->data;
    bool fits = mx_run_try(run, condition->if_unit, node);
    uint32_t unit = fits ? condition->then_unit : condition->else_unit;

    if (run->stopped)
        return false;
    return unit == MX_UNIT_NONE ||
           mx_run_here(run, fits ? &then_action : &else_action, unit, node);
}

static void tell_any(const struct mx_program *program, const struct mx_op *op,
                     struct mcpx_text *out)
{
    (void)program;
    mx_format(out, "must be valid in at least one of %s way%s", op->a, op->a == 1 ? "" : "s");
}

static void tell_one(const struct mx_program *program, const struct mx_op *op,
                     struct mcpx_text *out)
{
    (void)program;
    mx_format(out, "must be valid in exactly one of %s way%s", op->a, op->a == 1 ? "" : "s");
}

static void tell_not(const struct mx_program *program, const struct mx_op *op,
                     struct mcpx_text *out)
{
    (void)program;
    (void)op;
    mcpx_text_puts(out, "must not be what the schema excludes");
}

static const struct {
    enum mx_keyword key;
    struct mx_action action;
} lists[] = {
    {MX_KEY_ALL_OF, {"allOf", run_all, mx_tell_nothing}},
    {MX_KEY_ANY_OF, {"anyOf", run_any, tell_any}},
    {MX_KEY_ONE_OF, {"oneOf", run_one, tell_one}},
};
static const struct mx_action not_action = {"not", run_not, tell_not};
static const struct mx_action if_action = {"if", run_if, mx_tell_nothing};

static void add_condition(struct mx_build *build)
{
    struct condition *condition = (struct condition *)mx_build_take(build, sizeof *condition);

    if (!condition)
        return;
    condition->if_unit = mx_build_key_unit(build, MX_KEY_IF);
    condition->then_unit = mx_build_key_unit(build, MX_KEY_THEN);
    condition->else_unit = mx_build_key_unit(build, MX_KEY_ELSE);
    mx_build_op(build, MX_CLASS_ALL, (struct mx_op){&if_action, 0, 0, condition});
}

void mx_keywords_logic(struct mx_build *build)
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
