/*
 * keyword_inside.c - checks the content of objects and arrays. One pass over an object's members
 * serves properties, patternProperties, additionalProperties, propertyNames and required together.
 * Names of the schema are in a table by hash; the next one of the schema is tried first, because
 * most documents keep its order. Required names are counted; the missing ones are searched only if
 * the count is short. uniqueItems sorts the hashes of the items and compares items of equal hash:
 * items with a common beginning cost no more than others.
 */
#include "lib/schema/build.h"
#include "lib/schema/run.h"

#include "lib/json/json_write.h"
#include "lib/json/tree.h"

#include <stdlib.h>

/* Work of one step: skipped members, and examined places of the table. */
enum { MEMBERS_PER_STEP = 32, PLACES_PER_STEP = 8, NAMES_PER_STEP = 32 };

/* A name of the schema. */
struct entry {
    struct mcpx_slice name;
    uint32_t hash;
    uint32_t unit; /* MX_UNIT_NONE: it is only required */
    bool required;
};

struct pattern {
    const struct mx_regex *regex;
    uint32_t unit;
};

struct members {
    struct entry *entries;
    uint32_t *slots; /* 1 + an entry, by hash; `mask` + 1 of them */
    struct pattern *patterns;
    uint32_t count;
    uint32_t required;
    uint32_t mask;
    uint32_t pattern_count;
    /* Unit for names neither known nor matched; MX_UNIT_NONE: their values are free. */
    uint32_t additional;
    uint32_t names; /* unit for all names, or MX_UNIT_NONE */
};

static const struct mx_action properties_action = {"properties", NULL, NULL, ""};
static const struct mx_action patterns_action = {"patternProperties", NULL, NULL, ""};
static const struct mx_action additional_action = {"additionalProperties", NULL, NULL, ""};
static const struct mx_action required_action = {"required", NULL, NULL, "is missing"};
static const struct mx_action names_action = {"propertyNames", NULL, NULL,
                                              "must have a name that the schema allows"};

static const struct mx_op required_op = {&required_action, 0, 0, NULL};
static const struct mx_op names_op = {&names_action, 0, 0, NULL};

static bool is_entry(const struct mx_tree *tree, uint32_t name, const struct entry *entry)
{
    return tree->nodes[name].hash == entry->hash && mx_tree_is(tree, name, entry->name);
}

/* The entry of a name, NULL when the schema lacks it. `guess` is tried first. */
static const struct entry *find_entry(struct mx_run *run, const struct members *members,
                                      uint32_t name, uint32_t guess)
{
    const struct mx_tree *tree = run->tree;
    uint32_t slot, places = 0;

    if (guess < members->count && is_entry(tree, name, &members->entries[guess]))
        return &members->entries[guess];
    slot = tree->nodes[name].hash & members->mask;
    for (; members->slots[slot]; slot = (slot + 1) & members->mask, places++) {
        const struct entry *entry = &members->entries[members->slots[slot] - 1];

        if (is_entry(tree, name, entry))
            return entry;
    }
    run->steps -= places / PLACES_PER_STEP;
    return NULL;
}

struct member_walk {
    uint32_t name;
    uint32_t guess;
    uint32_t required; /* required names found */
};

static bool judge_member(struct mx_run *run, const struct members *members,
                         struct member_walk *walk, uint32_t index)
{
    const struct entry *entry = find_entry(run, members, walk->name, walk->guess);
    bool fits = true, is_known = false;

    if (entry) {
        walk->guess = (uint32_t)(entry - members->entries) + 1;
        walk->required += entry->required;
        is_known = entry->unit != MX_UNIT_NONE;
        if (is_known)
            fits = mx_run_member(run, &properties_action, entry->unit, walk->name);
    }
    for (uint32_t i = 0; i < members->pattern_count && (fits || run->findings); i++) {
        if (!mx_run_matches(run, members->patterns[i].regex, walk->name))
            continue;
        is_known = true;
        fits = mx_run_member(run, &patterns_action, members->patterns[i].unit, walk->name) &&
               fits;
    }
    if (!is_known && members->additional != MX_UNIT_NONE) {
        is_known = true;
        fits = mx_run_member(run, &additional_action, members->additional, walk->name);
    }
    if (is_known)
        mx_run_see(run, index);
    if (members->names != MX_UNIT_NONE && !mx_run_quietly(run, members->names, walk->name))
        fits = mx_run_fail_member(run, &names_op, walk->name);
    return fits && !run->stopped;
}

