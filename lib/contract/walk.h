/*
 * walk.h - the schemas of a document, and their names.
 */
#ifndef MX_WALK_H
#define MX_WALK_H

#include "lib/contract/library.h"

/** A walk: where it is, and how many schemas are around. */
struct mx_walk {
    struct mx_library *library;
    uint32_t document;
    uint32_t resource;
    uint32_t depth;
};

/** Walks through a schema and all in it. Returns false on failure, which is noted. */
bool mx_walk_schema(struct mx_walk walk, uint32_t node);

/**
 * What a schema that begins a resource is written in. `dialect` is left as it is when the schema
 * does not say. Returns false on failure, which is noted.
 */
bool mx_walk_dialect(const struct mx_walk *walk, uint32_t node, struct mx_dialect *dialect);

#endif
