/*
 * keyword_value.c - checks of a value by itself. Types are not checks, but masks of subschemas. Few
 * values of an `enum` are compared one by one, many are found by hash. Lengths count code points: n
 * bytes are at most n and at least a quarter, so few are counted. Bounds are decimals.
 */
#include "lib/schema/build.h"

#include "lib/base/rows.h"
#include "lib/json/escape.h"
#include "lib/json/json_write.h"
#include "lib/json/number.h"
#include "lib/json/tree.h"
#include "lib/schema/run.h"

#include <stdlib.h>
#include <string.h>

/* Number of values to be compared one by one; bytes of a value per step. */
enum { FEW = 8, BYTES_PER_STEP = 64 };

/* Bytes of a message before values are left out; of a number in it. */
enum { MESSAGE_MAX = 300, NUMBER_MAX = 40 };

/* `node` is among the program's constants. */
struct value {
    uint32_t hash;
    uint32_t node;
};

struct choice {
    const struct mx_compiled_schema *program; /* owner of the constants */
    struct value *values;                     /* ascending by hash; `count` of them */
    uint32_t count;
    uint32_t first; /* node of the first one, for the message */
};

static bool run_choice(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct choice *choice = op->data;
    const struct mx_node *value = &run->tree->nodes[node];
    size_t low = 0, high = choice->count, row;
    bool by_hash = high > FEW;
    uint32_t hash = 0;

    if (by_hash) {
        if (!mx_run_spend(run, (value->end - value->begin) / BYTES_PER_STEP, node))
            return false;
        hash = mx_tree_value_hash(run->tree, node);
        MX_SEARCH(low, high, row, choice->values[row].hash < hash);
    }
    for (; low < choice->count && (!by_hash || choice->values[low].hash == hash); low++) {
        if (mx_tree_same(run->tree, node, &run->program->constants, choice->values[low].node,
                         &run->steps))
            return true;
        if (!mx_run_spend(run, by_hash, node))
            return false;
    }
    return mx_run_fail(run, op);
}

static void tell_choice(const struct mx_op *op, struct mcpx_text *out)
{
    const struct choice *choice = op->data;
    const struct mx_tree *constants = &choice->program->constants;
    uint32_t node = choice->first;
    size_t begin = out->len;

    if (choice->count == 0) {
        mcpx_text_puts(out, "must not be here: `enum` is empty");
        return;
    }
    mcpx_text_puts(out, choice->count == 1 ? "must be " : "must be one of ");
    for (uint32_t i = 0; i < choice->count; i++, node = mx_tree_next(constants, node)) {
        struct mcpx_slice value = mx_tree_bytes(constants, node);

        if (i > 0)
            mcpx_text_puts(out, ", ");
        if (out->len - begin + value.len > MESSAGE_MAX) {
            mcpx_text_puts(out, "\xe2\x80\xa6");
            return;
        }
        mcpx_text_slice(out, value);
    }
}

static const struct mx_action enum_action = {"enum", run_choice, tell_choice, NULL};
static const struct mx_action const_action = {"const", run_choice, tell_choice, NULL};

static void add_value(struct mx_build *build, struct choice *choice, uint32_t node)
{
    mx_format(&build->constants, build->constants.len > 0 ? ",%s" : "[%s",
              mx_tree_bytes(build->tree, node));
    choice->values[choice->count++] =
        (struct value){mx_tree_value_hash(build->tree, node), 1 + build->constant_nodes};
    build->constant_nodes += mx_tree_next(build->tree, node) - node;
}

/* `list` is an array of values or, for `const`, 0. */
static void add_choice(struct mx_build *build, const struct mx_action *action, uint32_t list,
                       uint32_t value)
{
    const struct mx_tree *tree = build->tree;
    uint32_t count = list ? tree->nodes[list].count : 1;
    struct choice *choice = mx_build_take(build, sizeof *choice);

    if (!choice)
        return;
    choice->program = build->program;
    choice->first = 1 + build->constant_nodes;
    choice->values = mx_build_take(build, count * sizeof *choice->values);
    if (!choice->values)
        return;
    if (!list)
        add_value(build, choice, value);
    MX_EACH_WHILE(list, at, tree, list, false)
        add_value(build, choice, at);
    qsort(choice->values, choice->count, sizeof *choice->values, mx_compare_rows);
    mx_build_op(build, MX_CLASS_ALL, (struct mx_op){action, 0, 0, choice});
}

