/*
 * run.c - applies subschemas. The accepted types of a subschema are a mask; its checks are a flat
 * list: those for the value's type and those for all. For the verdict alone the first failing check
 * ends the list. Errors are listed in a second evaluation, only of invalid documents: most are
 * valid, and should not pay for composing paths.
 *
 * Cycles of references are not detected: they end at the bound of depth.
 */
#include "lib/schema/run.h"

#include "lib/json/escape.h"
#include "lib/json/number.h"
#include "lib/json/tree.h"

#include "lib/json/json_write.h"

void mx_findings_start(struct mx_findings *findings, const struct mx_tree *tree,
                       struct mcpx_slice base)
{
    findings->base = base;
    findings->tree = tree;
    findings->depth = 0;
    findings->count = 0;
}

struct mx_finding *mx_findings_next(struct mx_findings *findings)
{
    struct mx_finding *next = &findings->first[findings->count];

    mcpx_text_reset(&next->text);
    mcpx_text_slice(&next->text, findings->base);
    for (uint32_t i = 0; i < findings->depth; i++) {
        if (findings->trail[i].is_index)
            mx_format(&next->text, "/%s", findings->trail[i].step);
        else
            mx_tree_pointer_name(findings->tree, findings->trail[i].step, &next->text);
    }
    return next;
}

static int compare(const struct mx_finding *a, const struct mx_finding *b)
{
    struct mcpx_schema_error left = mx_finding_view(a), right = mx_finding_view(b);
    int order = mcpx_slice_compare(left.path, right.path);

    if (!order)
        order = mcpx_slice_compare(left.keyword, right.keyword);
    return order ? order : mcpx_slice_compare(left.message, right.message);
}

void mx_findings_keep(struct mx_findings *findings)
{
    struct mx_finding next = findings->first[findings->count];
    size_t at = findings->count;

    while (at > 0 && compare(&next, &findings->first[at - 1]) < 0)
        at--;
    if (at > 0 && compare(&next, &findings->first[at - 1]) == 0)
        return;
    for (size_t i = findings->count; i > at; i--)
        findings->first[i] = findings->first[i - 1];
    findings->first[at] = next;
    if (findings->count < MCPX_SCHEMA_ERRORS_MAX)
        findings->count++;
}

/* Bytes of a path, or words of marks, per step. */
enum { BYTES_PER_STEP = 64, WORDS_PER_STEP = 16 };

bool mx_run_stop(struct mx_run *run, uint32_t node)
{
    if (!run->stopped)
        run->stop_node = node;
    run->stopped = true;
    run->steps = -1;
    return false;
}

bool mx_run_starve(struct mx_run *run, uint32_t node)
{
    /* The evaluation's memory limit is a bound, a failing allocation is not. */
    run->no_memory = run->scratch->limit == 0 ||
                     run->scratch->limit - run->scratch->used > run->scratch->limit / 2;
    return mx_run_stop(run, node);
}

bool mx_run_fail_missing(struct mx_run *run, const struct mx_op *op, struct mcpx_slice name)
{
    struct mx_finding *next;

    if (!run->findings || run->stopped)
        return false;
    next = mx_findings_next(run->findings);
    if (name.text)
        mx_tree_pointer_add(&next->text, name);
    run->steps -= (int64_t)(next->text.len / BYTES_PER_STEP + 1);
    mx_finding_key(next, mcpx_slice_of(op->action->name));
    /* Saves composing unused messages; without one, an error sorts before others of its place. */
    if (run->findings->count == MCPX_SCHEMA_ERRORS_MAX && compare(next, next - 1) > 0)
        return false;
    if (op->action->tell)
        op->action->tell(op, &next->text);
    else
        mcpx_text_puts(&next->text, op->action->sentence);
    mx_findings_keep(run->findings);
    return false;
}

bool mx_run_fail(struct mx_run *run, const struct mx_op *op)
{
    return mx_run_fail_missing(run, op, (struct mcpx_slice){NULL, 0});
}

bool mx_run_fail_member(struct mx_run *run, const struct mx_op *op, uint32_t name)
{
    if (!run->findings)
        return false;
    run->findings->trail[run->findings->depth++] = (struct mx_trail_step){name, false};
    mx_run_fail(run, op);
    run->findings->depth--;
    return false;
}

const struct mx_type_name mx_type_names[] = {
    {1 << MCPX_JSON_STRING, "a ", "string"}, {1 << MCPX_JSON_NUMBER, "a ", "number"},
    {MX_TYPE_INTEGER, "an ", "integer"},     {1 << MCPX_JSON_OBJECT, "an ", "object"},
    {1 << MCPX_JSON_ARRAY, "an ", "array"},  {1 << MCPX_JSON_BOOL, "a ", "boolean"},
    {1 << MCPX_JSON_NULL, "", "null"},       {0, NULL, NULL},
};

