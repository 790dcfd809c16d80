/*
 * keyword_string.c - pattern, and how many characters, items or members there are. Lengths count
 * code points. A string of n bytes has at most n of them and at least a quarter, so few strings have
 * to be counted.
 */
#include "lib/contract/keywords.h"
#include "lib/contract/run.h"

#include "lib/core/escape.h"
#include "lib/core/format.h"

enum { BYTES_PER_STEP = 64 };

/* Code points of a string. */
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

static void tell_least(const struct mx_program *program, const struct mx_op *op,
                       struct mcpx_text *out)
{
    (void)program;
    mx_format(out, "must have at least %s %s%s", op->a, (const char *)op->data,
              op->a == 1 ? "" : "s");
}

static void tell_most(const struct mx_program *program, const struct mx_op *op,
                      struct mcpx_text *out)
{
    (void)program;
    mx_format(out, "must have at most %s %s%s", op->b, (const char *)op->data,
              op->b == 1 ? "" : "s");
}

/* How many of something a value has. */
static const struct {
    enum mx_keyword least, most;
    enum mx_class class;
    const char *noun;
    struct mx_action actions[2];
} counts[] = {
    {MX_KEY_MIN_LENGTH,
     MX_KEY_MAX_LENGTH,
     MX_CLASS_STRING,
     "character",
     {{"minLength", length_fits, tell_least}, {"maxLength", length_fits, tell_most}}},
    {MX_KEY_MIN_ITEMS,
     MX_KEY_MAX_ITEMS,
     MX_CLASS_ARRAY,
     "item",
     {{"minItems", count_fits, tell_least}, {"maxItems", count_fits, tell_most}}},
    {MX_KEY_MIN_PROPERTIES,
     MX_KEY_MAX_PROPERTIES,
     MX_CLASS_OBJECT,
     "member",
     {{"minProperties", count_fits, tell_least}, {"maxProperties", count_fits, tell_most}}},
};

static void add_counts(struct mx_build *build)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct mx_op least = {&counts[i].actions[0], mx_build_count(build, counts[i].least, 0),
                              UINT32_MAX, counts[i].noun};
        struct mx_op most = {&counts[i].actions[1], 0,
                             mx_build_count(build, counts[i].most, UINT32_MAX),
                             counts[i].noun};

        if (build->value[counts[i].least])
            mx_build_op(build, counts[i].class, least);
        if (build->value[counts[i].most])
            mx_build_op(build, counts[i].class, most);
    }
}

struct pattern {
    const struct mx_regex *regex;
    struct mcpx_slice text;
};

static bool run_pattern(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct pattern *pattern = (const struct pattern *)op->data;

    return mx_run_matches(run, pattern->regex, node) || mx_run_fail(run, op);
}

static void tell_pattern(const struct mx_program *program, const struct mx_op *op,
                         struct mcpx_text *out)
{
    (void)program;
    mx_format(out, "must match %s", ((const struct pattern *)op->data)->text);
}

static const struct mx_action pattern_action = {"pattern", run_pattern, tell_pattern};

void mx_keywords_string(struct mx_build *build)
{
    uint32_t node = build->value[MX_KEY_PATTERN];
    struct pattern *pattern;

    add_counts(build);
    if (!node || mx_tree_type(build->tree, node) != MCPX_JSON_STRING)
        return;
    pattern = (struct pattern *)mx_build_take(build, sizeof *pattern);
    if (!pattern)
        return;
    pattern->regex = mx_build_regex(build, node);
    pattern->text = mx_build_text(build, node);
    mx_build_op(build, MX_CLASS_STRING, (struct mx_op){&pattern_action, 0, 0, pattern});
}
