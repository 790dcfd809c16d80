/*
 * call.h - the calls of an edge, for the files of this folder. call_judge.c reads a request and
 * judges it, call.c admits it, call_answer.c completes it; calls.c has memory, flaws, and what is
 * written down.
 */
#ifndef MX_CALL_H
#define MX_CALL_H

#include "lib/contract/terms.h"
#include "lib/json/digest.h"

#include <mcpx/contract.h>
#include <mcpx/digest.h>

/** A flaw. Zero-initialised there is none. Texts are of its arena, or their owner's. */
struct mx_flaw {
    struct mx_arena arena;
    bool is_found; /* there is one */
    bool failed;   /* memory ran out: a text of it is missing */
    /* What envelopes tell of it; its path is absent when no error has a place. */
    struct mcpx_failure says;
    struct mcpx_slice errors; /* JSON array; empty: there are none */
    struct mcpx_slice more;   /* members of an error's `data`; empty: none */
};

/** There is none any more. */
void mx_flaw_reset(struct mx_flaw *flaw);

/** There is one that has no place. Returns MCPX_EINVALID. */
enum mcpx_err mx_flaw_set(struct mx_flaw *flaw, enum mcpx_cause cause);

/** There is one, at this place. Returns MCPX_EINVALID, or MCPX_ENOMEM. */
enum mcpx_err mx_flaw_at(struct mx_flaw *flaw, enum mcpx_cause cause,
                         const struct mcpx_schema_error *error);

/**
 * There is what a report says; its paths begin with `prefix`. MCPX_EINVALID, or MCPX_ENOMEM.
 */
enum mcpx_err mx_flaw_report(struct mx_flaw *flaw, enum mcpx_cause cause, const char *prefix,
                             const struct mcpx_schema_report *report);

/** Something is too long: `what`, such as "arguments have", then its bytes. MCPX_EINVALID. */
enum mcpx_err mx_flaw_size(struct mx_flaw *flaw, enum mcpx_cause cause, const char *what,
                           size_t bytes, size_t max);

/** Keeps a text, which it takes, as one of the flaw's. */
void mx_flaw_keep(struct mx_flaw *flaw, struct mcpx_text text, struct mcpx_slice *out);

/** A record that was not taken yet, or whose memory waits for the next one. */
struct mx_line {
    enum mcpx_record which;
    struct mcpx_text text;
};

/** Records: `lines` from `head` to `count`; `made` of them have memory. */
struct mx_lines {
    struct mx_line *lines;
    size_t head;
    size_t count;
    size_t made;
    size_t room;
    int64_t latest[MCPX_RECORD_COUNT]; /* the time of the last record, by enum mcpx_record */
};

/**
 * A call. Texts are of its arena, unless they are said to be others'.
 *
 * flaw          what is written down of it; its path is of the arena
 */
struct mcpx_call {
    struct mx_arena arena;
    /* `from`, `to`: neighbours in the list of calls. */
    struct mcpx_call *from;
    struct mcpx_call *to;
    struct mcpx_slice tool;  /* as its server calls it; absent: none was found */
    struct mcpx_slice alias; /* the name that it was called by; absent: that of the tool */
    const struct mx_tool_terms *terms; /* of the tool */
    struct mcpx_slice route;           /* the method that it came with; absent: none */
    struct mcpx_slice transport;       /* borrowed by the options, or of the arena */
    /* `actor`, `mode`: of its context. */
    struct mcpx_slice actor;
    struct mcpx_slice mode;
    struct mcpx_slice arguments; /* as they came, for envelopes; absent: it needs none */
    struct mcpx_slice meta;      /* as it came, for envelopes */
    struct mcpx_slice server_version;
    struct mcpx_slice fulfils;
    struct mcpx_slice request_id;
    struct mcpx_slice trace_id;
    char span_id[MCPX_ID_LEN + 1];
    char run_id[MCPX_ID_LEN + 1];
    /* Of the arguments; NULL: not known, or unusable. Counted. */
    struct mcpx_schema *input;
    /* Of results, if it is declared; else NULL. Counted. */
    struct mcpx_schema *output;
    struct mcpx_instant start;
    bool is_told; /* mcp.tool.call was written */
    struct {
        bool is_found;
        enum mcpx_cause cause;
        struct mcpx_slice path; /* absent: it has no place */
    } flaw;
    size_t input_bytes; /* of the arguments as they came */
};

