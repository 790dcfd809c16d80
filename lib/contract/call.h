/*
 * call.h - the calls of an enforcement point, for the files of this folder. call_judge.c reads and
 * checks a request, call.c admits it, call_answer.c completes it; calls.c has memory, errors and
 * records.
 */
#ifndef MX_CALL_H
#define MX_CALL_H

#include "lib/contract/terms.h"
#include "lib/json/digest.h"

#include <mcpx/contract.h>
#include <mcpx/digest.h>

/** The error of a call. Zero-initialised: none. Texts are lent for one admission or completion. */
struct mx_call_error {
    bool is_found;
    /* The failure for envelopes; its path is absent when no error has a place. */
    struct mcpx_failure failure;
    struct mcpx_slice errors; /* JSON array; empty: none */
    struct mcpx_slice more;   /* members of an error's `data`; empty: none */
};

/** A call. Its arena holds the texts, unless noted otherwise. */
struct mcpx_call {
    struct mx_arena arena;
    struct mcpx_call *previous, *next; /* neighbours in the list of calls */
    /* For envelopes. The request's id and the tool, by its server's name, are always set; an empty
     * tool was not found. Arguments and `_meta` are as received. */
    struct mcpx_wrap wrap;
    struct mcpx_slice alias;     /* the alias in the request; absent: the tool's own name */
    struct mcpx_slice route;     /* the method of the request; absent: none */
    struct mcpx_slice transport; /* static */
    /* `actor`, `mode`: of its context. */
    struct mcpx_slice actor;
    struct mcpx_slice mode;
    struct mcpx_slice trace_id;
    char span_id[MCPX_ID_LEN + 1];
    char run_id[MCPX_ID_LEN + 1];
    /* Of the arguments; NULL: unknown or unusable. Counted. */
    struct mcpx_schema *input;
    /* Of results; NULL: not declared. Counted. */
    struct mcpx_schema *output;
    struct mcpx_instant start;
    bool is_told; /* mcp.tool.call was written */
    /* The first error that counts, for the records. */
    struct {
        bool is_found;
        enum mcpx_cause cause;
        struct mcpx_slice path; /* absent: it has no place */
    } call_error;
    size_t input_bytes; /* of the received arguments */
};

/** The calls. */
struct mcpx_calls {
    struct mcpx_calls_options options;
    const struct mcpx_terms *terms;
    struct mcpx_wrapper *wrapper;
    struct mcpx_ids *ids;
    struct mcpx_shelf *shelf;
    struct mcpx_tools *own;  /* the tool of the handshake, if the contract settings have it */
    struct mcpx_call *first; /* of the list of calls */
    size_t count;
    /* From here to `call_error`: of the call in admission or completion. */
    struct mx_arena arena;
    bool failed; /* memory ran out: all later results are void */
    struct mcpx_schema_report report;
    struct mx_call_error call_error;
    /* The result of the handshake, kept while the digest of the tools is the same. */
    struct mcpx_text handshake;
    unsigned char handshake_of[MX_SHA256_BYTES];
    struct mcpx_text invoked; /* the params of an invocation */
    struct mcpx_text params;  /* the forwarded params */
    struct mcpx_text answer;  /* the sender's response */
    /* Finished records: for each a byte, its enum mcpx_record, then its line. */
    struct mcpx_text records;
    size_t taken;                      /* bytes of records already taken */
    int64_t latest[MCPX_RECORD_COUNT]; /* the time of the last record, by enum mcpx_record */
};

/** Begins an admission or completion: forgets the error of the last one. */
void mx_calls_begin(struct mcpx_calls *calls);

/** After a loss of memory, drops the records beyond the first `before` bytes. */
void mx_calls_forget(struct mcpx_calls *calls, size_t before);

/** Frees a call. */
void mx_call_free(struct mcpx_call *call);

/** Copies a text; an absent one stays absent. Memory failure shows in `calls`. */
struct mcpx_slice mx_calls_copy(struct mcpx_calls *calls, struct mx_arena *arena,
                                struct mcpx_slice text);

/** The same with a composed text, freed here; the copy is never absent. */
struct mcpx_slice mx_calls_take(struct mcpx_calls *calls, struct mx_arena *arena,
                                struct mcpx_text text);

