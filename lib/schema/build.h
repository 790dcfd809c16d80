/*
 * build.h - a program under construction. keyword_*.c turn the keywords of a subschema into checks;
 * they request nested subschemas by place, and these are built later.
 */
#ifndef MX_BUILD_H
#define MX_BUILD_H

#include "lib/schema/library.h"
#include "lib/schema/program.h"

/** A reference; its subschema is resolved when all are known. */
struct mx_pending {
    struct mx_place place;    /* its schema */
    uint32_t node;            /* its string */
    struct mx_target *target; /* to be filled */
    bool dynamic;             /* it is `$dynamicRef` */
    size_t name; /* once resolved: 1 + the number of the dynamic anchor's name, or 0 */
};

/**
 * A program in the making.
 *
 * The library holds the schema's error, or the loss of memory.
 */
struct mx_build {
    struct mx_compiled_schema *program;
    struct mx_library *library; /* all documents; units are numbered by place there */
    /* The current subschema: its place, and the node of each keyword's value (0: not there). */
    struct mx_place at;
    const struct mx_tree *tree;
    struct mx_manner manner;
    uint32_t value[MX_KEY_COUNT];
    struct mx_unit unit; /* the subschema to be added */
    size_t unit_room;
    size_t op_room;
    size_t regex_room;
    struct mx_place *wanted; /* places of requested subschemas, by number of unit */
    size_t wanted_count;
    size_t wanted_room;
    struct mx_pending *pending;
    size_t pending_count;
    size_t pending_room;
    struct mcpx_text constants;
    uint32_t constant_nodes; /* of these values, once they are indexed */
    /* The error of a pattern; lent to the library as the reason of the refusal. */
    struct mcpx_text reason;
};

/** Adds a check to the current subschema, behind the others of its class. */
void mx_build_op(struct mx_build *build, enum mx_class class, struct mx_op op);

/** The unit of the subschema at a node of the current document. */
uint32_t mx_build_unit(struct mx_build *build, uint32_t node);

/** The unit of a keyword's value; MX_UNIT_NONE when the keyword is not there. */
uint32_t mx_build_key_unit(struct mx_build *build, enum mx_keyword key);

/** Units of all items of an array; `count` is filled. NULL when memory runs out. */
uint32_t *mx_build_units(struct mx_build *build, uint32_t array, uint32_t *count);

/** Memory that lives as long as the program; NULL, noted, when there is none. */
void *mx_build_take(struct mx_build *build, size_t bytes);

/** The unescaped text of a string or name; it lives as long as the program. */
struct mcpx_slice mx_build_text(struct mx_build *build, uint32_t node);

/** The unit of the subschema at a place. */
uint32_t mx_build_unit_at(struct mx_build *build, struct mx_place place);

/** A keyword's value, a whole number, at most UINT32_MAX; `other` when it is not there. */
uint32_t mx_build_count(struct mx_build *build, enum mx_keyword key, uint32_t other);

/** Compiles a pattern. `node` is the string or name. NULL on failure, noted. */
const struct mx_regex *mx_build_regex(struct mx_build *build, uint32_t node);

/** Counts work besides the reading of the text. False, noted, when it is too much. */
bool mx_build_spend(struct mx_build *build, uint64_t work);

/**
 * Builds the program of the first document, with all schemas in it, so that errors in unused
 * schemas are found, too.
 *
 * build   zeroed, with `program` (zeroed) and `library`
 *
 * Returns MCPX_OK, MCPX_EINVALID or MCPX_ENOMEM.
 */
enum mcpx_err mx_compile(struct mx_build *build);

/** Frees the memory of the construction, but not the program. */
void mx_build_fini(struct mx_build *build);

/** Adds checks of a value by itself: its type, its length, a number's size. */
void mx_keywords_value(struct mx_build *build);

/** Adds checks of the content of objects and arrays. */
void mx_keywords_inside(struct mx_build *build);

/** Adds subschemas for the same value. */
void mx_keywords_logic(struct mx_build *build);

#endif
