/*
 * keyword.h - the one table of keywords: in which dialects and vocabularies they are, and where in
 * their values schemas stand. What they check is in keyword_*.c.
 */
#ifndef MX_KEYWORD_H
#define MX_KEYWORD_H

#include <mcpx/base.h>

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

/** Where schemas stand in a keyword's value. */
enum mx_shape {
    MX_SHAPE_NONE,
    MX_SHAPE_SCHEMA,       /* it is one */
    MX_SHAPE_LIST,         /* each item */
    MX_SHAPE_MAP,          /* each member's value */
    MX_SHAPE_ITEMS,        /* it is one, or each item of an array */
    MX_SHAPE_DEPENDENCIES, /* each member's value that is no array */
    MX_SHAPE_DEFINITIONS   /* a map of what is only referred to */
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
    uint32_t hash;
    uint8_t drafts;
    uint8_t vocabulary;
    uint8_t shape;
};

/** What a subschema is written in. */
struct mx_manner {
    uint8_t draft;        /* MX_DRAFT_07 or MX_DRAFT_2020_12 */
    uint8_t vocabularies; /* those whose keywords mean something */
};

/** Keywords by the hash of their name. */
struct mx_keyword_table {
    struct mx_keyword_row rows[MX_KEY_COUNT];
    uint8_t slots[256]; /* 1 + a row; 0 = free */
};

/** The keyword of this name, MX_KEY_COUNT when there is none in that manner. */
enum mx_keyword mx_keyword_find(const struct mx_keyword_table *table, struct mcpx_slice name,
                                uint32_t hash, struct mx_manner manner);

#endif
