/*
 * resolve.c - walks through the schemas of a document and notes what can be referred to. Only where
 * keywords expect schemas: an `$id` in an `enum` is none. A JSON Pointer may lead elsewhere; what it
 * finds there is walked through then, and has to keep its meta-schema like everything else.
 *
 * Documents are asked of the caller by name; this file, like the whole folder, opens nothing.
 */
#include "lib/contract/resolve.h"

#include "lib/contract/uri.h"

#include <stdlib.h>

/* What a walk carries down. */
struct walk {
    struct mx_library *library;
    uint32_t document;
    uint32_t resource;
    uint32_t depth;
};

static bool refuse(struct mx_library *library, struct mx_place place, const char *keyword,
                   const char *reason)
{
    if (library->err)
        return false;
    library->err = MCPX_EINVALID;
    library->place = place;
    library->keyword = keyword;
    library->reason = reason;
    return false;
}

static bool starve(struct mx_library *library)
{
    library->err = MCPX_ENOMEM;
    return false;
}

/* Makes room for one more item. */
static bool grow(void **items, size_t count, size_t *room, size_t size)
{
    size_t more = *room ? *room * 2 : 4;
    void *grown;

    if (count < *room)
        return true;
    grown = realloc(*items, more * size);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}

void mx_library_init(struct mx_library *library, const struct mcpx_schema_options *options,
                     struct mx_map_key key)
{
    memset(library, 0, sizeof *library);
    library->options = options;
    library->key = key;
    mx_keyword_table_fill(&library->keywords);
}

void mx_library_fini(struct mx_library *library)
{
    for (uint32_t i = 0; i < library->document_count; i++) {
        mx_tree_fini(&library->documents[i].tree);
        free(library->documents[i].resource_of);
        free(library->documents[i].unit_of);
    }
    free(library->documents);
    free(library->resources);
    free(library->anchors);
    free(library->roots);
    mx_map_fini(&library->resource_map);
    mx_map_fini(&library->anchor_map);
    mx_arena_fini(&library->arena);
}

const struct mx_resource *mx_library_resource(const struct mx_library *library,
                                              struct mx_place place)
{
    return &library->resources[library->documents[place.document].resource_of[place.node]];
}

static uint32_t find_resource(const struct mx_library *library, struct mcpx_slice uri)
{
    uint64_t hash = mx_map_hash(library->key, uri), value;
    size_t at = 0;

    while ((value = mx_map_next(&library->resource_map, hash, &at)) != 0) {
        if (mcpx_slice_equal(library->resources[value - 1].uri, uri))
            return (uint32_t)(value - 1);
    }
    return MX_NONE;
}

/* Two names of one resource are two resources at one place. */
static bool add_resource(struct mx_library *library, struct mx_resource resource)
{
    if (find_resource(library, resource.uri) != MX_NONE)
        return refuse(library, resource.place, "$id",
                      "must not be the name of another schema too");
    if (!grow((void **)&library->resources, library->resource_count, &library->resource_room,
              sizeof *library->resources) ||
        !mx_map_reserve(&library->resource_map))
        return starve(library);
    library->resources[library->resource_count++] = resource;
    mx_map_put(&library->resource_map, mx_map_hash(library->key, resource.uri),
               library->resource_count);
    return true;
}

static bool add_root(struct mx_library *library, struct mx_place place, uint32_t resource)
{
    if (!grow((void **)&library->roots, library->root_count, &library->root_room,
              sizeof *library->roots))
        return starve(library);
    library->roots[library->root_count++] = (struct mx_root){place, resource};
    return true;
}

static uint64_t anchor_hash(const struct mx_library *library, uint32_t resource,
                            struct mcpx_slice name)
{
    return mx_map_hash(library->key, name) + resource * UINT64_C(0x9e3779b97f4a7c15);
}

static const struct mx_anchor *find_anchor(const struct mx_library *library, uint32_t resource,
                                           struct mcpx_slice name)
{
    uint64_t hash = anchor_hash(library, resource, name), value;
    size_t at = 0;