static uint8_t type_bit(const struct mx_tree *tree, uint32_t node)
{
    if (mx_tree_type(tree, node) != MCPX_JSON_STRING)
        return 0;
    for (const struct mx_type_name *type = mx_type_names; type->name; type++) {
        if (mx_tree_is(tree, node, mcpx_slice_of(type->name)))
            return type->bit;
    }
    return 0;
}

static void add_types(struct mx_build *build)
{
    const struct mx_tree *tree = build->tree;
    uint32_t type = build->value[MX_KEY_TYPE], list = build->value[MX_KEY_ENUM];

    if (type) {
        build->unit.types = type_bit(tree, type);
        MX_EACH_WHILE(mx_tree_type(tree, type) == MCPX_JSON_ARRAY, at, tree, type, false)
            build->unit.types |= type_bit(tree, at);
        if (build->unit.types & 1 << MCPX_JSON_NUMBER)
            build->unit.types &= (uint8_t)~MX_TYPE_INTEGER;
    }
    if (list && mx_tree_type(tree, list) == MCPX_JSON_ARRAY)
        add_choice(build, &enum_action, list, 0);
    if (build->value[MX_KEY_CONST])
        add_choice(build, &const_action, 0, build->value[MX_KEY_CONST]);
}

static uint32_t count_points(const struct mx_tree *tree, uint32_t node)
{
    struct mcpx_slice raw = mx_tree_inside(tree, node);
    struct mx_escape escape;
    uint32_t count = 0;

    for (size_t i = 0; i < raw.len; i++) {
        if (raw.text[i] == '\\') {
            mx_escape_decode(raw, i, &escape);
            i += escape.raw_len - 1;
            count++;
        } else {
            count += (raw.text[i] & 0xc0) != 0x80;
        }
    }
    return count;
}

/* op->a is the least length, op->b the greatest. */
static bool length_fits(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct mx_node *value = &run->tree->nodes[node];
    uint32_t bytes = value->end - value->begin - 2, count;

    if (!value->escaped && bytes <= op->b && (bytes + 3) / 4 >= op->a)
        return true;
    if (!mx_run_spend(run, bytes / BYTES_PER_STEP, node))
        return false;
    count = count_points(run->tree, node);
    return (count >= op->a && count <= op->b) || mx_run_fail(run, op);
}

static bool count_fits(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    uint32_t count = run->tree->nodes[node].count;

    return (count >= op->a && count <= op->b) || mx_run_fail(run, op);
}

/* The action's sentence is the noun; data is a number too large for op->a or b. */
static void tell_count(const struct mx_op *op, struct mcpx_text *out)
{
    bool is_most = op->b != UINT32_MAX;
    uint32_t count = is_most ? op->b : op->a;

    mx_format(out, "must have at %s ", is_most ? "most" : "least");
    if (op->data)
        mcpx_text_puts(out, op->data);
    else
        mx_format(out, "%s", count);
    mx_format(out, " %s%s", op->action->sentence, count == 1 ? "" : "s");
}

/* Counts in a value: the least, then the most. */
static const struct {
    enum mx_keyword key;
    enum mx_class class;
    struct mx_action action;
} counts[] = {
    {MX_KEY_MIN_LENGTH, MX_CLASS_STRING, {"minLength", length_fits, tell_count, "character"}},
    {MX_KEY_MAX_LENGTH, MX_CLASS_STRING, {"maxLength", length_fits, tell_count, "character"}},
    {MX_KEY_MIN_ITEMS, MX_CLASS_ARRAY, {"minItems", count_fits, tell_count, "item"}},
    {MX_KEY_MAX_ITEMS, MX_CLASS_ARRAY, {"maxItems", count_fits, tell_count, "item"}},
    {MX_KEY_MIN_PROPERTIES,
     MX_CLASS_OBJECT,
     {"minProperties", count_fits, tell_count, "member"}},
    {MX_KEY_MAX_PROPERTIES,
     MX_CLASS_OBJECT,
     {"maxProperties", count_fits, tell_count, "member"}},
};

/* The beginning of a number's text in the schema. */
static const char *number_text(struct mx_build *build, uint32_t node)
{
    struct mcpx_slice text = mx_tree_bytes(build->tree, node);
    char *out = mx_build_take(build, NUMBER_MAX + 1);

    if (out)
        memcpy(out, text.text, text.len < NUMBER_MAX ? text.len : NUMBER_MAX);
    return out;
}

