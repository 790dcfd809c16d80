/*
 * library.h - all documents of a schema, the resources in them (each document, and each schema with
 * an `$id`), and their anchors; and the one table of keywords: their dialects, their vocabulary,
 * and the places of schemas in their values. Their checks are in keyword_*.c.
 */
#ifndef MX_LIBRARY_H
#define MX_LIBRARY_H

#include "lib/base/arena.h"
#include "lib/base/map.h"
#include "lib/json/tree.h"
#include <mcpx/schema.h>
#include <mcpx/text.h>

/** Dialects, as bits. */
enum { MX_DRAFT_07 = 1, MX_DRAFT_2020_12 = 2, MX_DRAFT_BOTH = 3 };

/** Vocabularies of 2020-12, as bits. Draft-07 has none: all of its keywords are known. */
enum {
    MX_VOCABULARY_CORE = 1,
    MX_VOCABULARY_APPLICATOR = 2,
    MX_VOCABULARY_UNEVALUATED = 4,
    MX_VOCABULARY_VALIDATION = 8,
    MX_VOCABULARY_OTHER = 16, /* annotations: meta-data, format, content */
    MX_VOCABULARY_ALL = 31
};

/** The places of schemas in a keyword's value. */
enum mx_shape {
    MX_SHAPE_NONE,
    MX_SHAPE_SCHEMA,       /* it is one */
    MX_SHAPE_LIST,         /* each item */
    MX_SHAPE_MAP,          /* each member's value */
    MX_SHAPE_ITEMS,        /* it is one, or each item of an array */
    MX_SHAPE_DEPENDENCIES, /* each member's value, except arrays */
    MX_SHAPE_DEFINITIONS   /* a map of schemas for references only */
};

/* X(constant, name, dialects, vocabulary, shape) */
#define MX_KEYWORDS(X)                                                                        \
    X(SCHEMA, "$schema", MX_DRAFT_BOTH, CORE, NONE)                                           \
    X(ID, "$id", MX_DRAFT_BOTH, CORE, NONE)                                                   \
    X(ANCHOR, "$anchor", MX_DRAFT_2020_12, CORE, NONE)                                        \
    X(DYNAMIC_ANCHOR, "$dynamicAnchor", MX_DRAFT_2020_12, CORE, NONE)                         \
    X(REF, "$ref", MX_DRAFT_BOTH, CORE, NONE)                                                 \
    X(DYNAMIC_REF, "$dynamicRef", MX_DRAFT_2020_12, CORE, NONE)                               \
    X(VOCABULARY, "$vocabulary", MX_DRAFT_2020_12, CORE, NONE)                                \
    X(DEFS, "$defs", MX_DRAFT_2020_12, CORE, DEFINITIONS)                                     \
    X(DEFINITIONS, "definitions", MX_DRAFT_BOTH, CORE, DEFINITIONS)                           \
    X(ALL_OF, "allOf", MX_DRAFT_BOTH, APPLICATOR, LIST)                                       \
    X(ANY_OF, "anyOf", MX_DRAFT_BOTH, APPLICATOR, LIST)                                       \
    X(ONE_OF, "oneOf", MX_DRAFT_BOTH, APPLICATOR, LIST)                                       \
    X(NOT, "not", MX_DRAFT_BOTH, APPLICATOR, SCHEMA)                                          \
    X(IF, "if", MX_DRAFT_BOTH, APPLICATOR, SCHEMA)                                            \
    X(THEN, "then", MX_DRAFT_BOTH, APPLICATOR, SCHEMA)                                        \
    X(ELSE, "else", MX_DRAFT_BOTH, APPLICATOR, SCHEMA)                                        \
    X(DEPENDENT_SCHEMAS, "dependentSchemas", MX_DRAFT_2020_12, APPLICATOR, MAP)               \
    X(DEPENDENCIES, "dependencies", MX_DRAFT_07, APPLICATOR, DEPENDENCIES)                    \
    X(PREFIX_ITEMS, "prefixItems", MX_DRAFT_2020_12, APPLICATOR, LIST)                        \
    X(ITEMS, "items", MX_DRAFT_BOTH, APPLICATOR, ITEMS)                                       \
    X(ADDITIONAL_ITEMS, "additionalItems", MX_DRAFT_07, APPLICATOR, SCHEMA)                   \
    X(CONTAINS, "contains", MX_DRAFT_BOTH, APPLICATOR, SCHEMA)                                \
    X(PROPERTIES, "properties", MX_DRAFT_BOTH, APPLICATOR, MAP)                               \
    X(PATTERN_PROPERTIES, "patternProperties", MX_DRAFT_BOTH, APPLICATOR, MAP)                \
    X(ADDITIONAL_PROPERTIES, "additionalProperties", MX_DRAFT_BOTH, APPLICATOR, SCHEMA)       \
    X(PROPERTY_NAMES, "propertyNames", MX_DRAFT_BOTH, APPLICATOR, SCHEMA)                     \
    X(UNEVALUATED_ITEMS, "unevaluatedItems", MX_DRAFT_2020_12, UNEVALUATED, SCHEMA)           \
    X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", MX_DRAFT_2020_12, UNEVALUATED, SCHEMA) \
    X(TYPE, "type", MX_DRAFT_BOTH, VALIDATION, NONE)                                          \
    X(ENUM, "enum", MX_DRAFT_BOTH, VALIDATION, NONE)                                          \
    X(CONST, "const", MX_DRAFT_BOTH, VALIDATION, NONE)                                        \
    X(MULTIPLE_OF, "multipleOf", MX_DRAFT_BOTH, VALIDATION, NONE)                             \
    X(MAXIMUM, "maximum", MX_DRAFT_BOTH, VALIDATION, NONE)                                    \
    X(EXCLUSIVE_MAXIMUM, "exclusiveMaximum", MX_DRAFT_BOTH, VALIDATION, NONE)                 \
    X(MINIMUM, "minimum", MX_DRAFT_BOTH, VALIDATION, NONE)                                    \
    X(EXCLUSIVE_MINIMUM, "exclusiveMinimum", MX_DRAFT_BOTH, VALIDATION, NONE)                 \
    X(MAX_LENGTH, "maxLength", MX_DRAFT_BOTH, VALIDATION, NONE)                               \
    X(MIN_LENGTH, "minLength", MX_DRAFT_BOTH, VALIDATION, NONE)                               \
    X(PATTERN, "pattern", MX_DRAFT_BOTH, VALIDATION, NONE)                                    \
    X(MAX_ITEMS, "maxItems", MX_DRAFT_BOTH, VALIDATION, NONE)                                 \
    X(MIN_ITEMS, "minItems", MX_DRAFT_BOTH, VALIDATION, NONE)                                 \
    X(UNIQUE_ITEMS, "uniqueItems", MX_DRAFT_BOTH, VALIDATION, NONE)                           \
    X(MAX_CONTAINS, "maxContains", MX_DRAFT_2020_12, VALIDATION, NONE)                        \
    X(MIN_CONTAINS, "minContains", MX_DRAFT_2020_12, VALIDATION, NONE)                        \
    X(MAX_PROPERTIES, "maxProperties", MX_DRAFT_BOTH, VALIDATION, NONE)                       \
    X(MIN_PROPERTIES, "minProperties", MX_DRAFT_BOTH, VALIDATION, NONE)                       \
    X(REQUIRED, "required", MX_DRAFT_BOTH, VALIDATION, NONE)                                  \
    X(DEPENDENT_REQUIRED, "dependentRequired", MX_DRAFT_2020_12, VALIDATION, NONE)

