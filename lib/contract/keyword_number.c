/*
 * keyword_number.c - bounds of numbers and multipleOf, on the decimals that are written.
 */
#include "lib/contract/keywords.h"
#include "lib/contract/number.h"
#include "lib/contract/run.h"

#include "lib/core/format.h"

/* Digits that a step is worth, and of mx_number_is_multiple's work. */
enum { DIGITS_PER_STEP = 64, WORK_PER_STEP = 100 };

/* A number of the schema, and how it is written there. */
struct limit {
    struct mx_number number;
    struct mcpx_slice text;
};

/* Orders that a bound allows, as bits of op->a: the value is below it, equal, above. */
enum { BELOW = 1, EQUAL = 2, ABOVE = 4 };

static bool read_value(struct mx_run *run, uint32_t node, struct mx_number *number)
{
    struct mcpx_slice text = mx_tree_bytes(run->tree, node);

    return mx_run_spend(run, text.len / DIGITS_PER_STEP, node) && mx_number_read(text, number);
}

static bool run_bound(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct limit *limit = (const struct limit *)op->data;
    struct mx_number number;
    int order;

    if (!read_value(run, node, &number))
        return false;
    order = mx_number_compare(&number, &limit->number);
    if (op->a & (order < 0 ? BELOW : order > 0 ? ABOVE : EQUAL))
        return true;
    return mx_run_fail(run, op);
}

static bool run_multiple(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct limit *limit = (const struct limit *)op->data;
    struct mx_number number;
    enum mx_multiple multiple;
    uint64_t work, left;

    if (!read_value(run, node, &number))
        return false;
    work = left = (uint64_t)run->steps * WORK_PER_STEP;
    multiple = mx_number_is_multiple(&number, &limit->number, &left);
    if (multiple == MX_MULTIPLE_UNKNOWN)
        return mx_run_stop(run, node);
    if (!mx_run_spend(run, (work - left) / WORK_PER_STEP, node))
        return false;
    return multiple == MX_MULTIPLE_YES || mx_run_fail(run, op);
}

static void tell_limit(const char *words, const struct mx_op *op, struct mcpx_text *out)
{
    mx_format(out, "must be %s%s", words, ((const struct limit *)op->data)->text);
}

static void tell_minimum(const struct mx_program *program, const struct mx_op *op,
                         struct mcpx_text *out)
{
    (void)program;
    tell_limit("at least ", op, out);
}

static void tell_maximum(const struct mx_program *program, const struct mx_op *op,
                         struct mcpx_text *out)
{
    (void)program;
    tell_limit("at most ", op, out);
}

static void tell_above(const struct mx_program *program, const struct mx_op *op,
                       struct mcpx_text *out)
{
    (void)program;
    tell_limit("more than ", op, out);
}

static void tell_below(const struct mx_program *program, const struct mx_op *op,
                       struct mcpx_text *out)
{
    (void)program;
    tell_limit("less than ", op, out);
}

static void tell_multiple(const struct mx_program *program, const struct mx_op *op,
                          struct mcpx_text *out)
{
    (void)program;
    tell_limit("a multiple of ", op, out);
}

static const struct {
    enum mx_keyword key;
    uint32_t orders;
    struct mx_action action;
} bounds[] = {
    {MX_KEY_MINIMUM, EQUAL | ABOVE, {"minimum", run_bound, tell_minimum}},
    {MX_KEY_MAXIMUM, BELOW | EQUAL, {"maximum", run_bound, tell_maximum}},
    {MX_KEY_EXCLUSIVE_MINIMUM, ABOVE, {"exclusiveMinimum", run_bound, tell_above}},
    {MX_KEY_EXCLUSIVE_MAXIMUM, BELOW, {"exclusiveMaximum", run_bound, tell_below}},
    {MX_KEY_MULTIPLE_OF, 0, {"multipleOf", run_multiple, tell_multiple}},
};

void mx_keywords_number(struct mx_build *build)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        uint32_t node = build->value[bounds[i].key];
        struct limit *limit;

        if (!node || mx_tree_type(build->tree, node) != MCPX_JSON_NUMBER)
            continue;
        limit = (struct limit *)mx_build_take(build, sizeof *limit);
        if (!limit)
            return;
        limit->text = mx_arena_copy(&build->program->arena, mx_tree_bytes(build->tree, node));
        if (!limit->text.text) {
            mx_build_starve(build);
            return;
        }
        mx_number_read(limit->text, &limit->number);
        mx_build_op(build, MX_CLASS_NUMBER,
                    (struct mx_op){&bounds[i].action, bounds[i].orders, 0, limit});
    }
}