/* Lists the missing required names. */
static bool list_missing(struct mx_run *run, const struct members *members, uint32_t node)
{
    for (uint32_t i = 0; i < members->count && run->findings; i++) {
        if (!mx_run_spend(run, (uint64_t)run->tree->nodes[node].count / NAMES_PER_STEP, node))
            return false;
        if (members->entries[i].required &&
            mx_tree_member(run->tree, node, members->entries[i].name) == 0)
            mx_run_fail_missing(run, &required_op, members->entries[i].name);
    }
    return false;
}

static bool run_members(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct members *members = op->data;
    const struct mx_tree *tree = run->tree;
    struct member_walk walk = {node + 1, 0, 0};
    uint32_t end = mx_tree_next(tree, node), index = 0;
    bool fits = true;

    if (!mx_run_spend(run, (uint64_t)tree->nodes[node].count / MEMBERS_PER_STEP, node))
        return false;
    for (; walk.name < end; walk.name = mx_tree_next(tree, walk.name + 1)) {
        if (!mx_run_next(run, judge_member(run, members, &walk, index++), &fits))
            return false;
    }
    if (walk.required < members->required)
        return list_missing(run, members, node);
    return fits;
}

static const struct mx_action members_action = {NULL, run_members, NULL, ""};

/* The entry of this name, made if it is not there. */
static struct entry *add_entry(struct mx_build *build, struct members *members, uint32_t name,
                               uint32_t hash)
{
    struct mcpx_slice text = mx_build_text(build, name);
    uint32_t slot = hash & members->mask, places = 0;

    for (; members->slots[slot]; slot = (slot + 1) & members->mask, places++) {
        struct entry *entry = &members->entries[members->slots[slot] - 1];

        if (entry->hash == hash && mcpx_slice_equal(entry->name, text))
            return entry;
    }
    mx_build_spend(build, places);
    members->entries[members->count] = (struct entry){text, hash, MX_UNIT_NONE, false};
    members->slots[slot] = ++members->count;
    return &members->entries[members->count - 1];
}

static void add_properties(struct mx_build *build, struct members *members, uint32_t object)
{
    const struct mx_tree *tree = build->tree;

    MX_EACH_WHILE(!build->library->err, at, tree, object, true)
        add_entry(build, members, at, tree->nodes[at].hash)->unit =
            mx_build_unit(build, at + 1);
}

static void add_required(struct mx_build *build, struct members *members, uint32_t array)
{
    const struct mx_tree *tree = build->tree;

    MX_EACH_WHILE(!build->library->err, at, tree, array, false) {
        struct entry *entry;

        if (mx_tree_type(tree, at) != MCPX_JSON_STRING)
            continue;
        entry = add_entry(build, members, at, mx_tree_string_hash(tree, at));
        members->required += !entry->required;
        entry->required = true;
    }
}

static void add_patterns(struct mx_build *build, struct members *members, uint32_t object)
{
    const struct mx_tree *tree = build->tree;

    members->patterns =
        mx_build_take(build, tree->nodes[object].count * sizeof *members->patterns);
    MX_EACH_WHILE(!build->library->err, at, tree, object, true)
        members->patterns[members->pattern_count++] =
            (struct pattern){mx_build_regex(build, at), mx_build_unit(build, at + 1)};
}

/* A keyword's value if it is of that type, else 0. */
static uint32_t value_of(const struct mx_build *build, enum mx_keyword key,
                         enum mcpx_json_type type)
{
    uint32_t node = build->value[key];

    return node && mx_tree_type(build->tree, node) == type ? node : 0;
}

static void add_members(struct mx_build *build)
{
    uint32_t properties = value_of(build, MX_KEY_PROPERTIES, MCPX_JSON_OBJECT);
    uint32_t patterns = value_of(build, MX_KEY_PATTERN_PROPERTIES, MCPX_JSON_OBJECT);
    uint32_t required = value_of(build, MX_KEY_REQUIRED, MCPX_JSON_ARRAY), most = 0;
    struct members *members;

    if (!properties && !patterns && !required && !build->value[MX_KEY_ADDITIONAL_PROPERTIES] &&
        !build->value[MX_KEY_PROPERTY_NAMES])
        return;
    if (properties)
        most += build->tree->nodes[properties].count;
    if (required)
        most += build->tree->nodes[required].count;
    members = mx_build_take(build, sizeof *members);
    if (!members)
        return;
    members->mask = 1;
    while (members->mask < most * 2)
        members->mask = members->mask * 2 + 1;
    members->entries = mx_build_take(build, most * sizeof *members->entries);
    members->slots = mx_build_take(build, (members->mask + 1) * sizeof *members->slots);
    if (build->library->err)
        return;
    if (properties)
        add_properties(build, members, properties);
    if (required)
        add_required(build, members, required);
    if (patterns)
        add_patterns(build, members, patterns);
    members->additional = mx_build_key_unit(build, MX_KEY_ADDITIONAL_PROPERTIES);
    members->names = mx_build_key_unit(build, MX_KEY_PROPERTY_NAMES);
    mx_build_op(build, MX_CLASS_OBJECT, (struct mx_op){&members_action, 0, 0, members});
}

