/*
 * walk.c - walking through the schemas of a document, noting what can be referred to. Only where
 * keywords expect schemas: an `$id` in an `enum` is none.
 */
#include "lib/contract/walk.h"

#include "lib/contract/tree_find.h"
#include "lib/contract/uri.h"

/* A string's text, for as long as the library lives. */
static struct mcpx_slice keep_text(struct mx_library *library, const struct mx_tree *tree,
                                   uint32_t node)
{
    struct mcpx_slice kept = {
        mx_arena_take(&library->arena, tree->nodes[node].end - tree->nodes[node].begin), 0};

    if (kept.text)
        mx_tree_plain(tree, node, (char *)(uintptr_t)kept.text, &kept.len);
    else
        mx_library_starve(library);
    return kept;
}

/* The value of a schema's keyword that is a string; 0 when it is none. */
static uint32_t string_of(const struct mx_tree *tree, uint32_t schema, struct mcpx_slice name)
{
    uint32_t value = mx_tree_member(tree, schema, name);

    return value && mx_tree_type(tree, value) == MCPX_JSON_STRING ? value : 0;
}

bool mx_walk_dialect(const struct mx_walk *walk, uint32_t node, struct mx_dialect *dialect)
{
    const struct mx_tree *tree = &walk->library->documents[walk->document].tree;
    uint32_t value = string_of(tree, node, MCPX_SLICE("$schema"));
    struct mcpx_slice uri;
    const char *reason;

    if (!value)
        return true;
    uri = keep_text(walk->library, tree, value);
    return uri.text &&
           (mx_dialect_find(uri, walk->library->options, dialect, &reason) ||
            mx_library_refuse(walk->library, (struct mx_place){walk->document, value},
                              "$schema", reason));
}

static bool add_own_anchor(struct mx_walk *walk, uint32_t node, uint32_t value, bool dynamic)
{
    const struct mx_tree *tree = &walk->library->documents[walk->document].tree;
    struct mx_anchor anchor = {{NULL, 0}, walk->resource, node, dynamic};

    if (!value)
        return true;
    anchor.name = keep_text(walk->library, tree, value);
    return anchor.name.text && mx_library_add_anchor(walk->library, anchor, value);
}

/* The schema has an `$id` that names a resource: enters it. */
static bool enter_resource(struct mx_walk *walk, uint32_t node, struct mcpx_slice id)
{
    struct mx_library *library = walk->library;
    struct mx_resource around = library->resources[walk->resource];
    struct mx_resource own = {{NULL, 0}, {walk->document, node}, around.dialect};
    struct mcpx_slice fragment;
    struct mcpx_text uri = {0};
    bool added;

    mx_uri_resolve(around.uri, id, &uri);
    if (uri.failed) {
        mcpx_text_fini(&uri);
        return mx_library_starve(library);
    }
    mx_uri_split(mcpx_text_view(&uri), &own.uri, &fragment);
    mx_library_spend(library, own.place, uri.len);
    if (around.place.node == node && mcpx_slice_equal(around.uri, own.uri)) {
        mcpx_text_fini(&uri);
        return true;
    }
    if (!library->err)
        own.uri = mx_arena_copy(&library->arena, own.uri);
    mcpx_text_fini(&uri);
    if (library->err)
        return false;
    if (!own.uri.text)
        return mx_library_starve(library);
    added = (around.place.node == node || mx_walk_dialect(walk, node, &own.dialect)) &&
            mx_library_add_resource(library, own);
    if (!added)
        return false;
    if (memcmp(&own.dialect.manner, &around.dialect.manner, sizeof own.dialect.manner) != 0 ||
        own.dialect.meta != around.dialect.meta)
        added = mx_library_add_root(library, own.place, library->resource_count - 1);
    walk->resource = library->resource_count - 1;
    return added;
}

/* Takes note of a schema's names. */
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
        text = keep_text(library, tree, id);
        if (!text.text)
            return false;
    }
    if (is_07 && text.len && text.text[0] == '#') {
        struct mx_anchor anchor = {{text.text + 1, text.len - 1}, walk->resource, node, false};

        return text.len == 1 || mx_library_add_anchor(library, anchor, id);
    }
    if (id && !enter_resource(walk, node, text))
        return false;
    is_07 = library->resources[walk->resource].dialect.manner.draft == MX_DRAFT_07;
    return is_07 ||
           (add_own_anchor(walk, node, string_of(tree, node, MCPX_SLICE("$anchor")), false) &&
            add_own_anchor(walk, node, string_of(tree, node, MCPX_SLICE("$dynamicAnchor")),
                           true));
}

/* Walks through the schemas in a keyword's value. */
static bool walk_value(const struct mx_walk *walk, enum mx_shape shape, uint32_t value)
{
    const struct mx_tree *tree = &walk->library->documents[walk->document].tree;
    enum mcpx_json_type type = mx_tree_type(tree, value);
    bool is_map = shape >= MX_SHAPE_DEPENDENCIES || shape == MX_SHAPE_MAP;
    bool is_list = shape == MX_SHAPE_LIST || shape == MX_SHAPE_ITEMS;

    if (shape == MX_SHAPE_NONE)
        return true;
    if (is_map && type == MCPX_JSON_OBJECT) {
        for (uint32_t at = value + 1; at < mx_tree_end(tree, value);
             at = mx_tree_next(tree, at + 1)) {
            if (!mx_walk_schema(*walk, at + 1))
                return false;
        }
    } else if (is_list && type == MCPX_JSON_ARRAY) {
        for (uint32_t at = value + 1; at < mx_tree_end(tree, value);
             at = mx_tree_next(tree, at)) {
            if (!mx_walk_schema(*walk, at))
                return false;
        }
    } else if (shape == MX_SHAPE_SCHEMA || shape == MX_SHAPE_ITEMS) {
        return mx_walk_schema(*walk, value);
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

/* What is no schema is left to its meta-schema. */
bool mx_walk_schema(struct mx_walk walk, uint32_t node)
{
    struct mx_library *library = walk.library;
    const struct mx_tree *tree = &library->documents[walk.document].tree;
    struct mx_manner manner;
    bool only_ref;

    if (mx_tree_type(tree, node) != MCPX_JSON_OBJECT &&
        mx_tree_type(tree, node) != MCPX_JSON_BOOL)
        return true;
    walk.depth++;
    if (!mark(&walk, node) ||
        (mx_tree_type(tree, node) == MCPX_JSON_OBJECT && !take_names(&walk, node)))
        return false;
    library->documents[walk.document].resource_of[node] = walk.resource;
    manner = library->resources[walk.resource].dialect.manner;
    only_ref = manner.draft == MX_DRAFT_07 && mx_tree_member(tree, node, MCPX_SLICE("$ref"));
    if (mx_tree_type(tree, node) != MCPX_JSON_OBJECT)
        return true;
    for (uint32_t at = node + 1; at < mx_tree_end(tree, node);
         at = mx_tree_next(tree, at + 1)) {
        enum mx_keyword key = mx_keyword_find(&library->keywords, mx_tree_inside(tree, at),
                                              tree->nodes[at].hash, manner);
        enum mx_shape shape = key == MX_KEY_COUNT
                                  ? MX_SHAPE_NONE
                                  : (enum mx_shape)library->keywords.rows[key].shape;

        if (only_ref && shape != MX_SHAPE_DEFINITIONS)
            continue;
        if (!walk_value(&walk, shape, at + 1))
            return false;
    }
    return true;
}
