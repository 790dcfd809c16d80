/*
 * wrap.h - from a result to its envelope. wrap.c finds the result and the place of the envelope;
 * reason.c composes the reason of a failed call; envelope_out.c and response.c each write one of
 * the two envelopes, provenance.c the record of a result's origin.
 */
#ifndef MX_WRAP_H
#define MX_WRAP_H

#include "lib/json/decisive.h"
#include "lib/json/tree.h"

#include <mcpx/digest.h>
#include <mcpx/wrap.h>

/** A result, or a failure. */
struct mx_answer {
    const struct mcpx_wrap *call;
    struct mcpx_slice value; /* the tool's value, JSON; absent: none */
    /* The server's first text block, a JSON string; absent: none. */
    struct mcpx_slice said;
    const struct mcpx_failure *failure; /* NULL: the call has succeeded */
    enum mcpx_form ready;               /* the envelope form of the value itself */
};

/** The memory of a wrapper. Texts composed in it fail together with it. */
struct mcpx_wrapper {
    struct mcpx_contracts *contracts;
    struct mcpx_schema_report report; /* of the last validation */
    struct mcpx_text breach;          /* its first error: path and message */
    struct mx_tree arguments;         /* of the call, indexed */
    bool failed;                      /* memory ran out for the answer at hand */
    struct mcpx_text plain;           /* text of a text block, unescaped */
    struct mcpx_text line;            /* the reason of a failure */
    struct mcpx_text string;          /* a string among the arguments, unescaped */
    struct mcpx_text warnings;        /* of the enforcement point, a JSON array */
    struct mcpx_text artifacts;       /* named by the caller, each with a comma before it */
    struct mcpx_text record;          /* of provenance */
    struct mcpx_text envelope;        /* the whole of it */
};

/** The members of a result to be read. */
enum { MX_RESULT_IS_ERROR, MX_RESULT_VALUE, MX_RESULT_CONTENT, MX_RESULT_MEMBERS };

/**
 * Finds the members of a result, `isError`, `structuredContent` and `content`, in one pass.
 *
 * members   filled; with the first of each when it fails
 * error     filled on failure; static
 *
 * Returns false when it is not an object, or one of them is ambiguous.
 */
bool mx_result_read(struct mcpx_slice result, struct mx_decisive members[MX_RESULT_MEMBERS],
                    struct mcpx_schema_error *error);

/** The beginning of a text: at most `points` code points. */
struct mcpx_slice mx_cut(struct mcpx_slice text, size_t points);

/**
 * Walks the objects that may describe a tool's error: the value itself, its member `error`, the
 * items of its list `errors`. Zero-initialised but for `value` is before the first.
 */
struct mx_error_walk {
    struct mcpx_slice value;
    int step;
    struct mcpx_json_walk items;
};

/** Continues to the next object. Returns false when none is left. */
bool mx_error_walk_next(struct mx_error_walk *walk, struct mcpx_slice *out);

/**
 * The reason of a failure, in one line: the server's own words, else a standard sentence. It is not
 * cut. Lent until the next use of the wrapper.
 */
struct mcpx_slice mx_reason(struct mcpx_wrapper *wrapper, const struct mx_answer *answer);

/** The first line of a string value, in the wrapper's `line`; lent as mx_reason. */
struct mcpx_slice mx_first_line(struct mcpx_wrapper *wrapper, struct mcpx_slice string);

/**
 * True when the first `points` code points of a line repeat a line of a multi-line string among the
 * arguments. True, too, when memory runs out; that shows in the wrapper.
 */
bool mx_repeats_arguments(struct mcpx_wrapper *wrapper, const struct mx_answer *answer,
                          struct mcpx_slice line, size_t points);

/**
 * Appends a line as a JSON string of 1 to `points` code points, "Tool failed" in its place when it
 * repeats a line of the arguments.
 */
void mx_reason_add(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                   const struct mx_answer *answer, struct mcpx_slice line, size_t points);

/** Appends the details of a failure as members of an object: canonical_code, path, exit_code. */
void mx_reason_details(struct mcpx_text *out, const struct mcpx_failure *failure);

/** Composes an mcp.envelope.v0.1 in the wrapper. */
void mx_envelope_compose(struct mcpx_wrapper *wrapper, const struct mx_answer *answer);

/** Composes a response.v1 in the wrapper. */
void mx_response_compose(struct mcpx_wrapper *wrapper, const struct mx_answer *answer);

/** The content of a record of provenance. */
struct mx_record {
    bool is_deterministic; /* no time in it, and the same id for the same request */
    bool has_digests;      /* of what passed through */
    bool is_full;          /* with its optional members */
    /* `errors`, `warnings`: the envelope has some. */
    bool errors;
    bool warnings;
};

/**
 * Appends a caller's artifacts for a record, each with a comma before it.
 *
 * list   artifact.ref.v0.1, JSON
 *
 * Returns false when it is not a list, or has other items; these are left out.
 */
bool mx_artifacts_add(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                      struct mcpx_slice list);

/** Composes the record in the wrapper. Returns false when an ambiguous value has no digest. */
bool mx_record_compose(struct mcpx_wrapper *wrapper, const struct mx_answer *answer,
                       const struct mx_record *record);

/** True for a version of SemVer 2.0.0, such as 1.0.0-rc.1+build.7. */
bool mx_is_semver(struct mcpx_slice text);

#endif
