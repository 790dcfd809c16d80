/*
 * compile.c - making a program. Subschemas wait in a list and are made one after another, not
 * inside each other; a reference adds what it leads to, perhaps from another document. Dynamic
 * references come last: what they may lead to is known when all documents are.
 */
#include "lib/schema/build.h"

#include "lib/base/rows.h"
#include "lib/json/tree.h"

#include <stdlib.h>

/* A name of `$dynamicAnchor` that some reference leads to, and who has it. */
struct dynamic_name {
    struct mcpx_slice name;
    struct mx_dynamic *choices;
    uint32_t count;
    uint32_t looked_at; /* resources and anchors */
};

struct names {
    struct dynamic_name *list;
    size_t count;
    size_t room;
};

void mx_build_fini(struct mx_build *build)
{
    free(build->wanted);
    free(build->pending);
    mcpx_text_fini(&build->constants);
    mcpx_text_fini(&build->reason);
}

/* Finds the keywords of the schema at hand. */
static void read_keywords(struct mx_build *build)
{
    const struct mx_tree *tree = build->tree;
    uint32_t node = build->at.node, ref;

    memset(build->value, 0, sizeof build->value);
    MX_EACH_MEMBER(at, tree, node) {
        enum mx_keyword key =
            mx_keyword_find(&build->library->keywords, mx_tree_inside(tree, at),
                            tree->nodes[at].hash, build->manner);

        if (key != MX_KEY_COUNT)
            build->value[key] = at + 1;
    }
    ref = build->value[MX_KEY_REF];
    if (ref && build->manner.draft == MX_DRAFT_07) {
        memset(build->value, 0, sizeof build->value); /* nothing beside it means anything */
        build->value[MX_KEY_REF] = ref;
    }
}

/* Puts the checks of the unit at hand behind those of the others, class by class. */
static void place_ops(struct mx_build *build)
{
    struct mx_program *program = build->program;
    uint8_t count = 0;

    build->unit.begin = (uint32_t)program->op_count;
    for (unsigned class = 0; class < MX_CLASS_COUNT; class ++) {
        for (size_t i = 0; i < build->op_count; i++) {
            if (build->op_class[i] == class)
                program->ops[program->op_count + count++] = build->ops[i];
        }
        build->unit.end[class] = count;
    }
    program->op_count += count;
}

/* Makes room for a unit and its checks; lists double. */
static bool room_ready(struct mx_build *build, size_t number)
{
    struct mx_program *program = build->program;
    size_t ops = program->op_count + MX_BUILD_OPS;
    void *grown;

    if (!mx_make_room(&program->units, number, &build->unit_room, sizeof *program->units))
        return false;
    if (ops <= build->op_room)
        return true;
    build->op_room = ops * 2;
    grown = realloc(program->ops, build->op_room * sizeof *program->ops);
    if (grown)
        program->ops = (struct mx_op *)grown;
    return grown;
}

static void read_schema(struct mx_build *build)
{
    read_keywords(build);
    mx_keywords_value(build);
    mx_keywords_string(build);
    mx_keywords_number(build);
    mx_keywords_object(build);
    mx_keywords_dependent(build);
    mx_keywords_array(build);
    mx_keywords_refer(build);
    mx_keywords_logic(build);
    mx_keywords_unevaluated(build);
}

/* Makes the subschema of this number. */
static void make_unit(struct mx_build *build, size_t number)
{
    const struct mx_document *document;
    uint32_t resource;

    build->at = build->wanted[number];
    document = &build->library->documents[build->at.document];
    build->tree = &document->tree;
    resource = document->resource_of[build->at.node];
    if (!room_ready(build, number)) {
        mx_library_starve(build->library);
        return;
    }
    if (resource == MX_NONE) {
        mx_library_refuse(build->library, build->at, "type",
                          "must be a schema: an object or a boolean");
        return;
    }
    build->manner = build->library->resources[resource].dialect.manner;
    build->op_count = 0;
    build->unit = (struct mx_unit){.resource = resource, .types = MX_TYPE_ANY};
    if (mx_tree_type(build->tree, build->at.node) == MCPX_JSON_OBJECT) {
        read_schema(build);
    } else {
        build->unit.never =
            build->tree->text.text[build->tree->nodes[build->at.node].begin] == 'f';
        build->unit.types = build->unit.never ? 0 : MX_TYPE_ANY;
    }
    place_ops(build);
    build->program->units[number] = build->unit;
    build->program->unit_count = number + 1;
}

/* Finds where a reference leads. */
static void follow(struct mx_build *build, struct mx_pending *pending)
{
    struct mcpx_slice name;
    struct mx_place place;

    if (!mx_library_follow(build->library, pending->place, pending->text, &place, &name)) {
        if (build->library->place.node == pending->place.node &&
            build->library->place.document == pending->place.document)
            build->library->place.node = pending->node;
        return;
    }
    pending->target->unit = mx_build_unit_at(build, place);
    if (pending->target->dynamic)
        pending->name = name;
    pending->target->dynamic = false;
}