static void tell_type(const struct mx_op *op, struct mcpx_text *out)
{
    const char *before = "must be ";

    for (const struct mx_type_name *type = mx_type_names; type->name; type++) {
        if (!(op->a & type->bit))
            continue;
        mx_format(out, "%s%s%s", before, type->article, type->name);
        before = " or ";
    }
}

static const struct mx_action type_action = {"type", NULL, tell_type, NULL};

/* Refuses a value of a type outside of the mask. */
static bool refuse_type(struct mx_run *run, const struct mx_unit *unit)
{
    struct mx_action never = {run->lead ? run->lead->name : "false", NULL, NULL,
                              "is not allowed"};
    struct mx_op op = {unit->types ? &type_action : &never, unit->types, 0, NULL};

    return mx_run_fail(run, &op);
}

static bool takes_type(const struct mx_run *run, const struct mx_unit *unit, uint32_t node)
{
    const struct mx_node *value = &run->tree->nodes[node];
    struct mx_number number;

    if (unit->types >> value->type & 1)
        return true;
    if (value->type != MCPX_JSON_NUMBER || !(unit->types & MX_TYPE_INTEGER))
        return false;
    return value->whole || (mx_number_read(mx_tree_bytes(run->tree, node), &number) &&
                            mx_number_is_integer(&number));
}

static bool run_ops(struct mx_run *run, const struct mx_unit *unit, enum mx_class class,
                    uint32_t node)
{
    const struct mx_op *first = &run->program->ops[unit->begin];
    uint32_t from = class == MX_CLASS_STRING ? 0 : unit->end[class - 1];
    bool fits = true;

    for (const struct mx_op *op = first + from; op < first + unit->end[class]; op++) {
        if (!mx_run_next(run, op->action->run(run, op, node), &fits))
            return false;
    }
    return fits;
}

static bool run_classes(struct mx_run *run, const struct mx_unit *unit, uint32_t node)
{
    unsigned class = run->tree->nodes[node].type - MCPX_JSON_STRING;
    bool fits = true;

    if (class <= MX_CLASS_ARRAY &&
        !mx_run_next(run, run_ops(run, unit, (enum mx_class) class, node), &fits))
        return false;
    if (!mx_run_next(run, run_ops(run, unit, MX_CLASS_ALL, node), &fits))
        return false;
    return run_ops(run, unit, MX_CLASS_LAST, node) && fits;
}

/* Makes room for a mark for each member or item of a value. */
static bool seen_ready(struct mx_run *run, struct mx_seen *seen, uint32_t node)
{
    const struct mx_node *value = &run->tree->nodes[node];

    seen->words = 0;
    if (value->type == MCPX_JSON_OBJECT || value->type == MCPX_JSON_ARRAY)
        seen->words = ((size_t)value->count + 63) / 64;
    seen->bits = mx_arena_take(run->scratch, seen->words * sizeof *seen->bits);
    if (!seen->bits)
        return mx_run_starve(run, node);
    return mx_run_spend(run, seen->words / WORDS_PER_STEP, node);
}

static void see_too(struct mx_seen *seen, const struct mx_seen *more)
{
    for (size_t i = 0; i < more->words; i++)
        seen->bits[i] |= more->bits[i];
}

/* Runs checks, some of them with the marks of others. */
static bool run_seeing(struct mx_run *run, const struct mx_unit *unit, uint32_t node)
{
    struct mx_arena_mark mark = mx_arena_mark(run->scratch);
    struct mx_seen *outer = run->seen, own;
    bool fits = seen_ready(run, &own, node);

    if (fits) {
        run->seen = &own;
        fits = run_classes(run, unit, node);
        run->seen = outer;
        if (outer && (fits || run->findings))
            see_too(outer, &own);
    }
    mx_arena_release(run->scratch, mark);
    return fits;
}

static bool is_skipped(const struct mx_run *run, uint32_t node)
{
    for (size_t i = 0; i < run->skip_count; i++) {
        if (run->skip[i] == node)
            return true;
    }
    return false;
}

