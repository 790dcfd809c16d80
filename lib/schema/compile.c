/*
 * compile.c - compiles a program. Subschemas wait in a list and are compiled one after another,
 * without recursion; a reference adds its target, perhaps from another document. Dynamic references
 * come last: their targets are known when all documents are.
 */
#include "lib/schema/build.h"

#include "lib/base/rows.h"
#include "lib/json/tree.h"

#include <stdlib.h>

/* A referenced name of `$dynamicAnchor`, and its resources. */
struct dynamic_name {
    struct mcpx_slice name;
    struct mx_dynamic *choices; /* `kept`: the same, sorted, as long as the program */
    struct mx_dynamic *kept;
    size_t count;
    size_t room;
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

static void make_unit(struct mx_build *build, size_t number)
{
    struct mx_compiled_schema *program = build->program;
    const struct mx_document *document;
    uint32_t resource;

    build->at = build->wanted[number];
    document = &build->library->documents[build->at.document];
    build->tree = &document->tree;
    resource = document->resource_of[build->at.node];
    if (resource == MX_NONE) {
        mx_library_refuse(build->library, build->at, "type",
                          "must be a schema: an object or a boolean");
        return;
    }
    build->manner = build->library->resources[resource].dialect.manner;
    build->unit = (struct mx_unit){
        .begin = (uint32_t)program->op_count, .resource = resource, .types = MX_TYPE_ANY};
    if (mx_tree_type(build->tree, build->at.node) == MCPX_JSON_OBJECT) {
        mx_library_keywords(build->library, build->tree, build->at.node, build->manner,
                            build->value);
        mx_keywords_value(build);
        mx_keywords_inside(build);
        mx_keywords_logic(build);
    } else {
        build->unit.types =
            *mx_tree_bytes(build->tree, build->at.node).text == 'f' ? 0 : MX_TYPE_ANY;
    }
    if (!mx_make_room(&program->units, number, &build->unit_room, sizeof *program->units)) {
        mx_library_starve(build->library);
        return;
    }
    program->units[number] = build->unit;
    program->unit_count = number + 1;
}

/* The number of a name in the list, from 1; 0 on failure, noted. */
static size_t find_name(struct mx_build *build, struct names *names, struct mcpx_slice name)
{
    size_t number = 0;

    while (number < names->count && !mcpx_slice_equal(names->list[number].name, name))
        number++;
    if (number < names->count)
        return mx_build_spend(build, number) ? number + 1 : 0;
    if (!mx_build_spend(build, names->count + 3 * (uint64_t)build->library->resource_count))
        return 0;
    if (!mx_make_room(&names->list, names->count, &names->room, sizeof *names->list)) {
        mx_library_starve(build->library);
        return 0;
    }
    names->list[names->count++] = (struct dynamic_name){.name = name};
    return names->count;
}

static void follow(struct mx_build *build, struct names *names, struct mx_pending *pending)
{
    struct mcpx_slice name;
    struct mx_place place;

    if (!mx_library_follow(build->library, pending->place, pending->node, &place, &name))
        return;
    pending->target->unit = mx_build_unit_at(build, place);
    if (pending->dynamic && name.text)
        pending->name = find_name(build, names, name);
}

/* Lists the resources with a name, as far as they are known, and requests their subschemas. */
static void look_for(struct mx_build *build, struct dynamic_name *name)
{
    const struct mx_library *library = build->library;

    for (; name->looked_at < library->resource_count; name->looked_at++) {
        const struct mx_resource *anchor = &library->resources[name->looked_at];

        if (!anchor->dynamic || !mcpx_slice_equal(anchor->name, name->name))
            continue;
        if (!mx_make_room(&name->choices, name->count, &name->room, sizeof *name->choices)) {
            mx_library_starve(build->library);
            return;
        }
        name->choices[name->count++] =
            (struct mx_dynamic){anchor->of, mx_build_unit_at(build, anchor->place)};
    }
}

/* Gives dynamic references the resources with their name. */
static void settle_dynamic(struct mx_build *build, struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        struct dynamic_name *name = &names->list[i];
        size_t bytes = name->count * sizeof *name->kept;

        name->kept = mx_build_take(build, bytes);
        if (!name->kept)
            return;
        memcpy(name->kept, name->choices, bytes);
        qsort(name->kept, name->count, sizeof *name->kept, mx_compare_rows);
    }
    for (size_t i = 0; i < build->pending_count; i++) {
        struct mx_target *target = build->pending[i].target;
        const struct dynamic_name *name;

        if (!build->pending[i].name || build->pending[i].name > names->count)
            continue;
        name = &names->list[build->pending[i].name - 1];
        target->choices = name->kept;
        target->count = (uint32_t)name->count;
        build->program->dynamic |= name->count > 1;
    }
}

/* Indexes the values of `enum` and `const`. */
static void settle_constants(struct mx_build *build)
{
    struct mx_compiled_schema *program = build->program;
    struct mx_tree *tree = &program->constants;
    struct mcpx_slice text;
    void *cut;

    if (build->constant_nodes == 0)
        return;
    mcpx_text_puts(&build->constants, "]");
    text = mx_arena_copy(&program->arena, mcpx_text_view(&build->constants));
    if (build->constants.failed || !text.text || mx_tree_read(tree, text, NULL)) {
        mx_library_starve(build->library);
        return;
    }
    cut = realloc(tree->nodes, tree->count * sizeof *tree->nodes);
    if (cut) {
        tree->nodes = (struct mx_node *)cut;
        tree->room = tree->count;
    }
}

/* Compiles all requested subschemas, and those they request. */
static void make_units(struct mx_build *build, struct names *names)
{
    size_t made = 0, followed = 0;

    while (!build->library->err) {
        if (made < build->wanted_count) {
            make_unit(build, made++);
        } else if (followed < build->pending_count) {
            follow(build, names, &build->pending[followed++]);
        } else {
            for (size_t i = 0; i < names->count; i++)
                look_for(build, &names->list[i]);
            if (made == build->wanted_count)
                return;
        }
    }
}

enum mcpx_err mx_compile(struct mx_build *build)
{
    const struct mx_document *document = &build->library->documents[0];
    struct names names = {NULL, 0, 0};

    mx_build_unit_at(build, (struct mx_place){0, 0});
    for (uint32_t node = 0; node < document->tree.count && !document->builtin; node++) {
        if (document->resource_of[node] != MX_NONE)
            mx_build_unit_at(build, (struct mx_place){0, node});
    }
    make_units(build, &names);
    if (!build->library->err)
        settle_dynamic(build, &names);
    if (!build->library->err)
        settle_constants(build);
    for (size_t i = 0; i < names.count; i++)
        free(names.list[i].choices);
    free(names.list);
    return build->library->err;
}
