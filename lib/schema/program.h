/*
 * program.h - a compiled schema: its subschemas, each a list of what to check. Immutable once
 * compiled; keyword_*.c know what their checks need, run.c in which order they are made.
 */
#ifndef MX_PROGRAM_H
#define MX_PROGRAM_H

#include "lib/base/arena.h"
#include "lib/base/holders.h"
#include "lib/json/tree.h"
#include "lib/schema/regex.h"

#include <mcpx/digest.h>
#include <mcpx/schema.h>

struct mx_op;
struct mx_program;
struct mx_run;

/** No subschema. */
#define MX_UNIT_NONE UINT32_MAX

/** Bits of a unit's types: 1 << enum mcpx_json_type, and one for whole numbers alone. */
enum {
    MX_TYPE_INTEGER = 1 << 7,
    MX_TYPE_ANY = 1 << MCPX_JSON_STRING | 1 << MCPX_JSON_NUMBER | 1 << MCPX_JSON_OBJECT |
                  1 << MCPX_JSON_ARRAY | 1 << MCPX_JSON_BOOL | 1 << MCPX_JSON_NULL
};

/** What a type is called in schemas and, with its article, in messages. */
struct mx_type_name {
    uint8_t bit;
    const char *article;
    const char *name;
};

/** All types, in the order of messages; the last row has no name. */
extern const struct mx_type_name mx_type_names[];

/**
 * A keyword.
 *
 * name       for errors; NULL for a check that has no keyword of its own
 * run        checks a value: false when it is not what it should be, or a bound was met
 * tell       appends what is expected; NULL = that is
 * sentence   always the same
 */
struct mx_action {
    const char *name;
    bool (*run)(struct mx_run *run, const struct mx_op *op, uint32_t node);
    void (*tell)(const struct mx_op *op, struct mcpx_text *out);
    const char *sentence;
};

/** A check. What `a`, `b` and `data` are is the action's. */
struct mx_op {
    const struct mx_action *action;
    uint32_t a;
    uint32_t b;
    const void *data;
};

/** For which values a check is made, and when: those of a type first, then those of all. */
enum mx_class {
    MX_CLASS_STRING,
    MX_CLASS_NUMBER,
    MX_CLASS_OBJECT,
    MX_CLASS_ARRAY,
    MX_CLASS_ALL,
    MX_CLASS_LAST, /* unevaluatedItems, unevaluatedProperties */
    MX_CLASS_COUNT
};

/**
 * A subschema.
 *
 * begin         its first check
 * end           behind the last check of each class, counted from `begin`
 * resource      schema resource that it belongs to
 * types         of the values that it takes; others are refused
 * never         the schema `false`
 * unevaluated   some of its checks ask what others have looked at
 */
struct mx_unit {
    uint32_t begin;
    uint32_t resource;
    uint8_t end[MX_CLASS_COUNT];
    uint8_t types;
    bool never;
    bool unevaluated;
};

/** Subschemas that a name may dynamically lead to: one for each resource that has it. */
struct mx_dynamic {
    uint32_t resource;
    uint32_t unit;
};

/**
 * Where a reference leads, as its check has it.
 *
 * unit      the subschema; that of a dynamic one if nobody on the way has the name
 * choices   of a dynamic one, for each resource that has the name; `count` of them
 * dynamic   it is `$dynamicRef`; once it is resolved: and leads to a dynamic anchor
 */
struct mx_target {
    uint32_t unit;
    uint32_t count;
    const struct mx_dynamic *choices;
    bool dynamic;
};

/**
 * A program.
 *
 * units       [0] is the schema itself
 * constants   values of `enum` and `const`: an array
 * values      node of each in `constants`
 * regexes     all patterns, to be freed with it
 * dynamic     it has references that depend on how they were reached
 */
struct mx_program {
    struct mx_arena arena;
    struct mx_unit *units;
    size_t unit_count;
    struct mx_op *ops;
    size_t op_count;
    struct mx_tree constants;
    uint32_t *values;
    size_t value_count;
    struct mx_regex **regexes;
    size_t regex_count;
    struct mx_regex_sums regex_sums;
    bool dynamic;
};

struct mcpx_schema {
    struct mx_program program;
    size_t references;
    size_t bytes;
    enum mcpx_dialect dialect; /* of the options it was made with */
    char fingerprint[MCPX_SHA256_LEN + 1];
};

/**
 * What all tools of a shelf hold.
 *
 * held    bytes of compiled schemas, by participant
 * first   all sets of tools, the newest first
 * uses    schemas asked for so far
 */
struct mx_tools_share {
    struct mx_holders held;
    struct mcpx_tools *first;
    uint64_t uses;
};

/** Lent for as long as the shelf lives. */
struct mx_tools_share *mx_shelf_share(struct mcpx_shelf *shelf);

/**
 * Part of an indexed text that is to be judged.
 *
 * tree         not ambiguous
 * node         the value
 * base         its path, for errors
 * skip         nodes in it, ascending, that are judged by others; skip_count of them
 */
struct mx_subject {
    const struct mx_tree *tree;
    uint32_t node;
    struct mcpx_slice base;
    const uint32_t *skip;
    size_t skip_count;
};

/** Judges a part of a text and fills the report. Returns as mcpx_schema_validate. */
enum mcpx_err mx_evaluate(const struct mx_program *program, const struct mx_subject *subject,
                          struct mcpx_schema_report *report);

/** Indexes a text, judges it, and fills the report. Returns as mcpx_schema_validate. */
enum mcpx_err mx_evaluate_text(const struct mx_program *program, struct mcpx_slice text,
                               bool takes_halves, struct mcpx_schema_report *report);

/** Fills the report with one error. Returns MCPX_EINVALID or MCPX_ENOMEM. */
enum mcpx_err mx_report_error(struct mcpx_schema_report *report, struct mcpx_slice path,
                              struct mcpx_slice keyword, struct mcpx_slice message);

/**
 * Fills the report with what was found in parts of a document.
 *
 * paths   from the document to each part
 *
 * Returns as mx_report_error.
 */
enum mcpx_err mx_report_parts(struct mcpx_schema_report *report,
                              const struct mcpx_schema_report *parts, const char *const *paths,
                              size_t count);

/**
 * Fills the report when a text is no JSON or ambiguous. Returns MCPX_OK when it is neither,
 * MCPX_EINVALID, or MCPX_ENOMEM.
 */
enum mcpx_err mx_report_unreadable(struct mcpx_schema_report *report, struct mcpx_slice text,
                                   bool takes_halves);

#endif