/**
 * The calls.
 *
 * handshake its answer, which is kept until tools with another digest are asked about
 */
struct mcpx_calls {
    struct mcpx_calls_options options;
    const struct mcpx_terms *terms;
    struct mcpx_wrapper *wrapper;
    struct mcpx_ids *ids;
    struct mcpx_shelf *shelf;
    struct mcpx_tools *own;  /* the tool of the handshake, when the terms ask for it */
    struct mcpx_call *first; /* of the list of calls */
    size_t count;
    /* Filled by the next judgement of a document. */
    struct mcpx_schema_report report;
    struct mx_flaw flaw;
    struct mcpx_text handshake;
    unsigned char handshake_of[MX_SHA256_BYTES];
    struct mcpx_text plain;
    struct mcpx_text invoked;
    struct mcpx_text context;
    struct mcpx_text part;
    /* What is passed on, as texts of which it is made are: invoked, part. */
    struct mcpx_text params;
    struct mcpx_text answer; /* what the sender gets */
    struct mx_lines lines;
};

/**
 * What a request asks for.
 *
 * params name     params and the tool's name, a raw string; absent: there are none
 * arguments meta  absent: there are none
 */
struct mx_asked {
    bool is_invocation; /* it came as mcp.tool.invoke */
    bool is_hopeless;   /* it has a flaw with which nothing can be called */
    struct mcpx_slice params;
    struct mcpx_slice name;
    struct mcpx_slice arguments;
    struct mcpx_slice meta;
};

/** Frees a call. */
void mx_call_free(struct mcpx_call *call);

/** Copies a text for a call; an absent one stays absent. Returns false when memory runs out. */
bool mx_call_keep(struct mcpx_call *call, struct mcpx_slice text, struct mcpx_slice *out);

/**
 * Reads what is asked, and says in calls->flaw what is wrong with it. `call` gets its route.
 *
 * Returns MCPX_OK also with a flaw, or MCPX_ENOMEM.
 */
enum mcpx_err mx_call_read(struct mcpx_calls *calls, const struct mcpx_call_request *request,
                           struct mcpx_call *call, struct mx_asked *out);

/** Writes down that a call goes to its tool. Returns false when memory runs out. */
bool mx_call_tell_start(struct mcpx_calls *calls, struct mcpx_call *call);

/** How a call has ended, for records. */
struct mx_call_outcome {
    enum mcpx_outcome outcome;
    enum mcpx_code code; /* counts unless `outcome` is OK */
    size_t output_bytes; /* of the server's result */
    struct mcpx_instant now;
};

/** Writes down how a call has ended. Returns false when memory runs out. */
bool mx_call_tell_end(struct mcpx_calls *calls, const struct mcpx_call *call,
                      const struct mx_call_outcome *outcome);

/**
 * Keeps calls->flaw for the records, unless there is one already. False when memory runs out.
 */
bool mx_call_note_flaw(struct mcpx_calls *calls, struct mcpx_call *call);

/**
 * Composes the answer that says calls->flaw: an error, or an envelope, as the tool's terms say.
 *
 * end   what the server or the edge has to say beside it; NULL: nothing
 */
enum mcpx_err mx_call_refuse(struct mcpx_calls *calls, const struct mcpx_call *call,
                             const struct mcpx_call_end *end, struct mcpx_call_answer *out);

/** A call at the door. */
struct mx_admitting {
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

/*
 * Steps: MCPX_EINVALID when calls->flaw says what is wrong, or MCPX_ENOMEM.
 */

/** Takes the schemas of the tool, and writes down that it is called. */
enum mcpx_err mx_admit_tell(struct mx_admitting *a);

/** Whether the edge's tier is enough for the tool. */
enum mcpx_err mx_admit_check_tier(struct mx_admitting *a);

/** Whether the arguments, and the tool's schemas, are what they should be. */
enum mcpx_err mx_admit_check_input(struct mx_admitting *a);

/** What becomes of a flaw that counts where schemas are enforced: MCPX_OK where they are not. */
enum mcpx_err mx_admit_weigh(struct mx_admitting *a, enum mcpx_err err);

#endif