/* Each sets calls->call_error. All return false. */

/** An error without a place. */
bool mx_call_error_set(struct mcpx_calls *calls, enum mcpx_cause cause);

/** An error at this place. */
bool mx_call_error_at(struct mcpx_calls *calls, enum mcpx_cause cause,
                      struct mcpx_schema_error error);

/**
 * True for a valid document; otherwise sets the error by the report of the calls.
 *
 * err      the result of the validation
 * prefix   prefix of the paths
 */
bool mx_call_judged(struct mcpx_calls *calls, enum mcpx_err err, enum mcpx_cause cause,
                    const char *prefix);

/**
 * True when a size keeps its bound, `max` (0: there is none); otherwise sets the error, in which
 * `what` is a subject such as "arguments have".
 */
bool mx_call_fits(struct mcpx_calls *calls, enum mcpx_cause cause, const char *what,
                  size_t bytes, size_t max);

/**
 * For an error that counts only with enforced schemas: true when it does not count. With `shadow`
 * it is then kept for the records.
 */
bool mx_call_passes(struct mcpx_calls *calls, struct mcpx_call *call);

/** Keeps calls->call_error for the records, unless there is one already. */
void mx_call_note_error(struct mcpx_calls *calls, struct mcpx_call *call);

/** Records that a call is forwarded to its tool. */
void mx_call_tell_start(struct mcpx_calls *calls, struct mcpx_call *call);

/** The end of a call, for records. */
struct mx_call_outcome {
    enum mcpx_outcome outcome;
    enum mcpx_code code; /* counts unless `outcome` is OK */
    size_t output_bytes; /* of the server's result */
    struct mcpx_instant now;
};

/** Records the end of a call. */
void mx_call_tell_end(struct mcpx_calls *calls, const struct mcpx_call *call,
                      const struct mx_call_outcome *outcome);

/**
 * Fails the call with calls->call_error: composes the response, an error or an envelope by the
 * contract settings of the tool.
 *
 * end   the server's or enforcement point's own words beside it; NULL: none
 */
void mx_call_fail(struct mcpx_calls *calls, struct mcpx_call *call,
                  const struct mcpx_call_end *end, struct mx_call_outcome *outcome,
                  struct mcpx_call_answer *out);

/** Sets the outcome of a call with a result, perhaps with a recorded error. */
void mx_call_deliver(const struct mcpx_call *call, struct mx_call_outcome *outcome);

/** The content of a request. Absent members are missing in it. */
struct mx_asked {
    bool is_invocation; /* the request is mcp.tool.invoke */
    bool is_not_a_call; /* its error makes any call impossible */
    struct mcpx_slice params;
    struct mcpx_slice name; /* of the tool, a raw string */
    struct mcpx_slice arguments;
    struct mcpx_slice meta;
};

/** A call in admission. */
struct mx_admission {
    struct mcpx_calls *calls;
    const struct mcpx_call_request *request;
    struct mcpx_call *call;
    struct mx_asked asked;
    struct mcpx_slice name; /* of the request */
    struct mcpx_slice given;
    struct mcpx_slice context; /* its own, or a made one; `given` is its own */
    /* The forwarded params; those of `asked` until something changes. */
    struct mcpx_slice params;
    struct mcpx_slice arguments; /* the forwarded ones */
    /* The set of the tool: the server's, or that of the handshake. */
    struct mcpx_tools *tools;
    /* `input`, `output`: its schemas; NULL: unusable, or the tool was not found. */
    struct mcpx_tool_schema input;
    struct mcpx_tool_schema output;
    bool is_handshake; /* the enforcement point answers */
};

/** Reads the request, and sets calls->call_error for an invalid one. Sets the call's route. */
void mx_call_read(struct mx_admission *a);

/* Steps: false with calls->call_error set. */

/** Takes the schemas of the tool, and records the call. */
bool mx_admit_log_start(struct mx_admission *a);

/** True when the tier suffices for the tool. */
bool mx_admit_check_tier(struct mx_admission *a);

/** True when the arguments, and the tool's schemas, are valid. */
bool mx_admit_check_input(struct mx_admission *a);

#endif