    while ((value = mx_map_next(&library->anchor_map, hash, &at)) != 0) {
        const struct mx_anchor *anchor = &library->anchors[value - 1];

        if (anchor->resource == resource && mcpx_slice_equal(anchor->name, name))
            return anchor;
    }
    return NULL;
}

static bool add_anchor(struct walk *walk, struct mx_anchor anchor, uint32_t value)
{
    struct mx_library *library = walk->library;
    const struct mx_anchor *known = find_anchor(library, anchor.resource, anchor.name);

    if (known && known->node != anchor.node)
        return refuse(library, (struct mx_place){walk->document, value}, "$anchor",
                      "must not be the name of another schema too");
    if (!grow((void **)&library->anchors, library->anchor_count, &library->anchor_room,
              sizeof *library->anchors) ||
        !mx_map_reserve(&library->anchor_map))
        return starve(library);
    library->anchors[library->anchor_count++] = anchor;
    mx_map_put(&library->anchor_map, anchor_hash(library, anchor.resource, anchor.name),
               library->anchor_count);
    return true;
}

/* A string's text, for as long as the library lives. */
static struct mcpx_slice keep_text(struct mx_library *library, const struct mx_tree *tree,
                                   uint32_t node)
{
    struct mcpx_slice kept = {
        mx_arena_take(&library->arena, tree->nodes[node].end - tree->nodes[node].begin), 0};

    if (kept.text)
        mx_tree_plain(tree, node, (char *)(uintptr_t)kept.text, &kept.len);
    else
        starve(library);
    return kept;
}

/* The value of a schema's keyword that is a string; 0 when it is none. */
static uint32_t string_of(const struct mx_tree *tree, uint32_t schema, struct mcpx_slice name)
{
    uint32_t value = mx_tree_member(tree, schema, name);

    return value && mx_tree_type(tree, value) == MCPX_JSON_STRING ? value : 0;
}

/* What a schema that begins a resource is written in. */
static bool find_dialect(struct walk *walk, uint32_t node, struct mx_dialect *dialect)
{
    const struct mx_tree *tree = &walk->library->documents[walk->document].tree;
    uint32_t value = string_of(tree, node, MCPX_SLICE("$schema"));
    struct mcpx_slice uri;
    const char *reason;

    if (!value)
        return true;
    uri = keep_text(walk->library, tree, value);
    return uri.text && (mx_dialect_find(uri, walk->library->options, dialect, &reason) ||
                        refuse(walk->library, (struct mx_place){walk->document, value},
                               "$schema", reason));
}

static bool add_own_anchor(struct walk *walk, uint32_t node, uint32_t value, bool dynamic)
{
    const struct mx_tree *tree = &walk->library->documents[walk->document].tree;
    struct mx_anchor anchor = {{NULL, 0}, walk->resource, node, dynamic};

    if (!value)
        return true;
    anchor.name = keep_text(walk->library, tree, value);
    return anchor.name.text && add_anchor(walk, anchor, value);
}

/* The schema has an `$id` that names a resource: enters it. */
static bool enter_resource(struct walk *walk, uint32_t node, struct mcpx_slice id)
{
    struct mx_library *library = walk->library;
    struct mx_resource around = library->resources[walk->resource];
    struct mx_resource own = {{NULL, 0}, {walk->document, node}, around.dialect};
    struct mcpx_slice fragment;
    struct mcpx_text uri = {0};
    bool added;

    mx_uri_resolve(around.uri, id, &uri);
    mx_uri_split(mcpx_text_view(&uri), &own.uri, &fragment);
    if (around.place.node == node && mcpx_slice_equal(around.uri, own.uri)) {
        mcpx_text_fini(&uri);
        return true;
    }
    own.uri = mx_arena_copy(&library->arena, own.uri);
    mcpx_text_fini(&uri);
    if (!own.uri.text)
        return starve(library);
    added = (around.place.node == node || find_dialect(walk, node, &own.dialect)) &&
            add_resource(library, own);
    if (!added)
        return false;
    if (memcmp(&own.dialect.manner, &around.dialect.manner, sizeof own.dialect.manner) != 0 ||
        own.dialect.meta != around.dialect.meta)
        added = add_root(library, own.place, library->resource_count - 1);
    walk->resource = library->resource_count - 1;
    return added;
}

