/*
 * program.h - a compiled schema: its subschemas, each a list of checks. Immutable once compiled;
 * keyword_*.c define the data of their checks, run.c their order.
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

/** The name of a type in schemas and, with its article, in messages. */
struct mx_type_name {
    uint8_t bit;
    const char *article;
    const char *name;
};

/** All types, in the order of messages; the last row has no name. */
extern const struct mx_type_name mx_type_names[];

/** A keyword. */
struct mx_action {
    const char *name; /* for errors; NULL for a check without a keyword of its own */
    /* Checks a value: false when it is invalid, or a bound was exceeded. */
    bool (*run)(struct mx_run *run, const struct mx_op *op, uint32_t node);
    /* Appends the expectation; NULL = `sentence` is appended. */
    void (*tell)(const struct mx_op *op, struct mcpx_text *out);
    const char *sentence; /* the constant expectation, or a word for `tell` */
};

/** A check. The action defines `a`, `b` and `data`. */
struct mx_op {
    const struct mx_action *action;
    uint32_t a;
    uint32_t b;
    const void *data;
};

/** The values of a check, and its time: checks of a type run before those of all. */
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
    uint32_t resource; /* its schema resource */
    /* Behind the last check of each class, counted from `begin`. */
    uint8_t end[MX_CLASS_COUNT];
    uint8_t types; /* of the accepted values; others are refused */
};

/** Order of two rows by the uint32_t that each begins with, for qsort. */
static inline int mx_compare_rows(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/** A dynamic target of a name: its subschema in one resource. */
struct mx_dynamic {
    uint32_t resource;
    uint32_t unit;
};

/** The target of a reference, for its check. */
struct mx_target {
    uint32_t unit; /* the subschema; of a dynamic one, that without an entered resource */
    uint32_t count;
    /* Of a dynamic one: a row for each resource with the name; `count` of them. */
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
    bool dynamic; /* it has dynamic references */
};

struct mcpx_schema {
    struct mx_compiled_schema program;
    size_t references;
    size_t bytes;
    enum mcpx_dialect dialect; /* of its options */
    char fingerprint[MCPX_SHA256_LEN + 1];
};

enum { MX_DIALECTS = MCPX_DIALECT_DRAFT_07 + 1 };

/** A shelf. */
struct mcpx_shelf {
    struct mcpx_schema *metas[MX_DIALECTS]; /* compiled meta-schemas */
    struct mcpx_schema **schemas;           /* in order of use, the latest last */
    size_t count;
    size_t room;
    size_t bytes;
    /* Schemas held by tools: bytes by participant; all sets of tools, the newest first; the number
     * of uses of schemas. */
    struct mx_holders held;
    struct mcpx_tools *tools;
    uint64_t uses;
};

/** Part of an indexed text to be evaluated. */
struct mx_subject {
    const struct mx_tree *tree; /* not ambiguous */
    uint32_t node;              /* the value */
    struct mcpx_slice base;     /* its path, for errors */
    /* Nodes in it, ascending, to be skipped; skip_count of them. */
    const uint32_t *skip;
    size_t skip_count;
};

/** Evaluates a part of a text and fills the report. Returns as mcpx_schema_validate. */
enum mcpx_err mx_evaluate(const struct mx_compiled_schema *program,
                          const struct mx_subject *subject, struct mcpx_schema_report *report);

/** Indexes a text, evaluates it, and fills the report. Returns as mcpx_schema_validate. */
enum mcpx_err mx_evaluate_text(const struct mx_compiled_schema *program,
                               struct mcpx_slice text, bool takes_halves,
                               struct mcpx_schema_report *report);

/** Makes an error from constant texts. */
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
 * Fills the report with the errors of parts of a document.
 *
 * paths   from the document to each part
 *
 * Returns as mx_report_error.
 */
enum mcpx_err mx_report_parts(struct mcpx_schema_report *report,
                              const struct mcpx_schema_report *parts, const char *const *paths,
                              size_t count);

/**
 * Fills the report when a text is not JSON, or is ambiguous. Returns MCPX_OK for good text,
 * MCPX_EINVALID, or MCPX_ENOMEM.
 */
enum mcpx_err mx_report_unreadable(struct mcpx_schema_report *report, struct mcpx_slice text,
                                   bool takes_halves);

#endif
