/*
 * resolve.c - documents, the named parts in them, and the targets of references. Names are searched
 * only where keywords expect schemas: an `$id` in an `enum` is not one. A JSON Pointer may lead to
 * a value outside of keywords; that value is then walked, and must satisfy its meta-schema like
 * other schemas.
 *
 * Documents are requested from the caller by name; this folder opens no files.
 */
#include "lib/json/tree.h"

#include "lib/base/digits.h"
#include "lib/base/rows.h"
#include "lib/base/scoped.h"
#include "lib/schema/library.h"

#include <stdlib.h>

/* A walk: its position, and the number of schemas around. */
struct mx_walk {
    struct mx_library *library;
    uint32_t document;
    uint32_t resource;
    uint32_t depth;
};

/* The string value of a schema's keyword; 0 for other types. */
static uint32_t string_of(const struct mx_tree *tree, uint32_t schema, struct mcpx_slice name)
{
    uint32_t value = mx_tree_member(tree, schema, name);

    return value && mx_tree_type(tree, value) == MCPX_JSON_STRING ? value : 0;
}

/* Reads the dialect of a schema at the root of a resource. `dialect` is unchanged without
 * `$schema`. Returns false on failure, noted. */
static bool walk_dialect(const struct mx_walk *walk, uint32_t node, struct mx_dialect *dialect)
{
    const struct mx_tree *tree = &walk->library->documents[walk->document].tree;
    uint32_t value = string_of(tree, node, MCPX_SLICE("$schema"));
    struct mcpx_slice uri;
    const char *reason;

    if (!value)
        return true;
    uri = mx_library_text(walk->library, &walk->library->arena, tree, value);
    return uri.text &&
           (mx_dialect_find(uri, walk->library->options, dialect, &reason) ||
            mx_library_refuse(walk->library, (struct mx_place){walk->document, value},
                              "$schema", reason));
}

static bool add_own_anchor(struct mx_walk *walk, uint32_t node, uint32_t value, bool dynamic)
{
    const struct mx_tree *tree = &walk->library->documents[walk->document].tree;
    struct mx_resource anchor = {
        .place = {walk->document, node}, .of = walk->resource, .dynamic = dynamic};

    if (!value)
        return true;
    anchor.name = mx_library_text(walk->library, &walk->library->arena, tree, value);
    return anchor.name.text && mx_library_add_resource(walk->library, anchor, value);
}

/* Enters the resource of a schema with this `$id`. */
static bool enter_resource(struct mx_walk *walk, uint32_t node, struct mcpx_slice id)
{
    struct mx_library *library = walk->library;
    struct mx_resource around = library->resources[walk->resource];
    struct mx_resource own = {
        .place = {walk->document, node}, .dialect = around.dialect, .of = MX_NONE};
    mx_scoped_text uri = {0};

    mx_uri_resolve(around.name, id, &uri);
    if (uri.failed)
        return mx_library_starve(library);
    own.name = mcpx_text_view(&uri);
    mx_uri_cut(&own.name);
    mx_library_spend(library, own.place, uri.len);
    if (around.place.node == node && mcpx_slice_equal(around.name, own.name))
        return true;
    if (library->err)
        return false;
    own.name = mx_arena_copy(&library->arena, own.name);
    if (!own.name.text)
        return mx_library_starve(library);
    if ((around.place.node != node && !walk_dialect(walk, node, &own.dialect)) ||
        !mx_library_add_resource(library, own, node))
        return false;
    walk->resource = library->resource_count - 1;
    return mcpx_slice_equal(own.dialect.uri, around.dialect.uri) ||
           mx_library_add_root(library, own.place, walk->resource);
}

static bool take_names(struct mx_walk *walk, uint32_t node)
{
    struct mx_library *library = walk->library;
    const struct mx_tree *tree = &library->documents[walk->document].tree;
    bool is_07 = library->resources[walk->resource].dialect.manner.draft == MX_DRAFT_07;
    uint32_t id = string_of(tree, node, MCPX_SLICE("$id"));
    struct mcpx_slice text = {NULL, 0};

    if (is_07 && mx_tree_member(tree, node, MCPX_SLICE("$ref")))
        return true;
    if (id) {
        text = mx_library_text(library, &library->arena, tree, id);
        if (!text.text)
            return false;
    }
    if (is_07 && text.len && text.text[0] == '#') {
        struct mx_resource anchor = {.name = {text.text + 1, text.len - 1},
                                     .place = {walk->document, node},
                                     .of = walk->resource};

        return text.len == 1 || mx_library_add_resource(library, anchor, id);
    }
    if (id && !enter_resource(walk, node, text))
        return false;
    is_07 = library->resources[walk->resource].dialect.manner.draft == MX_DRAFT_07;
    return is_07 ||
           (add_own_anchor(walk, node, string_of(tree, node, MCPX_SLICE("$anchor")), false) &&
            add_own_anchor(walk, node, string_of(tree, node, MCPX_SLICE("$dynamicAnchor")),
                           true));
}