#define MX_KEYWORD_CONSTANT(constant, name, dialects, vocabulary, shape) MX_KEY_##constant,
enum mx_keyword { MX_KEYWORDS(MX_KEYWORD_CONSTANT) MX_KEY_COUNT };
#undef MX_KEYWORD_CONSTANT

/** A row of the table. */
struct mx_keyword_row {
    struct mcpx_slice name;
    uint8_t drafts;
    uint8_t vocabulary;
    uint8_t shape;
};

extern const struct mx_keyword_row mx_keywords[MX_KEY_COUNT];

/** The dialect and vocabularies of a subschema. */
struct mx_manner {
    uint8_t draft;        /* MX_DRAFT_07 or MX_DRAFT_2020_12 */
    uint8_t vocabularies; /* those with active keywords */
};

/** A dialect. */
struct mx_dialect {
    struct mx_manner manner; /* of its schemas */
    struct mcpx_slice uri;   /* of its meta-schema */
    struct mcpx_slice text;  /* of the meta-schema, unless it is built in */
};

/** The dialect of schemas without `$schema`. */
struct mx_dialect mx_dialect_default(enum mcpx_dialect dialect);

/**
 * The dialect of a `$schema`. The caller is asked for a meta-schema that is not built in.
 *
 * uri       its value, unescaped; borrowed for as long as `out` is used
 * options   the callback, and the dialect of meta-schemas without `$schema`
 * reason    filled on failure, static
 *
 * Returns false for an unknown dialect.
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

/** A document. */
struct mx_document {
    struct mx_tree tree; /* its text is borrowed */
    /* For each node: its resource if it is a schema, else MX_NONE. */
    uint32_t *resource_of;
    /* For each node: room for the number of its subschema, at first MX_NONE. */
    uint32_t *unit_of;
    struct mcpx_slice uri; /* of its origin */
    bool builtin;          /* its schemas are known to be good */
};

/** A named part: a schema resource, or an anchor of one. */
struct mx_resource {
    struct mcpx_slice name; /* a URI without fragment; of an anchor, its own */
    struct mx_place place;
    struct mx_dialect dialect; /* of a resource */
    uint32_t of;               /* the resource of an anchor; MX_NONE: it is a resource */
    bool dynamic;              /* an anchor; others of its name may replace it */
};

