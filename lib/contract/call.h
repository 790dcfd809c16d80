/*
 * call.h - the calls of an edge, for the files of this folder. call_judge.c reads a request and
 * judges it, call.c admits it, call_answer.c completes it; calls.c has memory, errors, and what is
 * written down.
 */
#ifndef MX_CALL_H
#define MX_CALL_H

#include "lib/contract/terms.h"
#include "lib/json/digest.h"

#include <mcpx/contract.h>
#include <mcpx/digest.h>

/** What is wrong with a call. Zero-initialised there is nothing. Texts are lent for one door. */
struct mx_call_error {
    bool is_found;
    /* What envelopes tell of it; its path is absent when no error has a place. */
    struct mcpx_failure says;
    struct mcpx_slice errors; /* JSON array; empty: there are none */
    struct mcpx_slice more;   /* members of an error's `data`; empty: none */
};

/** A call. Texts are of its arena, unless they are said to be others'. */
struct mcpx_call {
    struct mx_arena arena;
    /* `from`, `to`: neighbours in the list of calls. */
    struct mcpx_call *from;
    struct mcpx_call *to;
    /* What envelopes need; the tool, as its server calls it, and the request's id always are
     * there. No tool: none was found. Arguments and `_meta` are as they came. */
    struct mcpx_wrap wrap;
    struct mcpx_slice alias;     /* the name that it was called by; absent: that of the tool */
    struct mcpx_slice route;     /* the method that it came with; absent: none */
    struct mcpx_slice transport; /* static */
    /* `actor`, `mode`: of its context. */
    struct mcpx_slice actor;
    struct mcpx_slice mode;
    struct mcpx_slice trace_id;
    char span_id[MCPX_ID_LEN + 1];
    char run_id[MCPX_ID_LEN + 1];
    /* Of the arguments; NULL: not known, or unusable. Counted. */
    struct mcpx_schema *input;
    /* Of results, if it is declared; else NULL. Counted. */
    struct mcpx_schema *output;
    struct mcpx_instant start;
    bool is_told; /* mcp.tool.call was written */
    /* What is written down of the first error that counts. */
    struct {
        bool is_found;
        enum mcpx_cause cause;
        struct mcpx_slice path; /* absent: it has no place */
    } call_error;
    size_t input_bytes; /* of the arguments as they came */
};

/** The calls. */
struct mcpx_calls {
    struct mcpx_calls_options options;
    const struct mcpx_terms *terms;
    struct mcpx_wrapper *wrapper;
    struct mcpx_ids *ids;
    struct mcpx_shelf *shelf;
    struct mcpx_tools *own;  /* the tool of the handshake, when the terms ask for it */
    struct mcpx_call *first; /* of the list of calls */
    size_t count;
    /* From here to `error`: of the call that is at a door. */
    struct mx_arena arena;
    bool failed; /* memory ran out: what was done since means nothing */
    struct mcpx_schema_report report;
    struct mx_call_error call_error;
    /* The answer of the handshake, until tools with another digest are asked about. */
    struct mcpx_text handshake;
    unsigned char handshake_of[MX_SHA256_BYTES];
    struct mcpx_text invoked; /* the params of an invocation */
    struct mcpx_text params;  /* what is passed on */
    struct mcpx_text answer;  /* what the sender gets */
    /* Records that were made: of each a byte, its enum mcpx_record, then its line. */
    struct mcpx_text records;
    size_t taken;                      /* bytes of those that were taken */
    int64_t latest[MCPX_RECORD_COUNT]; /* the time of the last record, by enum mcpx_record */
};

/** A call comes to a door: forgets what was found at the last one. */
void mx_calls_begin(struct mcpx_calls *calls);

/** Memory ran out: forgets the records that were made since there were `before` bytes of them. */
void mx_calls_forget(struct mcpx_calls *calls, size_t before);

/** Frees a call. */
void mx_call_free(struct mcpx_call *call);

/** Copies a text; an absent one stays absent. Memory failure shows in `calls`. */
struct mcpx_slice mx_calls_copy(struct mcpx_calls *calls, struct mx_arena *arena,
                                struct mcpx_slice text);

