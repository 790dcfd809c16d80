/*
 * schema.h - validates documents with JSON Schema, and reports where and why one is not valid.
 * Dialects 2020-12 and draft-07. Numbers are compared as decimals, not as doubles. Nothing is ever
 * fetched. An unusable schema makes no document valid.
 */
#ifndef MCPX_SCHEMA_H
#define MCPX_SCHEMA_H

#include <mcpx/error.h>
#include <mcpx/text.h>

MCPX_BEGIN_C

/** Bounds of one schema. */
#define MCPX_SCHEMA_BYTES_MAX (256 * 1024)
#define MCPX_SCHEMA_DEPTH_MAX 64
#define MCPX_SCHEMA_COUNT_MAX 10000
#define MCPX_SCHEMA_PATTERN_MAX 4096
#define MCPX_SCHEMA_PATTERNS_MAX (128 * 1024) /* all of them, as PCRE2 has compiled them */

/**
 * Limit of the compiled schemas of one participant's tools, in bytes; terms can change it
 * (mcpx_terms_limit). All schemas of a shelf take 64 MiB at most. Beyond that the participant with
 * most of them loses its least recently used one; the next use compiles it again.
 */
#define MCPX_SCHEMA_SHARE (16 * 1024 * 1024)

/** Errors that a report keeps. */
#define MCPX_SCHEMA_ERRORS_MAX 10

/** The dialect of a schema without `$schema`. */
enum mcpx_dialect { MCPX_DIALECT_2020_12 = 0, MCPX_DIALECT_DRAFT_07 };

/** One error of a document. */
struct mcpx_schema_error {
    /* JSON Pointer to the value, or to where a missing member would be. */
    struct mcpx_slice path;
    struct mcpx_slice keyword; /* of the schema, or `json`, `ambiguous`, `bounds` */
    struct mcpx_slice message; /* the expected value; never the one found */
};

/** The verdict on a document. UNKNOWN: a bound was exceeded; it does not count as valid. */
enum mcpx_verdict { MCPX_VERDICT_VALID = 0, MCPX_VERDICT_INVALID, MCPX_VERDICT_UNKNOWN };

/**
 * The result of a validation. It keeps the working memory for the next document. Zero-initialised
 * is empty and ready. One thread at a time.
 */
struct mcpx_schema_report {
    enum mcpx_verdict verdict; /* on the document */
    size_t count; /* errors, the first ones by path, then by keyword, byte by byte */
    /* Lent until the report is used again. */
    struct mcpx_schema_error errors[MCPX_SCHEMA_ERRORS_MAX];
    struct mx_workspace *workspace; /* private */
};

/** Frees what a report holds and leaves an empty one. */
MCPX_API void mcpx_schema_report_fini(struct mcpx_schema_report *report);

/**
 * How to read a schema. Zero-initialised is a whole text in 2020-12 that refers to nothing outside.
 */
struct mcpx_schema_options {
    enum mcpx_dialect dialect; /* where a schema has no `$schema` */
    /* Where the text comes from: the base of its references; absent: none. */
    struct mcpx_slice uri;
    /* The schema is a part of the text: JSON Pointer to it. "#" is that part, not the text.
     * Nothing else in the text counts, nor does its length. */
    struct mcpx_slice pointer;
    /* Finds a document that is not known yet, by its URI without fragment. Returns true and lends
     * its text until the schema is compiled, or returns false. May be NULL. */
    bool (*find)(void *context, struct mcpx_slice uri, struct mcpx_slice *text);
    void *context; /* handed to `find` */
};

/**
 * A compiled schema: immutable, counted. Any number of threads may validate with it, each with a
 * report of its own. Only one thread at a time may take and give back references.
 */
struct mcpx_schema;

/**
 * Compiled schemas by fingerprint, the SHA-256 of their canonical JSON. Equal schemas are one
 * object. One thread at a time. Referenced schemas may outlive the shelf.
 */
struct mcpx_shelf;

/** Makes an empty shelf; NULL when memory runs out. */
MCPX_API struct mcpx_shelf *mcpx_shelf_new(void);

/** Frees a shelf. Schemas that others hold live on. */
MCPX_API void mcpx_shelf_free(struct mcpx_shelf *shelf);

/** Compiled schemas on the shelf, for tests and reports. */
MCPX_API size_t mcpx_shelf_count(const struct mcpx_shelf *shelf);

/** Bytes of memory that the schemas on the shelf hold; at most 64 MiB after each addition. */
MCPX_API size_t mcpx_shelf_bytes(const struct mcpx_shelf *shelf);

