/*
 * resolve.c - documents, and where references lead in them. A JSON Pointer may lead to where no
 * schema was expected; what it finds there is walked through then, and has to keep its meta-schema
 * like everything else.
 *
 * Documents are asked of the caller by name; this file, like the whole folder, opens nothing.
 */
#include "lib/contract/resolve.h"

#include "lib/contract/tree_find.h"
#include "lib/contract/tree_read.h"
#include "lib/contract/uri.h"
#include "lib/contract/walk.h"

#include "lib/core/room.h"

#include <stdlib.h>

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
    struct mx_document *documents =
        (struct mx_document *)mx_room(library->documents, library->document_count,
                                      &library->document_room, sizeof *documents);
    struct mx_document *document;
    enum mcpx_err err;

    if (!documents)
        return mx_library_starve(library);
    library->documents = documents;
    document = &documents[library->document_count++];
    memset(document, 0, sizeof *document);
    document->text = text;
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

bool mx_library_add(struct mx_library *library, struct mcpx_slice uri, struct mcpx_slice text,
                    struct mcpx_slice pointer, struct mx_place *out)
{
    struct mx_walk walk = {library, library->document_count, library->resource_count, 0};
    struct mx_resource root = {
        {NULL, 0}, {walk.document, 0}, {{0, 0}, NULL, {NULL, 0}, {NULL, 0}}};
    const struct mx_builtin *builtin = mx_builtin_find(uri);

    root.dialect = mx_dialect_default(library->options->dialect);
    root.uri = mx_arena_copy(&library->arena, uri);
    if (!root.uri.text)
        return mx_library_starve(library);
    if (text.len > MCPX_SCHEMA_BYTES_MAX)
        return mx_library_refuse(library, root.place, "bounds",
                                 "must not be longer than 256 KiB");
    if (!read_document(library, text))
        return false;
    library->documents[walk.document].builtin = builtin;
    library->documents[walk.document].uri = root.uri;
    if (!mx_tree_point(&library->documents[walk.document].tree, 0, pointer, &root.place.node))
        return mx_library_refuse(library, root.place, "json",
                                 "must have a value at the pointer");
    if (mx_tree_type(&library->documents[walk.document].tree, root.place.node) ==
            MCPX_JSON_OBJECT &&
        !mx_walk_dialect(&walk, root.place.node, &root.dialect))
        return false;
    if (!mx_library_add_resource(library, root) ||
        !mx_library_add_root(library, root.place, walk.resource))
        return false;
    *out = root.place;
    library->documents[walk.document].resource_of[root.place.node] = walk.resource;
    return mx_walk_schema(walk, root.place.node);
}

/* The resource of this URI, from a document that is asked for if need be. */
static uint32_t fetch_resource(struct mx_library *library, struct mcpx_slice uri)
{
    const struct mx_builtin *builtin;
    struct mcpx_slice text;
    struct mx_place place;
    uint32_t found = mx_library_find(library, uri);

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
    return mx_library_find(library, uri);
}

/* Follows a JSON Pointer in a resource; on the way it may enter others. */
static bool follow_pointer(struct mx_library *library, uint32_t resource,
                           struct mcpx_slice pointer, struct mx_place *out)
{
    struct mx_place place = library->resources[resource].place;
    const struct mx_document *document = &library->documents[place.document];
    struct mx_walk walk = {library, place.document, resource, 0};

    while (pointer.len > 0) {
        size_t len = 1;

        while (len < pointer.len && pointer.text[len] != '/')
            len++;
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
    return mx_library_add_root(library, place, walk.resource) &&
           mx_walk_schema(walk, place.node);
}

/* Follows the fragment of a reference. */
static bool follow_fragment(struct mx_library *library, uint32_t resource,
                            struct mcpx_slice fragment, struct mx_place *out,
                            const struct mx_anchor **anchor)
{
    const struct mx_anchor *found;

    if (fragment.len == 0 || fragment.text[0] == '/')
        return follow_pointer(library, resource, fragment, out);
    found = mx_library_anchor(library, resource, fragment);
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
        mx_library_starve(library);
    mx_library_spend(library, from, uri.len);
    resource = library->err ? MX_NONE : fetch_resource(library, document);
    if (resource != MX_NONE)
        found = follow_fragment(library, resource, mcpx_text_view(&decoded), out, anchor);
    mcpx_text_fini(&uri);
    mcpx_text_fini(&decoded);
    return found || mx_library_refuse(library, from, "$ref",
                                      "must lead to a schema that is known here");
}