/** The documents. Lists grow; a place stays valid. */
struct mx_library {
    const struct mcpx_schema_options *options; /* the caller's */
    uint32_t hashes[MX_KEY_COUNT];             /* of the keywords' names */
    struct mx_arena arena;
    struct mx_map_key key;
    struct mx_map names;
    struct mx_document *documents;
    uint32_t document_count;
    size_t document_room;
    struct mx_resource *resources;
    uint32_t resource_count;
    size_t resource_room;
    /* Places to be checked by the meta-schema of their dialect: a document, a resource in another
     * dialect than its surroundings, a referenced value outside of keywords. */
    struct mx_place *roots;
    uint32_t root_count;
    size_t root_room;
    size_t count;  /* schemas met */
    uint64_t work; /* done so far, besides work in proportion to the text */
    /* MCPX_EINVALID: place, keyword and reason explain the refusal. */
    enum mcpx_err err;
    struct mx_place place;
    const char *keyword;
    const char *reason;
};

/**
 * Makes an empty library. The key of its maps is the digest of the text, because an author cannot
 * predict it. Returns false when memory runs out.
 *
 * library   zeroed
 */
bool mx_library_init(struct mx_library *library, const struct mcpx_schema_options *options,
                     struct mcpx_slice text);

/** Frees it. */
void mx_library_fini(struct mx_library *library);

/** Notes why the schema is unusable; the first reason stays. Both texts are borrowed. */
bool mx_library_refuse(struct mx_library *library, struct mx_place place, const char *keyword,
                       const char *reason);

/**
 * Counts work: skipped values, compared names, bytes of URIs. Returns false, noted, when the schema
 * takes too much.
 */
bool mx_library_spend(struct mx_library *library, struct mx_place place, uint64_t work);

/** Notes that memory ran out. Returns false. */
bool mx_library_starve(struct mx_library *library);

/** The unescaped text of a string or name, kept in `arena`; absent, noted, without memory. */
struct mcpx_slice mx_library_text(struct mx_library *library, struct mx_arena *arena,
                                  const struct mx_tree *tree, uint32_t node);

/**
 * Finds the keywords of a schema.
 *
 * value   filled with the node of each one's value; 0: missing or inactive
 */
void mx_library_keywords(const struct mx_library *library, const struct mx_tree *tree,
                         uint32_t schema, struct mx_manner manner,
                         uint32_t value[MX_KEY_COUNT]);

/** The number of the resource, or of the anchor `of` one, with this name; MX_NONE: none. */
uint32_t mx_library_find(const struct mx_library *library, uint32_t of,
                         struct mcpx_slice name);

/**
 * Adds a resource or anchor. One place can have two names. `value` is the node of the name, for
 * errors. Returns false on failure, noted: another place has the name, or memory ran out.
 */
bool mx_library_add_resource(struct mx_library *library, struct mx_resource resource,
                             uint32_t value);

/** Adds a root of a resource. Returns false on failure, noted. */
bool mx_library_add_root(struct mx_library *library, struct mx_place place, uint32_t resource);

/** Adds the document of `uri`, with its resources. Returns false on failure, noted. */
bool mx_library_add(struct mx_library *library, struct mcpx_slice uri, struct mcpx_slice text);

/**
 * Resolves a reference, perhaps to a document requested from the caller.
 *
 * from   its schema
 * node   its string
 * out    filled with its target
 * name   filled with the name of its target, a dynamic anchor; absent: another target
 *
 * Returns false without a target, or on failure; both are noted.
 */
bool mx_library_follow(struct mx_library *library, struct mx_place from, uint32_t node,
                       struct mx_place *out, struct mcpx_slice *name);

/* ---- references resolved against a base, by RFC 3986 section 5; no documents are requested */

/** Appends the URI of a reference, its fragment included. */
void mx_uri_resolve(struct mcpx_slice base, struct mcpx_slice reference,
                    struct mcpx_text *out);

/** Cuts the fragment, and the "#" before it, off a URI. Gives it; absent: there is none. */
struct mcpx_slice mx_uri_cut(struct mcpx_slice *uri);

/*
 * ---- schemas embedded in the binary by embed.cmake: the meta-schemas of both dialects, one per
 * file of meta/, and the contracts, one per file of schemas/.
 */

/** A built-in document. The URI has no fragment. */
struct mx_builtin {
    struct mcpx_slice uri;
    struct mcpx_slice text;
};

/** All meta-schemas; the last row has no URI. */
extern const struct mx_builtin mx_metas[];

/** All contracts; the last row has no URI. Schemas from outside cannot refer to them. */
extern const struct mx_builtin mx_contracts[];

/** The meta-schema of this URI; NULL when there is none. */
const struct mx_builtin *mx_builtin_find(struct mcpx_slice uri);

/** The meta-schema of a dialect. */
const struct mx_builtin *mx_builtin_meta(enum mcpx_dialect dialect);

#endif
