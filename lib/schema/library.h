/*
 * library.h - all documents that a schema is made of, the resources in them (what has an `$id`, and
 * each document), and their anchors.
 */
#ifndef MX_LIBRARY_H
#define MX_LIBRARY_H

#include "lib/base/arena.h"
#include "lib/base/map.h"
#include "lib/json/tree.h"
#include "lib/schema/keyword.h"
#include <mcpx/schema.h>
#include <mcpx/text.h>

/**
 * A dialect.
 *
 * manner   of its schemas
 * meta     built-in meta-schema, or NULL
 * text     of a meta-schema that is not built in
 */
struct mx_dialect {
    struct mx_manner manner;
    const struct mx_builtin *meta;
    struct mcpx_slice uri;
    struct mcpx_slice text;
};

/** The dialect where a schema names none. */
struct mx_dialect mx_dialect_default(enum mcpx_dialect dialect);

/**
 * The dialect that a `$schema` names. A meta-schema that is not built in is asked for.
 *
 * uri       as it stands there, unescaped; borrowed for as long as `out` is used
 * options   how to ask, and what a meta-schema is written in that does not say so
 * reason    filled on failure, static
 *
 * Returns false when there is no such dialect here.
 */
bool mx_dialect_find(struct mcpx_slice uri, const struct mcpx_schema_options *options,
                     struct mx_dialect *out, const char **reason);

/** Not the number of anything. */
#define MX_NONE UINT32_MAX

/** A place in a document. */
struct mx_place {
    uint32_t document;
    uint32_t node;
};

/**
 * A document.
 *
 * text          borrowed
 * resource_of   for each node: the resource that it belongs to if it is a schema, else MX_NONE
 * unit_of       for each node: room for the number of its subschema, at first MX_NONE
 * uri           where it comes from
 * builtin       its schemas are known to be good
 */
struct mx_document {
    struct mcpx_slice text;
    struct mx_tree tree;
    uint32_t *resource_of;
    uint32_t *unit_of;
    struct mcpx_slice uri;
    bool builtin;
};

/** A schema resource. The URI has no fragment. */
struct mx_resource {
    struct mcpx_slice uri;
    struct mx_place place;
    struct mx_dialect dialect;
};

/** A name within a resource. */
struct mx_anchor {
    struct mcpx_slice name;
    uint32_t resource;
    uint32_t node;
    bool dynamic;
};

/**
 * Where a schema begins that has to keep the meta-schema of its dialect: a document, a resource in
 * another dialect than what is around it, a value in which no schema was expected.
 */
struct mx_root {
    struct mx_place place;
    uint32_t resource;
};

/**
 * The documents. Lists grow; places stay what they are.
 *
 * options        the caller's
 * count          schemas met
 * work           done so far, besides what goes by the length of the text
 * err            MCPX_EINVALID: place, keyword and reason say where and why it cannot be used
 */
struct mx_library {
    const struct mcpx_schema_options *options;
    struct mx_keyword_table keywords;
    struct mx_arena arena;
    struct mx_map_key key;
    struct mx_map resource_map;
    struct mx_map anchor_map;
    struct mx_document *documents;
    uint32_t document_count;
    size_t document_room;
    struct mx_resource *resources;
    uint32_t resource_count;
    size_t resource_room;
    struct mx_anchor *anchors;
    uint32_t anchor_count;
    size_t anchor_room;
    struct mx_root *roots;
    uint32_t root_count;
    size_t root_room;
    size_t count;
    uint64_t work;
    enum mcpx_err err;
    struct mx_place place;
    const char *keyword;
    const char *reason;
};

/** Makes an empty library. `key` is not to be foreseen by whoever writes the schema. */
void mx_library_init(struct mx_library *library, const struct mcpx_schema_options *options,
                     struct mx_map_key key);

/** Frees it. */
void mx_library_fini(struct mx_library *library);