/**
 * Compiles a schema, or finds it on the shelf.
 *
 * text      borrowed
 * options   borrowed; NULL: all defaults. A schema that refers to documents of `find` is compiled
 *           each time and not kept on the shelf.
 * report    filled when the schema is unusable: paths lead into the schema, or begin with the URI
 *           of another document and "#"; may be NULL
 * out       filled with a schema of which the caller owns one reference; untouched on failure
 *
 * Returns MCPX_OK; MCPX_EINVALID when the schema is unusable; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_schema_compile(struct mcpx_shelf *shelf, struct mcpx_slice text,
                                           const struct mcpx_schema_options *options,
                                           struct mcpx_schema_report *report,
                                           struct mcpx_schema **out);

/** Takes one more reference; returns the schema. */
MCPX_API struct mcpx_schema *mcpx_schema_ref(struct mcpx_schema *schema);

/** Gives a reference back. */
MCPX_API void mcpx_schema_unref(struct mcpx_schema *schema);

/** The fingerprint: 64 lower-case hexadecimal digits. Lent for as long as the schema lives. */
MCPX_API struct mcpx_slice mcpx_schema_fingerprint(const struct mcpx_schema *schema);

/**
 * Validates a document.
 *
 * text     borrowed
 * report   filled: verdict and errors
 *
 * Returns MCPX_OK when it is valid; MCPX_EINVALID when it is not valid, not JSON, or ambiguous;
 * MCPX_ELIMIT when a bound was exceeded; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_schema_validate(const struct mcpx_schema *schema,
                                            struct mcpx_slice text,
                                            struct mcpx_schema_report *report);

/** The schemas of a server's tools, by the tools' names. One thread at a time. */
struct mcpx_tools;

/** The schema of a tool's arguments, or the schema of its results. */
enum mcpx_tool_side { MCPX_TOOL_INPUT = 0, MCPX_TOOL_OUTPUT };

/** One of a tool's schemas. */
struct mcpx_tool_schema {
    /* Lent until the next mcpx_tools_schema for any tools of the shelf, or until the tools are
     * freed; a caller that keeps it longer must take a reference. */
    const struct mcpx_schema *schema;
    bool declared; /* false when the tool has none: the schema then takes every value */
};

/**
 * Makes an empty set; NULL when memory runs out. The shelf outlives it.
 *
 * participant   whose tools they are, for MCPX_SCHEMA_SHARE; copied. Absent: no participant
 */
MCPX_API struct mcpx_tools *mcpx_tools_new(struct mcpx_shelf *shelf,
                                           struct mcpx_slice participant);

/** Frees a set and what it lends. */
MCPX_API void mcpx_tools_free(struct mcpx_tools *tools);

/**
 * Adds the tools of one page of a `tools/list` result. Of two tools with one name the first counts.
 * An entry is left out when it is not an object with a string `name`, or is nested too deeply.
 * Nothing is compiled yet.
 *
 * result   the result: an object with an array `tools`; borrowed
 * fault    filled on MCPX_EINVALID; may be NULL
 *
 * Returns MCPX_OK; MCPX_EINVALID when `result` is not such an object; MCPX_EUTF8; MCPX_ENOMEM. On
 * failure nothing is added.
 */
MCPX_API enum mcpx_err mcpx_tools_add(struct mcpx_tools *tools, struct mcpx_slice result,
                                      struct mcpx_fault *fault);

/**
 * Appends the entries left out and the unusable schemas, with reasons: sentences for people, each
 * with a newline. The first ten of either are named. It compiles schemas for some milliseconds;
 * each remaining one is checked at its tool's first call.
 */
MCPX_API void mcpx_tools_doubts_add(struct mcpx_text *out, struct mcpx_tools *tools);

/** Tools in the set. */
MCPX_API size_t mcpx_tools_count(const struct mcpx_tools *tools);

/** The name of a tool, in the order of the list. Lent until the tools are freed. */
MCPX_API struct mcpx_slice mcpx_tools_name(const struct mcpx_tools *tools, size_t index);

/**
 * Finds a schema of a tool. The first call compiles it. A schema that is unusable, or exceeds its
 * participant's limit, stays so until the tools are freed.
 *
 * name     of the tool, with "mcp.tool:" before it or without
 * report   filled when the schema is unusable, with the first error; may be NULL
 *
 * Returns MCPX_OK; MCPX_ENOTFOUND when there is no such tool; MCPX_EINVALID when its schema is
 * unusable; MCPX_ENOMEM. `out` is untouched on failure.
 */
MCPX_API enum mcpx_err mcpx_tools_schema(struct mcpx_tools *tools, struct mcpx_slice name,
                                         enum mcpx_tool_side side,
                                         struct mcpx_schema_report *report,
                                         struct mcpx_tool_schema *out);

MCPX_END_C

#endif