/* ---- arrays ---- */

enum { BYTES_PER_STEP = 64 };

struct items {
    uint32_t *prefix; /* units of the first items, one each */
    uint32_t prefix_count;
    uint32_t rest; /* unit of the items behind, or MX_UNIT_NONE */
    const struct mx_action *prefix_action;
    const struct mx_action *rest_action;
};

static bool run_items(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct items *items = op->data;
    const struct mx_tree *tree = run->tree;
    uint32_t index = 0;
    bool fits = true;

    for (uint32_t at = node + 1; at < mx_tree_next(tree, node);
         at = mx_tree_next(tree, at), index++) {
        bool is_first = index < items->prefix_count;
        uint32_t unit = is_first ? items->prefix[index] : items->rest;
        const struct mx_action *action = is_first ? items->prefix_action : items->rest_action;

        if (unit == MX_UNIT_NONE)
            break;
        mx_run_see(run, index);
        if (!mx_run_next(run, mx_run_item(run, action, unit, at, index), &fits))
            return false;
    }
    return fits;
}

/* least, most: bounds of the number of fitting items. */
struct contains {
    uint32_t unit;
    uint32_t least;
    uint32_t most;
    bool has_least;
    bool sees;
};

/* The bound is op->a items: at most with op->b set, else at least. */
static void tell_bound(const struct mx_op *op, struct mcpx_text *out)
{
    mx_format(out, "must hold at %s %s item%s of the kind that the schema asks for",
              op->b ? "most" : "least", op->a, op->a == 1 ? "" : "s");
}

static const struct mx_action least_action = {"minContains", NULL, tell_bound, NULL};
static const struct mx_action most_action = {"maxContains", NULL, tell_bound, NULL};

static bool run_contains(struct mx_run *run, const struct mx_op *op, uint32_t node)
{
    const struct contains *contains = op->data;
    const struct mx_tree *tree = run->tree;
    struct mx_op least = {contains->has_least ? &least_action : op->action, contains->least, 0,
                          NULL};
    struct mx_op most = {&most_action, contains->most, 1, NULL};
    bool counts_all = contains->most != UINT32_MAX || (run->seen && contains->sees);
    uint32_t index = 0, found = 0;

    for (uint32_t at = node + 1; at < mx_tree_next(tree, node) && !run->stopped;
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

/* True when an item behind keys[0], of the same hash, equals it. */
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
    keys = mx_arena_take(run->scratch, array->count * sizeof *keys);
    if (!keys)
        return mx_run_starve(run, node);
    MX_EACH_ITEM(at, run->tree, node)
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
static const struct mx_action additional_items_action = {"additionalItems", run_items, NULL,
                                                         ""};
static const struct mx_action contains_action = {"contains", run_contains, tell_bound, NULL};
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
    items = mx_build_take(build, sizeof *items);
    if (!items)
        return;
    items->rest = rest ? mx_build_unit(build, rest) : MX_UNIT_NONE;
    if (prefix)
        items->prefix = mx_build_units(build, prefix, &items->prefix_count);
    items->prefix_action = is_07 ? &items_action : &prefix_action;
    items->rest_action = is_07 && prefix ? &additional_items_action : &items_action;
    mx_build_op(
        build, MX_CLASS_ARRAY,
        (struct mx_op){prefix ? items->prefix_action : items->rest_action, 0, 0, items});
}

static void add_contains(struct mx_build *build)
{
    struct contains *contains = mx_build_take(build, sizeof *contains);

    if (!contains)
        return;
    contains->unit = mx_build_key_unit(build, MX_KEY_CONTAINS);
    contains->has_least = build->value[MX_KEY_MIN_CONTAINS] != 0;
    contains->least = mx_build_count(build, MX_KEY_MIN_CONTAINS, 1);
    contains->most = mx_build_count(build, MX_KEY_MAX_CONTAINS, UINT32_MAX);
    contains->sees = build->manner.draft != MX_DRAFT_07;
    mx_build_op(build, MX_CLASS_ARRAY, (struct mx_op){&contains_action, 0, 0, contains});
}

void mx_keywords_inside(struct mx_build *build)
{
    uint32_t unique = build->value[MX_KEY_UNIQUE_ITEMS];

    add_members(build);
    add_items(build);
    if (build->value[MX_KEY_CONTAINS])
        add_contains(build);
    if (unique && build->tree->text.text[build->tree->nodes[unique].begin] == 't')
        mx_build_op(build, MX_CLASS_ARRAY, (struct mx_op){&unique_action, 0, 0, NULL});
}
