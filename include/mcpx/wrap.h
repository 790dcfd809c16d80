/*
 * wrap.h - wraps a tool's result in the envelope that a caller expects: mcp.envelope.v0.1 or
 * response.v1 (mcpx/contract.h). Texts in, texts out; the bytes of a value stay as they are. The
 * caller supplies the time and the ids.
 */
#ifndef MCPX_WRAP_H
#define MCPX_WRAP_H

#include <mcpx/contract.h>

MCPX_BEGIN_C

/* Formats of a tool's results. X(constant, name) */
#define MCPX_FORMS(X)                                                                         \
    X(MCPX_FORM_AS_IS, "as-is")                                                               \
    X(MCPX_FORM_ENVELOPE, "mcp.envelope.v0.1")                                                \
    X(MCPX_FORM_RESPONSE, "response.v1")

/* Levels of service, from the lowest to the highest. X(constant, name) */
#define MCPX_TIERS(X)                                                                         \
    X(MCPX_TIER_COMMUNITY, "community")                                                       \
    X(MCPX_TIER_PRO, "pro")                                                                   \
    X(MCPX_TIER_ENTERPRISE, "enterprise")

#define MCPX_WRAP_CONSTANT(constant, name) constant,
enum mcpx_form { MCPX_FORMS(MCPX_WRAP_CONSTANT) MCPX_FORM_COUNT };
enum mcpx_tier { MCPX_TIERS(MCPX_WRAP_CONSTANT) MCPX_TIER_COUNT };
#undef MCPX_WRAP_CONSTANT

/** The form's name; NULL outside the table. Static. */
MCPX_API const char *mcpx_form_name(enum mcpx_form form);

/** The form of that name. Returns false, and leaves `out`, when there is none. */
MCPX_API bool mcpx_form_find(struct mcpx_slice name, enum mcpx_form *out);

/** The tier's name; NULL outside the table. Static. */
MCPX_API const char *mcpx_tier_name(enum mcpx_tier tier);

/** The tier of that name, letter for letter. False, with `out` untouched, when there is none. */
MCPX_API bool mcpx_tier_find(struct mcpx_slice name, enum mcpx_tier *out);

/** The call of an answer to be wrapped. Texts are UTF-8, borrowed. */
struct mcpx_wrap {
    enum mcpx_form form; /* of the answer */
    /* True: an answer that breaks a contract becomes a failure. False: it passes, and struct
     * mcpx_wrapped reports it. */
    bool enforce;
    struct mcpx_slice tool; /* canonical name; not empty */
    /* Of the tool, from the contract settings; absent: they have none. */
    struct mcpx_slice tool_version;
    /* Of the server, from its own statement; absent: none. */
    struct mcpx_slice server_version;
    struct mcpx_slice request_id; /* of the call (mcpx_request_id_add); not empty */
    enum mcpx_tier tier;          /* of the edge */
    /* Tier that the tool needs: reported when the failure is MCPX_CAUSE_TIER. */
    enum mcpx_tier needed;
    /* JSON array of strings, for response.v1 behind "envelope-v1"; absent: no more. */
    struct mcpx_slice capabilities;
    int64_t duration_ms;         /* from the call to its answer; below 0 counts as 0 */
    struct mcpx_slice arguments; /* of the call, well-formed JSON; absent counts as {} */
    /* `_meta` of the call's params, well-formed JSON: preferences, and the requested record
     * of provenance; absent: none. */
    struct mcpx_slice meta;
    /* Id of a record of provenance, MCPX_ID_LEN digits (mcpx_id_random, mcpx_ids_next). Absent:
     * derived from the request's id. A record that must be deterministic always has the derived
     * id. */
    struct mcpx_slice run_id;
    int64_t wall_ms; /* the time, for such a record */
    /* Id of the proposal that the call fulfils; absent: it fulfils none. */
    struct mcpx_slice parent;
    /* True: mcpx_schema_validate found the result's `structuredContent` valid, so it is not
     * ambiguous. False: not known, and it is checked here. */
    bool is_read;
};

/**
 * Why a call has no valid result. Only `cause` is needed; the other members, when not zero, add
 * details. Texts are borrowed.
 */
struct mcpx_failure {
    /* A cause with a code in the envelopes; MCPX_CAUSE_FAILED for an error of the server or the
     * end of a program. */
    enum mcpx_cause cause;
    /* Where the first error is: JSON Pointer; counts when `expected` is there. */
    struct mcpx_slice path;
    /* The expected value, as in struct mcpx_schema_error. */
    struct mcpx_slice expected;
    struct mcpx_slice text;  /* a sentence of ours; absent: that of the cause */
    struct mcpx_slice error; /* JSON-RPC error object of the server, well-formed JSON */
    int exit_code;           /* of a program; 0: it has none */
    int signal;              /* that ended a program; 0: none did */
};