/* Takes note of a schema's names. */
static bool take_names(struct walk *walk, uint32_t node)
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

        return text.len == 1 || add_anchor(walk, anchor, id);
    }
    if (id && !enter_resource(walk, node, text))
        return false;
    is_07 = library->resources[walk->resource].dialect.manner.draft == MX_DRAFT_07;
    return is_07 ||
           (add_own_anchor(walk, node, string_of(tree, node, MCPX_SLICE("$anchor")), false) &&
            add_own_anchor(walk, node, string_of(tree, node, MCPX_SLICE("$dynamicAnchor")),
                           true));
}

static bool walk_schema(struct walk walk, uint32_t node);

/* Walks through the schemas in a keyword's value. */
static bool walk_value(const struct walk *walk, enum mx_shape shape, uint32_t value)
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
            if (!walk_schema(*walk, at + 1))
                return false;
        }
    } else if (is_list && type == MCPX_JSON_ARRAY) {
        for (uint32_t at = value + 1; at < mx_tree_end(tree, value);
             at = mx_tree_next(tree, at)) {
            if (!walk_schema(*walk, at))
                return false;
        }
    } else if (shape == MX_SHAPE_SCHEMA || shape == MX_SHAPE_ITEMS) {
        return walk_schema(*walk, value);
    }
    return true;
}

/* Notes that a schema is here. */
static bool mark(struct walk *walk, uint32_t node)
{
    struct mx_library *library = walk->library;
    struct mx_place place = {walk->document, node};

    if (walk->depth > MCPX_SCHEMA_DEPTH_MAX)
        return refuse(library, place, "bounds", "must not be nested deeper than 64 schemas");
    if (!library->documents[walk->document].builtin &&
        ++library->count > MCPX_SCHEMA_COUNT_MAX)
        return refuse(library, place, "bounds", "must not have more than 10000 schemas");
    return true;
}

/* Walks through a schema and all in it. What is no schema is left to its meta-schema. */
static bool walk_schema(struct walk walk, uint32_t node)
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

static uint32_t *new_numbers(size_t count)
{
    uint32_t *numbers = (uint32_t *)malloc((count + 1) * sizeof *numbers);

    if (numbers)
        memset(numbers, 0xff, count * sizeof *numbers); /* MX_NONE */
    return numbers;
}

/* Reads a text as the newest document. */
static bool read_document(struct mx_library *library, struct mcpx_slice text)
{
    struct mx_document *document;
    enum mcpx_err err;

    if (!grow((void **)&library->documents, library->document_count, &library->document_room,
              sizeof *library->documents))
        return starve(library);
    document = &library->documents[library->document_count++];
    memset(document, 0, sizeof *document);
    document->text = text;
    err = mx_tree_read(&document->tree, text, NULL);
    if (err == MCPX_ENOMEM)
        return starve(library);
    if (err || document->tree.ambiguous)
        return refuse(library, (struct mx_place){library->document_count - 1, 0},
                      err ? "json" : "ambiguous",
                      err ? "must be JSON" : "must not be readable in two ways");
    document->resource_of = new_numbers(document->tree.count);
    document->unit_of = new_numbers(document->tree.count);
    return (document->resource_of && document->unit_of) || starve(library);
}

bool mx_library_add(struct mx_library *library, struct mcpx_slice uri, struct mcpx_slice text,
                    struct mcpx_slice pointer, struct mx_place *out)
{
    struct walk walk = {library, library->document_count, library->resource_count, 0};
    struct mx_resource root = {
        {NULL, 0}, {walk.document, 0}, {{0, 0}, NULL, {NULL, 0}, {NULL, 0}}};
    const struct mx_builtin *builtin = mx_builtin_find(uri);