/** The same with a text that was composed, which it takes; the copy is never absent. */
struct mcpx_slice mx_calls_take(struct mcpx_calls *calls, struct mx_arena *arena,
                                struct mcpx_text text);

/*
 * A error is found: calls->error says it from then on. All return false.
 */

/** One that has no place. */
bool mx_call_error_set(struct mcpx_calls *calls, enum mcpx_cause cause);

/** One at this place. */
bool mx_call_error_at(struct mcpx_calls *calls, enum mcpx_cause cause,
                      struct mcpx_schema_error error);

/** Something is too long: `what`, such as "arguments have", then its bytes. */
bool mx_call_error_size(struct mcpx_calls *calls, enum mcpx_cause cause, const char *what,
                        size_t bytes, size_t max);

/**
 * A document was judged: true when it is valid, else what the calls' report says is an error.
 *
 * err      what judging it returned
 * prefix   with which the paths begin
 */
bool mx_call_judged(struct mcpx_calls *calls, enum mcpx_err err, enum mcpx_cause cause,
                    const char *prefix);

/**
 * A error was found of the sort that counts only where schemas are enforced: true where it does not
 * count. With `shadow` it is written down then.
 */
bool mx_call_passes(struct mcpx_calls *calls, struct mcpx_call *call);

/** Keeps calls->error for the records, unless there is one already. */
void mx_call_note_error(struct mcpx_calls *calls, struct mcpx_call *call);

/** Writes down that a call goes to its tool. */
void mx_call_tell_start(struct mcpx_calls *calls, struct mcpx_call *call);

/** How a call has ended, for records. */
struct mx_call_outcome {
    enum mcpx_outcome outcome;
    enum mcpx_code code; /* counts unless `outcome` is OK */
    size_t output_bytes; /* of the server's result */
    struct mcpx_instant now;
};

/** Writes down how a call has ended. */
void mx_call_tell_end(struct mcpx_calls *calls, const struct mcpx_call *call,
                      const struct mx_call_outcome *outcome);

/**
 * The call has failed, as calls->error says: composes the answer, an error or an envelope, as the
 * tool's terms say.
 *
 * end   what the server or the edge has to say beside it; NULL: nothing
 */
void mx_call_fail(struct mcpx_calls *calls, struct mcpx_call *call,
                  const struct mcpx_call_end *end, struct mx_call_outcome *outcome,
                  struct mcpx_call_answer *out);

/** The call got its result, and that may be what it should not. */
void mx_call_deliver(const struct mcpx_call *call, struct mx_call_outcome *outcome);

/** What a request asks for. What is absent is not there. */
struct mx_asked {
    bool is_invocation; /* it came as mcp.tool.invoke */
    bool is_hopeless;   /* it has an error with which nothing can be called */
    struct mcpx_slice params;
    struct mcpx_slice name; /* of the tool, a raw string */
    struct mcpx_slice arguments;
    struct mcpx_slice meta;
};

/** A call at the door. */
struct mx_admission {
    struct mcpx_calls *calls;
    const struct mcpx_call_request *request;
    struct mcpx_call *call;
    struct mx_asked asked;
    struct mcpx_slice name; /* that it came with */
    struct mcpx_slice given;
    struct mcpx_slice context; /* its own, or the one that was made; `given` is its own */
    /* That are passed on; those of `asked` until something changes. */
    struct mcpx_slice params;
    struct mcpx_slice arguments; /* that are passed on */
    /* Among which the tool is: the server's, or that of the handshake. */
    struct mcpx_tools *tools;
    /* `input`, `output`: its schemas; NULL: they are unusable, or there is no tool. */
    struct mcpx_tool_schema input;
    struct mcpx_tool_schema output;
    bool is_handshake; /* the edge answers */
};

/**
 * Reads what is asked, and says in calls->error what is wrong with it. The call gets its route.
 */
void mx_call_read(struct mx_admission *a);

/*
 * Steps: false when calls->error says what is wrong.
 */

/** Takes the schemas of the tool, and writes down that it is called. */
bool mx_admit_tell(struct mx_admission *a);

/** Whether the edge's tier is enough for the tool. */
bool mx_admit_check_tier(struct mx_admission *a);

/** Whether the arguments, and the tool's schemas, are what they should be. */
bool mx_admit_check_input(struct mx_admission *a);

#endif