/* Runs a unit's checks, one level deeper. */
static bool enter(struct mx_run *run, const struct mx_unit *unit, uint32_t node)
{
    uint32_t scope_count = run->scope_count;
    bool fits;

    if (run->depth == MX_RUN_DEPTH)
        return mx_run_stop(run, node);
    if (run->program->dynamic &&
        (scope_count == 0 || run->scope[scope_count - 1] != unit->resource))
        run->scope[run->scope_count++] = unit->resource;
    run->depth++;
    /* Its last checks need the marks of the others. */
    fits = unit->end[MX_CLASS_LAST] > unit->end[MX_CLASS_ALL] ? run_seeing(run, unit, node)
                                                              : run_classes(run, unit, node);
    run->depth--;
    run->scope_count = scope_count;
    return fits;
}

bool mx_run_apply(struct mx_run *run, uint32_t unit_index, uint32_t node)
{
    const struct mx_unit *unit = &run->program->units[unit_index];

    if (--run->steps < 0)
        return mx_run_stop(run, node);
    if (run->skip_count && is_skipped(run, node))
        return true;
    if (!takes_type(run, unit, node))
        return refuse_type(run, unit);
    return unit->end[MX_CLASS_LAST] == 0 || enter(run, unit, node);
}

bool mx_run_here(struct mx_run *run, const struct mx_action *action, uint32_t unit,
                 uint32_t node)
{
    const struct mx_action *lead = run->lead;
    bool fits;

    run->lead = action;
    fits = mx_run_apply(run, unit, node);
    run->lead = lead;
    return fits;
}

/* Applies a subschema without listing errors; `seen` is for its marks, or NULL. */
static bool apply_silently(struct mx_run *run, uint32_t unit, uint32_t node,
                           struct mx_seen *seen)
{
    struct mx_findings *findings = run->findings;
    struct mx_seen *outer = run->seen;
    bool fits;

    run->findings = NULL;
    run->seen = seen;
    fits = mx_run_apply(run, unit, node);
    run->seen = outer;
    run->findings = findings;
    return fits;
}

bool mx_run_quietly(struct mx_run *run, uint32_t unit, uint32_t node)
{
    return apply_silently(run, unit, node, NULL);
}

bool mx_run_try(struct mx_run *run, uint32_t unit, uint32_t node)
{
    struct mx_arena_mark mark = mx_arena_mark(run->scratch);
    struct mx_seen own;
    bool fits;

    if (!run->seen)
        return apply_silently(run, unit, node, NULL);
    fits = seen_ready(run, &own, node) && apply_silently(run, unit, node, &own);
    if (fits)
        see_too(run->seen, &own);
    mx_arena_release(run->scratch, mark);
    return fits;
}

/* Applies a subschema to a value within the current one. */
static bool go_down(struct mx_run *run, const struct mx_action *action, uint32_t unit,
                    uint32_t node, struct mx_trail_step step)
{
    struct mx_seen *seen = run->seen;
    bool fits;

    run->seen = NULL;
    if (run->findings)
        run->findings->trail[run->findings->depth++] = step;
    fits = mx_run_here(run, action, unit, node);
    if (run->findings)
        run->findings->depth--;
    run->seen = seen;
    return fits;
}

bool mx_run_member(struct mx_run *run, const struct mx_action *action, uint32_t unit,
                   uint32_t name)
{
    if (!run->findings && !run->seen)
        return mx_run_apply(run, unit, name + 1);
    return go_down(run, action, unit, name + 1, (struct mx_trail_step){name, false});
}

bool mx_run_item(struct mx_run *run, const struct mx_action *action, uint32_t unit,
                 uint32_t node, uint32_t index)
{
    if (!run->findings && !run->seen)
        return mx_run_apply(run, unit, node);
    return go_down(run, action, unit, node, (struct mx_trail_step){index, true});
}

bool mx_run_matches(struct mx_run *run, const struct mx_regex *regex, uint32_t node)
{
    struct mx_arena_mark mark = mx_arena_mark(run->scratch);
    struct mcpx_slice text = mx_tree_inside(run->tree, node);
    enum mx_match match = MX_MATCH_MEMORY;
    char *plain;

    if (run->stopped)
        return false;
    if (run->tree->nodes[node].escaped) {
        plain = mx_arena_take(run->scratch, text.len);
        if (!plain)
            return mx_run_starve(run, node);
        mx_unescape(text, plain, &text.len);
        text.text = plain;
    }
    if (!*run->matcher)
        *run->matcher = mx_regex_matcher_new();
    if (*run->matcher)
        match = mx_regex_match(regex, *run->matcher, text, &run->steps);
    mx_arena_release(run->scratch, mark);
    if (match == MX_MATCH_LIMIT || match == MX_MATCH_MEMORY)
        mx_run_stop(run, node);
    run->no_memory |= match == MX_MATCH_MEMORY;
    return match == MX_MATCH_YES;
}
