/*
 * build.h - a program while it is made. keyword_*.c turn the keywords of a subschema into checks;
 * subschemas that they meet are asked for by their place and made later.
 */
#ifndef MX_BUILD_H
#define MX_BUILD_H

#include "lib/schema/library.h"
#include "lib/schema/program.h"

/** A reference whose subschema is found when all are known. */
struct mx_pending {
    struct mx_place place;    /* the schema in which it stands */
    uint32_t node;            /* its string */
    struct mx_target *target; /* to be filled */
    bool dynamic;             /* it is `$dynamicRef` */
    size_t name; /* once it is found: 1 + the number of the dynamic anchor's name, or 0 */
};

/**
 * A program in the making.
 *
 * What is wrong with the schema, or that memory ran out, is noted in the library.
 */
struct mx_build {
    struct mx_compiled_schema *program;
    struct mx_library *library; /* all documents; units are numbered by place there */
    /* The subschema at hand: where it stands, what each keyword's value is (0: not there). */
    struct mx_place at;
    const struct mx_tree *tree;
    struct mx_manner manner;
    uint32_t value[MX_KEY_COUNT];
    struct mx_unit unit; /* the same, as it will be */
    size_t unit_room;
    size_t op_room;
    size_t regex_room;
    struct mx_place *wanted; /* places whose subschemas were asked for, by number of unit */
    size_t wanted_count;
    size_t wanted_room;
    struct mx_pending *pending;
    size_t pending_count;
    size_t pending_room;
    struct mcpx_text constants;
    uint32_t constant_nodes; /* of these values, once they are indexed */
    /* Why a pattern is none; the library lends it when it says why the schema is unusable. */
    struct mcpx_text reason;
};

/** Adds a check to the subschema at hand: behind those of its class. */
void mx_build_op(struct mx_build *build, enum mx_class class, struct mx_op op);

/** The unit of the subschema that a node of the document at hand is. */
uint32_t mx_build_unit(struct mx_build *build, uint32_t node);

/** The unit of a keyword's value; MX_UNIT_NONE when the keyword is not there. */
uint32_t mx_build_key_unit(struct mx_build *build, enum mx_keyword key);

/** Units of all items of an array; `count` is filled. NULL when memory runs out. */
uint32_t *mx_build_units(struct mx_build *build, uint32_t array, uint32_t *count);

/** Memory that lives as long as the program; NULL when there is none, which is noted. */
void *mx_build_take(struct mx_build *build, size_t bytes);

/** A string's or name's text, unescaped, that lives as long as the program. */
struct mcpx_slice mx_build_text(struct mx_build *build, uint32_t node);

/** The unit of the subschema at a place. */
uint32_t mx_build_unit_at(struct mx_build *build, struct mx_place place);

/** A keyword's value that is a whole number, at most UINT32_MAX; `other` when it is not there. */
uint32_t mx_build_count(struct mx_build *build, enum mx_keyword key, uint32_t other);

/** Compiles a pattern. `node` is the string or name. NULL on failure, which is noted. */
const struct mx_regex *mx_build_regex(struct mx_build *build, uint32_t node);

/** Counts work that is done besides reading the text. False when it is too much: noted. */
bool mx_build_spend(struct mx_build *build, uint64_t work);

/**
 * Makes the program of the first document, and of all schemas in it, so that a fault is found where
 * nothing refers to it too.
 *
 * build   zeroed, with `program` (zeroed) and `library`
 *
 * Returns MCPX_OK, MCPX_EINVALID or MCPX_ENOMEM.
 */
enum mcpx_err mx_compile(struct mx_build *build);

/** Frees what making a program took, but not the program. */
void mx_build_fini(struct mx_build *build);

/** What is checked of a value by itself: its type, its length, a number's size. */
void mx_keywords_value(struct mx_build *build);

/** What objects and arrays hold. */
void mx_keywords_inside(struct mx_build *build);

/** Subschemas that judge the same value. */
void mx_keywords_logic(struct mx_build *build);

#endif