/** The outcome of wrapping an answer. */
struct mcpx_wrapped {
    bool is_error; /* it reports an error: of the tool, or of the edge */
    /* The server's result is not an answer yet (no `content`, no `structuredContent`); it passed
     * unchanged. */
    bool is_unready;
    bool is_warned; /* the edge has put a warning into it */
    /* The answer breaks a contract: a ready envelope does not match the contract that it names,
     * or the result is ambiguous JSON. With `enforce` a failure replaces it; otherwise it
     * passed. */
    bool is_broken;
    /* Of a broken answer: MCPX_CAUSE_OUTPUT, or MCPX_CAUSE_SCHEMA when its validation exceeded
     * a bound. Of another error: MCPX_CAUSE_FAILED or the caller's cause. */
    enum mcpx_cause cause;
    /* Where the first breach is: JSON Pointer, in the envelope or the received value. */
    struct mcpx_slice path;
    /* The expected value. `path` and `expected` are lent until the wrapper is used again. */
    struct mcpx_slice expected;
};

/** Wraps answers, and keeps the memory that it needs from one to the next. One thread at a time. */
struct mcpx_wrapper;

/** Makes one; NULL when memory runs out. `contracts` outlive it. */
MCPX_API struct mcpx_wrapper *mcpx_wrapper_new(struct mcpx_contracts *contracts);

/** Frees it. */
MCPX_API void mcpx_wrapper_free(struct mcpx_wrapper *wrapper);

/**
 * Appends the answer to `tools/call`: the server's `result` with `structuredContent`, `content` and
 * `isError` replaced. The first is the envelope. The second is one text block with the envelope's
 * text, then the server's blocks of other types. The third is true when the envelope reports an
 * error, else the server's value. All other bytes are the server's.
 *
 * One of the two envelopes, in `structuredContent` or as the only text block, is not wrapped again:
 * wrapping twice equals wrapping once. The result is appended unchanged with MCPX_FORM_AS_IS, and
 * when it does not hold an answer yet.
 *
 * result    well-formed JSON, borrowed. A value breaks the contract when it is not an object, is
 *           nested deeper than 511, or is ambiguous
 * out       unchanged on failure
 * outcome   filled
 *
 * Returns MCPX_OK; MCPX_EINVALID when `call` has no tool or no request id; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_wrap_result(struct mcpx_wrapper *wrapper,
                                        const struct mcpx_wrap *call, struct mcpx_slice result,
                                        struct mcpx_text *out, struct mcpx_wrapped *outcome);

/**
 * Appends the `result` of a call that has failed: the envelope in `structuredContent` and as a text
 * block, `isError` true.
 *
 * Returns as mcpx_wrap_result; MCPX_EINVALID also when the form is MCPX_FORM_AS_IS, or the cause
 * has no code in envelopes: such a failure is a JSON-RPC error (mcpx_cause_error).
 */
MCPX_API enum mcpx_err mcpx_wrap_failure(struct mcpx_wrapper *wrapper,
                                         const struct mcpx_wrap *call,
                                         const struct mcpx_failure *failure,
                                         struct mcpx_text *out);

/**
 * The output of a program without MCP. At most one of `json` and `text` is present; when both are
 * absent, the program returned nothing.
 */
struct mcpx_output {
    struct mcpx_slice json;             /* one JSON text; white space around it is left out */
    struct mcpx_slice text;             /* UTF-8, becomes a string */
    const struct mcpx_failure *failure; /* NULL: it succeeded */
};

/**
 * Appends the envelope of one value, and nothing around it. A ready envelope passes unchanged.
 *
 * outcome   filled
 *
 * Returns as mcpx_wrap_failure; MCPX_EINVALID also when the program returned nothing without a
 * failure, or `json` is not JSON; MCPX_EUTF8.
 */
MCPX_API enum mcpx_err mcpx_wrap_output(struct mcpx_wrapper *wrapper,
                                        const struct mcpx_wrap *call,
                                        const struct mcpx_output *output,
                                        struct mcpx_text *out, struct mcpx_wrapped *outcome);

/** The member of a tool's `_meta` with its output schema, when the list shows an outline. */
#define MCPX_OUTPUT_SCHEMA_MEMBER "io.mcpx/outputSchema"

/**
 * Appends an entry of `tools/list` for a caller of wrapped answers. Its `outputSchema` is an
 * outline of the form's contract, with types and required members only. The tool's own moves to
 * MCPX_OUTPUT_SCHEMA_MEMBER of `_meta`. An entry with the outline, and any entry with
 * MCPX_FORM_AS_IS, is appended unchanged. Memory failure shows in `out`.
 *
 * tool   well-formed JSON; a value that is not an object is appended unchanged
 */
MCPX_API void mcpx_wrap_tool(struct mcpx_text *out, struct mcpx_slice tool,
                             enum mcpx_form form);

MCPX_END_C

#endif