static void add_counts(struct mx_build *build)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint32_t node = build->value[counts[i].key];
        uint32_t bound = mx_build_count(build, counts[i].key, i % 2 ? UINT32_MAX : 0);
        struct mx_op op = {&counts[i].action, i % 2 ? 0 : bound, i % 2 ? bound : UINT32_MAX,
                           NULL};

        if (bound == UINT32_MAX - 1)
            op.data = number_text(build, node);
        if (node)
            mx_build_op(build, counts[i].class, op);
    }
}

struct pattern {
    const struct mx_regex *regex;
    struct mcpx_slice text;
};

static bool run_pattern(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct pattern *pattern = op->data;

    return mx_run_matches(run, pattern->regex, node) || mx_run_fail(run, op);
}

static void tell_pattern(const struct mx_op *op, struct mcpx_text *out)
{
    mx_format(out, "must match %s", ((const struct pattern *)op->data)->text);
}

static const struct mx_action pattern_action = {"pattern", run_pattern, tell_pattern, NULL};

static void add_pattern(struct mx_build *build)
{
    uint32_t node = build->value[MX_KEY_PATTERN];
    struct pattern *pattern;

    if (!node || mx_tree_type(build->tree, node) != MCPX_JSON_STRING)
        return;
    pattern = mx_build_take(build, sizeof *pattern);
    if (!pattern)
        return;
    pattern->regex = mx_build_regex(build, node);
    pattern->text = mx_build_text(build, node);
    mx_build_op(build, MX_CLASS_STRING, (struct mx_op){&pattern_action, 0, 0, pattern});
}

/* Digits per step, and work of mx_number_is_multiple per step. */
enum { DIGITS_PER_STEP = 64, WORK_PER_STEP = 100 };

struct limit {
    struct mx_number number;
    struct mcpx_slice text;
};

/* Allowed orders, as bits of op->a: the value is below the bound, equal, above. */
enum { BELOW = 1, EQUAL = 2, ABOVE = 4 };

static bool read_value(struct mx_run *run, uint32_t node, struct mx_number *number)
{
    struct mcpx_slice text = mx_tree_bytes(run->tree, node);

    return mx_run_spend(run, text.len / DIGITS_PER_STEP, node) && mx_number_read(text, number);
}

static bool run_bound(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct limit *limit = op->data;
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
    const struct limit *limit = op->data;
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

static void tell_limit(const struct mx_op *op, struct mcpx_text *out)
{
    mx_format(out, "must be %s %s", op->action->sentence,
              ((const struct limit *)op->data)->text);
}

static const struct {
    enum mx_keyword key;
    uint32_t orders;
    struct mx_action action;
} bounds[] = {
    {MX_KEY_MINIMUM, EQUAL | ABOVE, {"minimum", run_bound, tell_limit, "at least"}},
    {MX_KEY_MAXIMUM, BELOW | EQUAL, {"maximum", run_bound, tell_limit, "at most"}},
    {MX_KEY_EXCLUSIVE_MINIMUM,
     ABOVE,
     {"exclusiveMinimum", run_bound, tell_limit, "more than"}},
    {MX_KEY_EXCLUSIVE_MAXIMUM,
     BELOW,
     {"exclusiveMaximum", run_bound, tell_limit, "less than"}},
    {MX_KEY_MULTIPLE_OF, 0, {"multipleOf", run_multiple, tell_limit, "a multiple of"}},
};

static void add_limits(struct mx_build *build)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        uint32_t node = build->value[bounds[i].key];
        struct limit *limit;

        if (!node || mx_tree_type(build->tree, node) != MCPX_JSON_NUMBER)
            continue;
        limit = mx_build_take(build, sizeof *limit);
        if (!limit)
            return;
        limit->text = mx_arena_copy(&build->program->arena, mx_tree_bytes(build->tree, node));
        if (!limit->text.text) {
            mx_library_starve(build->library);
            return;
        }
        mx_number_read(limit->text, &limit->number);
        mx_build_op(build, MX_CLASS_NUMBER,
                    (struct mx_op){&bounds[i].action, bounds[i].orders, 0, limit});
    }
}

void mx_keywords_value(struct mx_build *build)
{
    add_types(build);
    add_counts(build);
    add_pattern(build);
    add_limits(build);
}
