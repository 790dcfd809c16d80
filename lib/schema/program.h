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
struct mx_compiled_schema;
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

/** A keyword. */
struct mx_action {
    const char *name; /* for errors; NULL for a check that has no keyword of its own */
    /* Checks a value: false when it is not what it should be, or a bound was met. */
    bool (*run)(struct mx_run *run, const struct mx_op *op, uint32_t node);
    /* Appends what is expected; NULL = that is. */
    void (*tell)(const struct mx_op *op, struct mcpx_text *out);
    const char *sentence; /* always the same; or a word of what `tell` appends */
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
    MX_CLASS_STRING, /* in the order of enum mcpx_json_type */
    MX_CLASS_NUMBER,
    MX_CLASS_OBJECT,
    MX_CLASS_ARRAY,
    MX_CLASS_ALL,
    MX_CLASS_LAST, /* unevaluatedItems, unevaluatedProperties */
    MX_CLASS_COUNT
};

/** A subschema. */
struct mx_unit {
    uint32_t begin;    /* its first check */
    uint32_t resource; /* schema resource that it belongs to */
    /* Behind the last check of each class, counted from `begin`. */
    uint8_t end[MX_CLASS_COUNT];
    uint8_t types; /* of the values that it takes; others are refused */
};

/** Subschemas that a name may dynamically lead to: one for each resource that has it. */
struct mx_dynamic {
    uint32_t resource;
    uint32_t unit;
};

/** Where a reference leads, as its check has it. */
struct mx_target {
    uint32_t unit; /* the subschema; that of a dynamic one if nobody on the way has the name */
    uint32_t count;
    /* Where it is dynamic, for each resource that has the name; `count` of them. */
    const struct mx_dynamic *choices;
};

/** A program. */
struct mx_compiled_schema {
    struct mx_arena arena;
    struct mx_unit *units; /* [0] is the schema itself */
    size_t unit_count;
    struct mx_op *ops;
    size_t op_count;
    struct mx_tree constants;  /* values of `enum` and `const`: an array */
    struct mx_regex **regexes; /* all patterns, to be freed with it */
    size_t regex_count;
    struct mx_regex_sums regex_sums;
    bool dynamic; /* it has references that depend on how they were reached */
};

struct mcpx_schema {
    struct mx_compiled_schema program;
    size_t references;
    size_t bytes;
    enum mcpx_dialect dialect; /* of the options it was made with */
    char fingerprint[MCPX_SHA256_LEN + 1];
};

enum { MX_DIALECTS = MCPX_DIALECT_DRAFT_07 + 1 };

/** A shelf. */
struct mcpx_shelf {
    struct mcpx_schema *metas[MX_DIALECTS]; /* compiled meta-schemas */
    struct mcpx_schema **schemas;           /* the one asked for last comes last */
    size_t count;
    size_t room;
    size_t bytes;
    /* What all tools hold of them: bytes by participant, all sets of tools, the newest first, and
     * how often schemas were asked for. */
    struct mx_holders held;
    struct mcpx_tools *tools;
    uint64_t uses;
};

/** Part of an indexed text that is to be judged. */
struct mx_subject {
    const struct mx_tree *tree; /* not ambiguous */
    uint32_t node;              /* the value */
    struct mcpx_slice base;     /* its path, for errors */
    /* Nodes in it, ascending, that are judged by others; skip_count of them. */
    const uint32_t *skip;
    size_t skip_count;
};

/** Judges a part of a text and fills the report. Returns as mcpx_schema_validate. */
enum mcpx_err mx_evaluate(const struct mx_compiled_schema *program,
                          const struct mx_subject *subject, struct mcpx_schema_report *report);

/** Indexes a text, judges it, and fills the report. Returns as mcpx_schema_validate. */
enum mcpx_err mx_evaluate_text(const struct mx_compiled_schema *program,
                               struct mcpx_slice text, bool takes_halves,
                               struct mcpx_schema_report *report);

/** An error in words of ours. */
static inline struct mcpx_schema_error mx_error(const char *path, const char *keyword,
                                                const char *message)
{
    return (struct mcpx_schema_error){mcpx_slice_of(path), mcpx_slice_of(keyword),
                                      mcpx_slice_of(message)};
}

/** Fills the report with one error. Returns MCPX_EINVALID or MCPX_ENOMEM. */
enum mcpx_err mx_report_error(struct mcpx_schema_report *report,
                              struct mcpx_schema_error error);

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
