/*
 * library.c - the lists of a library: resources by their URI, anchors by resource and name. Names
 * come from whoever writes the schema, so their hashes have a key that he does not know.
 */
#include "lib/contract/library.h"
#include "lib/contract/tree_read.h"

#include "lib/core/room.h"

/* Some nanoseconds each. */
enum { WORK_MAX = 4000000 };

bool mx_library_refuse(struct mx_library *library, struct mx_place place, const char *keyword,
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

bool mx_library_spend(struct mx_library *library, struct mx_place place, uint64_t work)
{
    library->work += work;
    return library->work <= WORK_MAX ||
           mx_library_refuse(library, place, "bounds",
                             "must not need more than 4000000 steps to be compiled");
}

bool mx_library_starve(struct mx_library *library)
{
    library->err = MCPX_ENOMEM;
    return false;
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

uint32_t mx_library_find(const struct mx_library *library, struct mcpx_slice uri)
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
bool mx_library_add_resource(struct mx_library *library, struct mx_resource resource)
{
    struct mx_resource *resources;

    if (mx_library_find(library, resource.uri) != MX_NONE)
        return mx_library_refuse(library, resource.place, "$id",
                                 "must not be the name of another schema too");
    resources = (struct mx_resource *)mx_room(library->resources, library->resource_count,
                                              &library->resource_room, sizeof *resources);
    if (!resources)
        return mx_library_starve(library);
    library->resources = resources;
    if (!mx_map_reserve(&library->resource_map))
        return mx_library_starve(library);
    library->resources[library->resource_count++] = resource;
    mx_map_put(&library->resource_map, mx_map_hash(library->key, resource.uri),
               library->resource_count);
    return true;
}

bool mx_library_add_root(struct mx_library *library, struct mx_place place, uint32_t resource)
{
    struct mx_root *roots = (struct mx_root *)mx_room(library->roots, library->root_count,
                                                      &library->root_room, sizeof *roots);

    if (!roots)
        return mx_library_starve(library);
    library->roots = roots;
    roots[library->root_count++] = (struct mx_root){place, resource};
    return true;
}

static uint64_t anchor_hash(const struct mx_library *library, uint32_t resource,
                            struct mcpx_slice name)
{
    return mx_map_hash(library->key, name) + resource * UINT64_C(0x9e3779b97f4a7c15);
}

const struct mx_anchor *mx_library_anchor(const struct mx_library *library, uint32_t resource,
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

bool mx_library_add_anchor(struct mx_library *library, struct mx_anchor anchor, uint32_t value)
{
    uint32_t document = library->resources[anchor.resource].place.document;
    struct mx_anchor *anchors;
    const struct mx_anchor *known = mx_library_anchor(library, anchor.resource, anchor.name);

    if (known && known->node != anchor.node)
        return mx_library_refuse(library, (struct mx_place){document, value}, "$anchor",
                                 "must not be the name of another schema too");
    anchors = (struct mx_anchor *)mx_room(library->anchors, library->anchor_count,
                                          &library->anchor_room, sizeof *anchors);
    if (!anchors)
        return mx_library_starve(library);
    library->anchors = anchors;
    if (!mx_map_reserve(&library->anchor_map))
        return mx_library_starve(library);
    library->anchors[library->anchor_count++] = anchor;
    mx_map_put(&library->anchor_map, anchor_hash(library, anchor.resource, anchor.name),
               library->anchor_count);
    return true;
}