static bool walk_schema(struct mx_walk walk, uint32_t node);

static bool walk_value(const struct mx_walk *walk, enum mx_shape shape, uint32_t value)
{
    const struct mx_tree *tree = &walk->library->documents[walk->document].tree;
    enum mcpx_json_type type = mx_tree_type(tree, value);
    bool is_map = shape >= MX_SHAPE_DEPENDENCIES || shape == MX_SHAPE_MAP;
    bool is_list = shape == MX_SHAPE_LIST || shape == MX_SHAPE_ITEMS;

    if (shape == MX_SHAPE_NONE)
        return true;
    if ((is_map && type == MCPX_JSON_OBJECT) || (is_list && type == MCPX_JSON_ARRAY)) {
        MX_EACH_WHILE(true, at, tree, value, is_map) {
            if (!walk_schema(*walk, at + is_map))
                return false;
        }
    } else if (shape == MX_SHAPE_SCHEMA || shape == MX_SHAPE_ITEMS) {
        return walk_schema(*walk, value);
    }
    return true;
}

/* Notes that a schema is here. */
static bool mark(struct mx_walk *walk, uint32_t node)
{
    struct mx_library *library = walk->library;
    struct mx_place place = {walk->document, node};

    if (walk->depth > MCPX_SCHEMA_DEPTH_MAX)
        return mx_library_refuse(library, place, "bounds",
                                 "must not be nested deeper than 64 schemas");
    if (!library->documents[walk->document].builtin &&
        ++library->count > MCPX_SCHEMA_COUNT_MAX)
        return mx_library_refuse(library, place, "bounds",
                                 "must not have more than 10000 schemas");
    return true;
}

/* Walks a schema; other values are left to the meta-schema. */
static bool walk_schema(struct mx_walk walk, uint32_t node)
{
    struct mx_library *library = walk.library;
    const struct mx_tree *tree = &library->documents[walk.document].tree;
    bool is_object = mx_tree_type(tree, node) == MCPX_JSON_OBJECT, is_good = true;
    uint32_t value[MX_KEY_COUNT];

    if (!is_object && mx_tree_type(tree, node) != MCPX_JSON_BOOL)
        return true;
    walk.depth++;
    if (!mark(&walk, node) || (is_object && !take_names(&walk, node)))
        return false;
    library->documents[walk.document].resource_of[node] = walk.resource;
    if (!is_object)
        return true;
    mx_library_keywords(library, tree, node, library->resources[walk.resource].dialect.manner,
                        value);
    for (size_t key = 0; key < MX_KEY_COUNT && is_good; key++)
        is_good = !value[key] ||
                  walk_value(&walk, (enum mx_shape)mx_keywords[key].shape, value[key]);
    return is_good;
}

static uint32_t *new_numbers(size_t count)
{
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);

    if (numbers)
        memset(numbers, 0xff, count * sizeof *numbers); /* MX_NONE */
    return numbers;
}

static bool read_document(struct mx_library *library, struct mcpx_slice text)
{
    struct mx_document *document;
    enum mcpx_err err;

    if (!mx_make_room(&library->documents, library->document_count, &library->document_room,
                      sizeof *document))
        return mx_library_starve(library);
    document = &library->documents[library->document_count++];
    memset(document, 0, sizeof *document);
    err = mx_tree_read(&document->tree, text, NULL);
    if (err == MCPX_ENOMEM)
        return mx_library_starve(library);
    if (err || document->tree.ambiguous)
        return mx_library_refuse(library, (struct mx_place){library->document_count - 1, 0},
                                 err ? "json" : "ambiguous",
                                 err ? "must be JSON" : "must not be readable in two ways");
    document->resource_of = new_numbers(document->tree.count);
    document->unit_of = new_numbers(document->tree.count);
    return (document->resource_of && document->unit_of) || mx_library_starve(library);
}