static struct dynamic_name *find_name(struct mx_build *build, struct names *names,
                                      struct mcpx_slice name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (mcpx_slice_equal(names->list[i].name, name))
            return mx_build_spend(build, i) ? &names->list[i] : NULL;
    }
    if (!mx_build_spend(build, names->count + build->library->resource_count))
        return NULL;
    if (!mx_make_room(&names->list, names->count, &names->room, sizeof *names->list)) {
        mx_library_starve(build->library);
        return NULL;
    }
    names->list[names->count] = (struct dynamic_name){name, NULL, 0, 0};
    return &names->list[names->count++];
}

static bool has_name(const struct mx_resource *anchor, const struct dynamic_name *name)
{
    return anchor->dynamic && mcpx_slice_equal(anchor->name, name->name);
}

/* Asks for the subschemas of all anchors of the names that dynamic references lead to. */
static void want_dynamic(struct mx_build *build, struct names *names)
{
    const struct mx_library *library = build->library;

    for (size_t i = 0; i < build->pending_count && !build->library->err; i++) {
        struct dynamic_name *name = build->pending[i].name.text
                                        ? find_name(build, names, build->pending[i].name)
                                        : NULL;

        for (; name && name->looked_at < library->resource_count; name->looked_at++) {
            if (has_name(&library->resources[name->looked_at], name))
                mx_build_unit_at(build, library->resources[name->looked_at].place);
        }
    }
}

static int by_resource(const void *a, const void *b)
{
    const struct mx_dynamic *left = (const struct mx_dynamic *)a;
    const struct mx_dynamic *right = (const struct mx_dynamic *)b;

    return (left->resource > right->resource) - (left->resource < right->resource);
}

/* Lists who has a name, by resource. */
static void list_choices(struct mx_build *build, struct dynamic_name *name)
{
    const struct mx_library *library = build->library;
    uint32_t room = 0;

    for (uint32_t i = 0; i < library->resource_count; i++)
        room += has_name(&library->resources[i], name);
    name->choices = (struct mx_dynamic *)mx_build_take(build, room * sizeof *name->choices);
    if (!name->choices || !mx_build_spend(build, 2 * (uint64_t)library->resource_count))
        return;
    for (uint32_t i = 0; i < library->resource_count; i++) {
        const struct mx_resource *anchor = &library->resources[i];

        if (has_name(anchor, name))
            name->choices[name->count++] =
                (struct mx_dynamic){anchor->of, mx_build_unit_at(build, anchor->place)};
    }
    qsort(name->choices, name->count, sizeof *name->choices, by_resource);
}

/* Tells dynamic references who has their name. */
static void settle_dynamic(struct mx_build *build, struct names *names)
{
    for (size_t i = 0; i < build->pending_count && !build->library->err; i++) {
        struct mx_pending *pending = &build->pending[i];
        struct dynamic_name *name =
            pending->name.text ? find_name(build, names, pending->name) : NULL;

        if (!name)
            continue;
        if (!name->choices)
            list_choices(build, name);
        pending->target->dynamic = name->count > 1;
        pending->target->choices = name->choices;
        pending->target->count = name->count;
        build->program->dynamic = build->program->dynamic || name->count > 1;
    }
}

/* Indexes the values of `enum` and `const`. */
static void settle_constants(struct mx_build *build)
{
    struct mx_program *program = build->program;
    struct mx_tree *tree = &program->constants;
    struct mcpx_slice text;
    size_t index = 0;
    void *cut;

    if (program->value_count == 0)
        return;
    mcpx_text_puts(&build->constants, "]");
    text = mx_arena_copy(&program->arena, mcpx_text_view(&build->constants));
    program->values = (uint32_t *)calloc(program->value_count, sizeof *program->values);
    if (build->constants.failed || !text.text || !program->values ||
        mx_tree_read(tree, text, NULL)) {
        mx_library_starve(build->library);
        return;
    }
    MX_EACH_ITEM(at, tree, 0)
        program->values[index++] = at;
    cut = realloc(tree->nodes, tree->count * sizeof *tree->nodes);
    if (cut) {
        tree->nodes = (struct mx_node *)cut;
        tree->room = tree->count;
    }
}

/* Makes all that was asked for, and what that asks for. */
static void make_units(struct mx_build *build, struct names *names)
{
    size_t made = 0, followed = 0;

    while (!build->library->err) {
        if (made < build->wanted_count) {
            make_unit(build, made++);
        } else if (followed < build->pending_count) {
            follow(build, &build->pending[followed++]);
        } else {
            want_dynamic(build, names);
            if (made == build->wanted_count)
                return;
        }
    }
}

enum mcpx_err mx_compile(struct mx_build *build, struct mx_place root)
{
    const struct mx_document *document = &build->library->documents[root.document];
    struct names names = {NULL, 0, 0};

    mx_build_unit_at(build, root);
    for (uint32_t node = 0; node < document->tree.count && !document->builtin; node++) {
        if (document->resource_of[node] != MX_NONE)
            mx_build_unit_at(build, (struct mx_place){root.document, node});
    }
    make_units(build, &names);
    if (!build->library->err)
        settle_dynamic(build, &names);
    if (!build->library->err)
        settle_constants(build);
    free(names.list);
    return build->library->err;
}