/** The resource that a schema belongs to. */
const struct mx_resource *mx_library_resource(const struct mx_library *library,
                                              struct mx_place place);

/** Notes why the schema cannot be used, unless that is known. Both texts are borrowed. */
bool mx_library_refuse(struct mx_library *library, struct mx_place place, const char *keyword,
                       const char *reason);

/**
 * Counts work: values passed over, names compared, bytes of URIs. Returns false when the schema
 * takes too much, which is noted.
 */
bool mx_library_spend(struct mx_library *library, struct mx_place place, uint64_t work);

/** Notes that memory ran out. Returns false. */
bool mx_library_starve(struct mx_library *library);

/** The number of the resource with this URI; MX_NONE when there is none. */
uint32_t mx_library_find(const struct mx_library *library, struct mcpx_slice uri);

/**
 * Adds a resource. One place can have two names. Returns false on failure, which is noted: the name
 * is taken, or memory ran out.
 */
bool mx_library_add_resource(struct mx_library *library, struct mx_resource resource);

/** Adds a root. Returns false on failure, which is noted. */
bool mx_library_add_root(struct mx_library *library, struct mx_place place, uint32_t resource);

/** The anchor of this name in a resource; NULL when there is none. Lent until one is added. */
const struct mx_anchor *mx_library_anchor(const struct mx_library *library, uint32_t resource,
                                          struct mcpx_slice name);

/**
 * Adds an anchor. `value` is the node that holds its name. Returns false on failure, which is
 * noted: another schema has the name, or memory ran out.
 */
bool mx_library_add_anchor(struct mx_library *library, struct mx_anchor anchor,
                           uint32_t value);

/**
 * Adds a document and what is in it.
 *
 * uri   where it comes from
 * out   filled with the place of its root
 *
 * Returns false on failure, which is noted.
 */
bool mx_library_add(struct mx_library *library, struct mcpx_slice uri, struct mcpx_slice text,
                    struct mx_place *out);

/**
 * Follows a reference that stands at a place, perhaps to a document that has to be asked for.
 *
 * out      filled with where it leads
 * anchor   filled with the dynamic anchor that it leads to, or NULL; lent until a document is added
 *
 * Returns false when it leads nowhere, or on failure; both are noted.
 */
bool mx_library_follow(struct mx_library *library, struct mx_place from,
                       struct mcpx_slice reference, struct mx_place *out,
                       const struct mx_anchor **anchor);

/*
 * ---- references resolved against a base, as RFC 3986 section 5 says. Nothing is looked up.
 */

/** Appends the URI that a reference stands for, its fragment included. */
void mx_uri_resolve(struct mcpx_slice base, struct mcpx_slice reference,
                    struct mcpx_text *out);

/** Cuts a URI at its "#". The fragment is absent when there is none. Both are parts of `uri`. */
void mx_uri_split(struct mcpx_slice uri, struct mcpx_slice *document,
                  struct mcpx_slice *fragment);

/** Appends a text with its percent escapes undone. What is no escape stays. */
void mx_uri_decode(struct mcpx_slice text, struct mcpx_text *out);

/*
 * ---- schemas that are compiled into the program by embed.cmake: the meta-schemas of both
 * dialects, one per file of meta/, and the contracts, one per file of schemas/.
 */

/** A built-in document. The URI has no fragment. */
struct mx_builtin {
    struct mcpx_slice uri;
    struct mcpx_slice text;
};

/** All meta-schemas; the last row has no URI. */
extern const struct mx_builtin mx_metas[];

/** All contracts; the last row has no URI. Schemas of others cannot refer to them. */
extern const struct mx_builtin mx_contracts[];

/** The meta-schema of this URI; NULL when there is none. */
const struct mx_builtin *mx_builtin_find(struct mcpx_slice uri);

/** The meta-schema of a dialect. */
const struct mx_builtin *mx_builtin_meta(enum mcpx_dialect dialect);

#endif