bool mx_library_add(struct mx_library *library, struct mcpx_slice uri, struct mcpx_slice text)
{
    struct mx_walk walk = {library, library->document_count, library->resource_count, 0};
    struct mx_resource root = {.name = mx_arena_copy(&library->arena, uri),
                               .place = {walk.document, 0},
                               .dialect = mx_dialect_default(library->options->dialect),
                               .of = MX_NONE};

    if (!root.name.text)
        return mx_library_starve(library);
    if (text.len > MCPX_SCHEMA_BYTES_MAX)
        return mx_library_refuse(library, root.place, "bounds",
                                 "must not be longer than 256 KiB");
    if (!read_document(library, text))
        return false;
    library->documents[walk.document].builtin = mx_builtin_find(uri);
    library->documents[walk.document].uri = root.name;
    if (mx_tree_type(&library->documents[walk.document].tree, 0) == MCPX_JSON_OBJECT &&
        !walk_dialect(&walk, 0, &root.dialect))
        return false;
    if (!mx_library_add_resource(library, root, 0) ||
        !mx_library_add_root(library, root.place, walk.resource))
        return false;
    return walk_schema(walk, 0);
}

/* The resource of this URI; its document is requested if need be. */
static uint32_t fetch_resource(struct mx_library *library, struct mcpx_slice uri)
{
    const struct mx_builtin *builtin;
    struct mcpx_slice text;
    uint32_t found = mx_library_find(library, MX_NONE, uri);

    if (found != MX_NONE)
        return found;
    builtin = mx_builtin_find(uri);
    if (builtin)
        text = builtin->text;
    else if (!library->options->find ||
             !library->options->find(library->options->context, uri, &text))
        return MX_NONE;
    return mx_library_add(library, uri, text) ? mx_library_find(library, MX_NONE, uri)
                                              : MX_NONE;
}

/* Follows a JSON Pointer in a resource; on the way it may enter others. */
static bool follow_pointer(struct mx_library *library, uint32_t resource,
                           struct mcpx_slice pointer, struct mx_place *out)
{
    struct mx_place place = library->resources[resource].place;
    const struct mx_document *document = &library->documents[place.document];
    struct mx_walk walk = {library, place.document, resource, 0};

    while (pointer.len > 0) {
        const char *slash = memchr(pointer.text + 1, '/', pointer.len - 1);
        size_t len = slash ? (size_t)(slash - pointer.text) : pointer.len;

        if (!mx_library_spend(library, place, document->tree.nodes[place.node].count) ||
            !mx_tree_point(&document->tree, place.node, (struct mcpx_slice){pointer.text, len},
                           &place.node))
            return false;
        pointer = (struct mcpx_slice){pointer.text + len, pointer.len - len};
        if (document->resource_of[place.node] != MX_NONE)
            walk.resource = document->resource_of[place.node];
    }
    *out = place;
    if (document->resource_of[place.node] != MX_NONE)
        return true;
    if (mx_tree_type(&document->tree, place.node) != MCPX_JSON_OBJECT &&
        mx_tree_type(&document->tree, place.node) != MCPX_JSON_BOOL)
        return false;
    return mx_library_add_root(library, place, walk.resource) && walk_schema(walk, place.node);
}

static bool follow_fragment(struct mx_library *library, uint32_t resource,
                            struct mcpx_slice fragment, struct mx_place *out,
                            struct mcpx_slice *name)
{
    uint32_t found;

    if (fragment.len == 0 || fragment.text[0] == '/')
        return follow_pointer(library, resource, fragment, out);
    found = mx_library_find(library, resource, fragment);
    if (found == MX_NONE)
        return false;
    *out = library->resources[found].place;
    if (library->resources[found].dynamic)
        *name = library->resources[found].name;
    return true;
}

bool mx_library_follow(struct mx_library *library, struct mx_place from, uint32_t node,
                       struct mx_place *out, struct mcpx_slice *name)
{
    const struct mx_document *document = &library->documents[from.document];
    struct mx_place at = {from.document, node};
    uint32_t resource = document->resource_of[from.node];
    mx_scoped_text reference = {0}, uri = {0}, decoded = {0};
    struct mcpx_slice whole;

    *name = (struct mcpx_slice){NULL, 0};
    mx_tree_unescape(&document->tree, node, &reference);
    mx_uri_resolve(library->resources[resource].name, mcpx_text_view(&reference), &uri);
    whole = mcpx_text_view(&uri);
    mx_percent_decode(&decoded, mx_uri_cut(&whole));
    if (reference.failed || uri.failed || decoded.failed)
        mx_library_starve(library);
    mx_library_spend(library, at, uri.len);
    resource = library->err ? MX_NONE : fetch_resource(library, whole);
    return (resource != MX_NONE &&
            follow_fragment(library, resource, mcpx_text_view(&decoded), out, name)) ||
           mx_library_refuse(library, at, "$ref", "must lead to a schema that is known here");
}
