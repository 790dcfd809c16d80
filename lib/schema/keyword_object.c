/*
 * keyword_object.c - what an object has: one pass over its members serves properties,
 * patternProperties, additionalProperties, propertyNames and required together. Names that the
 * schema knows stand in a table by hash; the next one of the schema is tried first, because most
 * documents keep its order. Required names are counted: only when one is missing it is asked which.
 */
#include "lib/json/tree.h"
#include "lib/schema/build.h"
#include "lib/schema/run.h"

/* Members passed over, and places of the table looked at, that a step is worth. */
enum { MEMBERS_PER_STEP = 32, PLACES_PER_STEP = 8, NAMES_PER_STEP = 32 };

/* A name that the schema knows. */
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

/*
 * slots        1 + an entry, by hash; `mask` + 1 of them
 * additional   unit for names that are neither known nor match; MX_UNIT_NONE: they may be anything
 * names        unit for all names, or MX_UNIT_NONE
 */
struct members {
    struct entry *entries;
    uint32_t *slots;
    struct pattern *patterns;
    uint32_t count;
    uint32_t required;
    uint32_t mask;
    uint32_t pattern_count;
    uint32_t additional;
    uint32_t names;
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

/* The entry of a name, NULL when the schema does not know it. `guess` is tried first. */
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

/* Where a walk through an object is. */
struct member_walk {
    uint32_t name;
    uint32_t guess;
    uint32_t required; /* names found of those */
};

/* Judges one member. */
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

/* Lists which required names are missing. */
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
    const struct members *members = (const struct members *)op->data;
    const struct mx_tree *tree = run->tree;
    struct member_walk walk = {node + 1, 0, 0};
    uint32_t end = mx_tree_end(tree, node), index = 0;
    bool fits = true;

    if (!mx_run_spend(run, (uint64_t)tree->nodes[node].count / MEMBERS_PER_STEP, node))
        return false;
    for (; walk.name < end; walk.name = mx_tree_next(tree, walk.name + 1)) {
        if (judge_member(run, members, &walk, index++))
            continue;
        if (!mx_run_goes_on(run))
            return false;
        fits = false;
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

    for (uint32_t at = object + 1; at < mx_tree_end(tree, object) && !build->err;
         at = mx_tree_next(tree, at + 1))
        add_entry(build, members, at, tree->nodes[at].hash)->unit =
            mx_build_unit(build, at + 1);
}

static void add_required(struct mx_build *build, struct members *members, uint32_t array)
{
    const struct mx_tree *tree = build->tree;

    for (uint32_t at = array + 1; at < mx_tree_end(tree, array) && !build->err;
         at = mx_tree_next(tree, at)) {
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

    members->patterns = (struct pattern *)mx_build_take(build, tree->nodes[object].count *
                                                                   sizeof *members->patterns);
    for (uint32_t at = object + 1; at < mx_tree_end(tree, object) && !build->err;
         at = mx_tree_next(tree, at + 1))
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

static void add_members(struct mx_build *build, struct members *members)
{
    uint32_t properties = value_of(build, MX_KEY_PROPERTIES, MCPX_JSON_OBJECT);
    uint32_t patterns = value_of(build, MX_KEY_PATTERN_PROPERTIES, MCPX_JSON_OBJECT);
    uint32_t required = value_of(build, MX_KEY_REQUIRED, MCPX_JSON_ARRAY);
    uint32_t most = 0;

    if (properties)
        most += build->tree->nodes[properties].count;
    if (required)
        most += build->tree->nodes[required].count;
    members->mask = 1;
    while (members->mask < most * 2)
        members->mask = members->mask * 2 + 1;
    members->entries = (struct entry *)mx_build_take(build, most * sizeof *members->entries);
    members->slots =
        (uint32_t *)mx_build_take(build, (members->mask + 1) * sizeof *members->slots);
    if (build->err)
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

void mx_keywords_object(struct mx_build *build)
{
    struct members *members;

    if (!build->value[MX_KEY_PROPERTIES] && !build->value[MX_KEY_PATTERN_PROPERTIES] &&
        !build->value[MX_KEY_REQUIRED] && !build->value[MX_KEY_ADDITIONAL_PROPERTIES] &&
        !build->value[MX_KEY_PROPERTY_NAMES])
        return;
    members = (struct members *)mx_build_take(build, sizeof *members);
    if (members)
        add_members(build, members);
}