    root.dialect = mx_dialect_default(library->options->dialect);
    root.uri = mx_arena_copy(&library->arena, uri);
    if (!root.uri.text)
        return starve(library);
    if (text.len > MCPX_SCHEMA_BYTES_MAX)
        return refuse(library, root.place, "bounds", "must not be longer than 256 KiB");
    if (!read_document(library, text))
        return false;
    library->documents[walk.document].builtin = builtin;
    library->documents[walk.document].uri = root.uri;
    if (!mx_tree_point(&library->documents[walk.document].tree, 0, pointer, &root.place.node))
        return refuse(library, root.place, "json", "must have a value at the pointer");
    if (mx_tree_type(&library->documents[walk.document].tree, root.place.node) ==
            MCPX_JSON_OBJECT &&
        !find_dialect(&walk, root.place.node, &root.dialect))
        return false;
    if (!add_resource(library, root) || !add_root(library, root.place, walk.resource))
        return false;
    *out = root.place;
    library->documents[walk.document].resource_of[root.place.node] = walk.resource;
    return walk_schema(walk, root.place.node);
}

/* The resource of this URI, from a document that is asked for if need be. */
static uint32_t fetch_resource(struct mx_library *library, struct mcpx_slice uri)
{
    const struct mx_builtin *builtin;
    struct mcpx_slice text;
    struct mx_place place;
    uint32_t found = find_resource(library, uri);

    if (found != MX_NONE)
        return found;
    builtin = mx_builtin_find(uri);
    if (builtin)
        text = builtin->text;
    else if (!library->options->find ||
             !library->options->find(library->options->context, uri, &text))
        return MX_NONE;
    if (!mx_library_add(library, uri, text, (struct mcpx_slice){NULL, 0}, &place))
        return MX_NONE;
    return find_resource(library, uri);
}

/* Follows a JSON Pointer in a resource; on the way it may enter others. */
static bool follow_pointer(struct mx_library *library, uint32_t resource,
                           struct mcpx_slice pointer, struct mx_place *out)
{
    struct mx_place place = library->resources[resource].place;
    const struct mx_document *document = &library->documents[place.document];
    struct walk walk = {library, place.document, resource, 0};

    while (pointer.len > 0) {
        size_t len = 1;

        while (len < pointer.len && pointer.text[len] != '/')
            len++;
        if (!mx_tree_point(&document->tree, place.node, (struct mcpx_slice){pointer.text, len},
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
    return add_root(library, place, walk.resource) && walk_schema(walk, place.node);
}

/* Follows the fragment of a reference. */
static bool follow_fragment(struct mx_library *library, uint32_t resource,
                            struct mcpx_slice fragment, struct mx_place *out,
                            const struct mx_anchor **anchor)
{
    const struct mx_anchor *found;

    if (fragment.len == 0 || fragment.text[0] == '/')
        return follow_pointer(library, resource, fragment, out);
    found = find_anchor(library, resource, fragment);
    if (!found)
        return false;
    *out = (struct mx_place){library->resources[resource].place.document, found->node};
    if (found->dynamic)
        *anchor = found;
    return true;
}

bool mx_library_follow(struct mx_library *library, struct mx_place from,
                       struct mcpx_slice reference, struct mx_place *out,
                       const struct mx_anchor **anchor)
{
    struct mcpx_text uri = {0}, decoded = {0};
    struct mcpx_slice document, fragment;
    uint32_t resource;
    bool found = false;

    *anchor = NULL;
    mx_uri_resolve(mx_library_resource(library, from)->uri, reference, &uri);
    mx_uri_split(mcpx_text_view(&uri), &document, &fragment);
    mx_uri_decode(fragment, &decoded);
    if (uri.failed || decoded.failed)
        starve(library);
    resource = library->err ? MX_NONE : fetch_resource(library, document);
    if (resource != MX_NONE)
        found = follow_fragment(library, resource, mcpx_text_view(&decoded), out, anchor);
    mcpx_text_fini(&uri);
    mcpx_text_fini(&decoded);
    return found || refuse(library, from, "$ref", "must lead to a schema that is known here");
}
