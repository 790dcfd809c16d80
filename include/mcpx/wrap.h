/*
 * wrap.h - what a tool returned, in the envelope that a caller expects: mcp.envelope.v0.1 or
 * response.v1 (mcpx/contract.h). Texts in, texts out; the bytes of a value are never written anew.
 * No clock is asked and no id is made here: both come from the caller.
 */
#ifndef MCPX_WRAP_H
#define MCPX_WRAP_H

#include <mcpx/contract.h>

MCPX_BEGIN_C

/* What results of a tool look like. X(constant, name) */
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

/** What is known of a call whose answer is wrapped. Texts are UTF-8, borrowed. */
struct mcpx_wrap {
    enum mcpx_form form; /* of the answer */
    /* An answer that breaks a contract becomes a failure; otherwise it passes, and struct
     * mcpx_wrapped tells of it. */
    bool enforce;
    struct mcpx_slice tool; /* canonical name; not empty */
    /* Of the tool, as the terms have it; absent: they do not. */
    struct mcpx_slice tool_version;
    /* Of the server, as it says itself; absent: it does not. */
    struct mcpx_slice server_version;
    struct mcpx_slice request_id; /* of the call (mcpx_request_id_add); not empty */
    enum mcpx_tier tier;          /* of the edge */
    /* Tier that the tool needs: told when the failure is MCPX_CAUSE_TIER. */
    enum mcpx_tier needed;
    /* JSON array of strings, for response.v1 behind "envelope-v1"; absent: no more. */
    struct mcpx_slice capabilities;
    int64_t duration_ms;         /* from the call to its answer; below 0 counts as 0 */
    struct mcpx_slice arguments; /* of the call, well-formed JSON; absent counts as {} */
    /* `_meta` of the call's params, well-formed JSON: preferences, and what record of
     * provenance is asked for; absent: none. */
    struct mcpx_slice meta;
    /* MCPX_ID_LEN digits for a record of provenance that need not be deterministic
     * (mcpx_id_random, mcpx_ids_next); absent: made of the request's id, as it always is for
     * one that has to be. */
    struct mcpx_slice run_id;
    int64_t wall_ms; /* the time, for such a record */
    /* Id of the proposal that the call fulfils; absent: it fulfils none. */
    struct mcpx_slice parent;
    /* The result's `structuredContent` was found valid by mcpx_schema_validate, so two readers
     * read it alike; false: not known, and it is looked at once more. */
    bool is_read;
};

/**
 * Why a call has no result, or one that does not count. Zero-initialised but for `cause` says
 * nothing more than the cause does. Texts are borrowed.
 */
struct mcpx_failure {
    /* One that has a code in the envelopes; MCPX_CAUSE_FAILED for what the server says or a
     * program's end says. */
    enum mcpx_cause cause;
    /* Where the first error is: JSON Pointer; counts when `expected` is there. */
    struct mcpx_slice path;
    /* What is expected there, as struct mcpx_schema_error has it. */
    struct mcpx_slice expected;
    struct mcpx_slice text;  /* a sentence of ours; absent: that of the cause */
    struct mcpx_slice error; /* JSON-RPC error object of the server, well-formed JSON */
    int exit_code;           /* of a program; 0: it has none */
    int signal;              /* that ended a program; 0: none did */
};

/** What became of an answer. */
struct mcpx_wrapped {
    bool is_error; /* it reports an error: of the tool, or of the edge */
    /* The server's result is no answer yet (no `content`, no `structuredContent`); it passed as
     * it came. */
    bool is_unready;
    bool is_warned; /* the edge has put a warning into it */
    /* It breaks a contract: an envelope that came ready is not what its name says, or two
     * readers could read the result differently. With `enforce` a failure stands in its place;
     * otherwise it passed. */
    bool is_broken;
    /* Of what is broken: MCPX_CAUSE_OUTPUT, or MCPX_CAUSE_SCHEMA when judging it met a bound;
     * else, of an error, MCPX_CAUSE_FAILED or what the caller said. */
    enum mcpx_cause cause;
    /* Where the first breach is: JSON Pointer, in the envelope or the value that came. */
    struct mcpx_slice path;
    /* What is expected there. Both are lent until the wrapper is used again. */
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
 * `isError` replaced. The first is the envelope; the second one text block with the envelope's
 * text, then the server's blocks that are no text; the third is true when the envelope reports an
 * error, else as the server has it. All other bytes are the server's.
 *
 * A value that is one of the two envelopes already, in `structuredContent` or as the only text
 * block, is not wrapped again: wrapping twice is wrapping once. With MCPX_FORM_AS_IS, and when
 * there is no answer in the result yet, the result is appended as it came.
 *
 * result    well-formed JSON, borrowed. What is no object, and a value that is nested deeper than
 *           511 or that two readers could read differently, break the contract
 * out       on failure as it was before
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
 * What a program that is no MCP server has returned. `json` or `text` is absent; when both are,
 * nothing came.
 */
struct mcpx_output {
    struct mcpx_slice json;             /* one JSON text; white space around it is left out */
    struct mcpx_slice text;             /* UTF-8, becomes a string */
    const struct mcpx_failure *failure; /* NULL: it succeeded */
};

/**
 * Appends the envelope of one value, and nothing around it. An envelope that comes ready passes.
 *
 * outcome   filled
 *
 * Returns as mcpx_wrap_failure; MCPX_EINVALID also when nothing came though nothing failed, or
 * `json` is no JSON; MCPX_EUTF8.
 */
MCPX_API enum mcpx_err mcpx_wrap_output(struct mcpx_wrapper *wrapper,
                                        const struct mcpx_wrap *call,
                                        const struct mcpx_output *output,
                                        struct mcpx_text *out, struct mcpx_wrapped *outcome);

/** The member of a tool's `_meta` that has its output schema, when the list shows an outline. */
#define MCPX_OUTPUT_SCHEMA_MEMBER "io.mcpx/outputSchema"

/**
 * Appends an entry of `tools/list` as a caller has to see it whose answers are wrapped:
 * `outputSchema` is an outline of the form's contract, with types and required members only; the
 * tool's own moves to MCPX_OUTPUT_SCHEMA_MEMBER of `_meta`. An entry that has the outline already,
 * and any entry with MCPX_FORM_AS_IS, is appended as it is. Memory failure shows in `out`.
 *
 * tool   well-formed JSON; what is no object is appended as it is
 */
MCPX_API void mcpx_wrap_tool(struct mcpx_text *out, struct mcpx_slice tool,
                             enum mcpx_form form);

MCPX_END_C

#endif
