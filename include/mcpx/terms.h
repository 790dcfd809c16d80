/*
 * terms.h - the contract settings of an edge (a bridge or program), and its calls. Each call is
 * checked twice: at admission, before it is forwarded, and at completion, however it ended. Texts
 * go in and come out: the edge supplies the time and random bytes, and writes the files.
 */
#ifndef MCPX_TERMS_H
#define MCPX_TERMS_H

#include <mcpx/contract.h>
#include <mcpx/record.h>

MCPX_BEGIN_C

/** The member of `_meta` with the context of a call. */
#define MCPX_CONTEXT_MEMBER "io.mcpx/context"

/** Contract settings ("terms"), immutable. docs/contracts.md has the members. */
struct mcpx_terms;

/**
 * Reads terms.
 *
 * text     a JSON object that keeps the contract `terms`; borrowed
 * report   filled: the errors of the text, with paths
 * out      filled with terms that mcpx_terms_free frees; untouched on failure
 *
 * Returns MCPX_OK; MCPX_EINVALID; MCPX_ELIMIT when a bound was exceeded; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_terms_read(struct mcpx_contracts *contracts,
                                       struct mcpx_slice text,
                                       struct mcpx_schema_report *report,
                                       struct mcpx_terms **out);

/** Frees terms. Their calls must be freed before. */
MCPX_API void mcpx_terms_free(struct mcpx_terms *terms);

/** Gives the shelf the terms' limit for the compiled schemas of one participant's tools. */
MCPX_API void mcpx_terms_limit(const struct mcpx_terms *terms, struct mcpx_shelf *shelf);

/**
 * The folder for the records of calls. Returns false, with outputs untouched, when there is none.
 *
 * dir          lent until the terms are freed; NUL-terminated
 * keep         number of the newest files that stay
 * file_bytes   longest file, in bytes; 0: no bound
 */
MCPX_API bool mcpx_terms_log(const struct mcpx_terms *terms, const char **dir, size_t *keep,
                             size_t *file_bytes);

/** True when a server's edge answers mcp.capabilities.get in place of the server. */
MCPX_API bool mcpx_terms_has_handshake(const struct mcpx_terms *terms);

/** True when the edge changes a tool in its server's `tools/list`, or adds one. */
MCPX_API bool mcpx_terms_change_lists(const struct mcpx_terms *terms);

/**
 * Appends one tool as `tools/list` shows it under the terms: unchanged, or with an outline of the
 * envelope's contract as its output schema (mcpx_wrap_tool).
 *
 * name   the server's name of the tool, unescaped; it selects the terms of the tool
 * tool   the tool's object, perhaps with another name already
 */
MCPX_API void mcpx_terms_tool_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                                  struct mcpx_slice name, struct mcpx_slice tool);

/**
 * Appends the result of a server's `tools/list` as its edge shows it: each tool by
 * mcpx_terms_tool_add, and on the last page the tool of the handshake, if there is one.
 *
 * result   well-formed; any other value than a list of tools is appended unchanged
 * tools    all tools of the server; one with the name of the handshake's tool replaces it; or NULL
 */
MCPX_API void mcpx_terms_list_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                                  struct mcpx_slice result, const struct mcpx_tools *tools);

/**
 * Appends warnings about terms that do not fit their server: sentences for people, each with a
 * newline. Causes: an alias has the name of a tool; the tool of an alias is missing; a tool has the
 * name of the handshake's; terms name a missing tool. Those of mcpx_tools_doubts_add are included.
 */
MCPX_API void mcpx_terms_doubts_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                                    struct mcpx_tools *tools);

/**
 * True when `after` keeps the context `before`: it has each member that the contract requires, and
 * no filled member became empty. Members may be added.
 *
 * before   a context; absent: there was none
 * after    the context after the edge or program changed it; well-formed
 */
MCPX_API bool mcpx_context_keeps(struct mcpx_slice before, struct mcpx_slice after);

/**
 * Appends the params of the `tools/call` that an `mcp.tool.invoke` stands for: the tool's name
 * without its prefix, the input as arguments, the context in `_meta`.
 *
 * params   those of the invocation, well-formed
 *
 * Returns false and appends nothing when they do not describe a call.
 */
MCPX_API bool mcpx_invocation_params_add(struct mcpx_text *out, struct mcpx_slice params);

/** The edge of a server, with aliases and the handshake, or the edge of a client. */
enum mcpx_side { MCPX_SIDE_SERVER = 0, MCPX_SIDE_CLIENT };

/** Common settings of an edge's calls. All is borrowed until mcpx_calls_free. */
struct mcpx_calls_options {
    const struct mcpx_terms *terms;
    struct mcpx_contracts *contracts;
    enum mcpx_side side;
    const char *transport;         /* "ws", "stdio" or "http"; static */
    struct mcpx_slice participant; /* the edge's participant id */
    bool deterministic;            /* ids are derived from the calls, not random */
};

/** The calls of one edge. One thread at a time. */
struct mcpx_calls;

/** A call on its way. */
struct mcpx_call;

/** Makes an edge's calls; NULL when memory runs out. */
MCPX_API struct mcpx_calls *mcpx_calls_new(const struct mcpx_calls_options *options);

/**
 * Frees them, and calls that have not ended, without a record. To have records, end these calls
 * before with mcpx_calls_answer.
 */
MCPX_API void mcpx_calls_free(struct mcpx_calls *calls);

/** Calls that were admitted and have not ended. */
MCPX_API size_t mcpx_calls_count(const struct mcpx_calls *calls);

/** Random bytes for the ids of one call. */
#define MCPX_CALL_RANDOM_LEN 48

/** An instant: milliseconds since 1970 for people, microseconds of a clock that never jumps. */
struct mcpx_instant {
    int64_t wall_ms;
    int64_t mono_us;
};

/** A received call. Borrowed during mcpx_calls_admit. */
struct mcpx_call_request {
    /* The JSON-RPC message as received, well-formed: `tools/call`, or on the side of a client
     * `mcp.tool.invoke`, or a faulty attempt at one of them. */
    struct mcpx_slice payload;
    /* The fault of a message that is not a JSON-RPC request (mcpx_rpc_read): the edge refuses
     * the call, and records it. NULL: it is a request. */
    const struct mcpx_fault *fault;
    /* The params to be forwarded, with the server's name of the tool; absent: those of the
     * payload. For an invocation: made by mcpx_invocation_params_add. */
    struct mcpx_slice params;
    /* The transport of this call, static; NULL: that of the options. */
    const char *transport;
    /* All tools of the server; empty: there are none; NULL: they are not known, because the
     * server is missing: the call ends as `unavailable`. */
    struct mcpx_tools *tools;
    struct mcpx_slice server_version; /* as the server states it; absent: not known */
    struct mcpx_slice envelope_id;    /* of the call's envelope; absent: none */
    struct mcpx_slice fulfils;        /* id of the fulfilled proposal; absent: none */
    /* True when the sender may call this tool. A server's edge asks for each call of an alias,
     * because the router has checked the alias only. A client's edge asks for each call. The
     * function may append members of the error's `data` to `more`, such as "kind":"...". NULL:
     * all calls are allowed. */
    bool (*may)(void *context, struct mcpx_slice tool, struct mcpx_text *more);
    void *context;
    struct mcpx_instant now;
    /* MCPX_CALL_RANDOM_LEN random bytes; NULL with deterministic ids. */
    const unsigned char *random;
    /* Limit of the edge's own answer (to the handshake), in bytes; 0: no bound. */
    size_t answer_max;
};

/**
 * An answer, without the JSON-RPC message around it. Lent until the calls are used again; it may be
 * `text` of struct mcpx_call_end itself, and then lives no longer than that.
 */
struct mcpx_call_answer {
    bool is_error; /* `text` is the `error` of the message; else it is its `result` */
    struct mcpx_slice text;
};

/** The outcome of an admission. */
struct mcpx_admission {
    /* To be forwarded, and ended by mcpx_calls_answer; NULL: the call has ended, and the sender
     * gets `answer`. */
    struct mcpx_call *call;
    /* The server's name of the tool. Lent until the call ends. */
    struct mcpx_slice tool;
    /* The params to forward; absent: the same as without terms. Lent until the calls are used
     * again. */
    struct mcpx_slice params;
    struct mcpx_call_answer answer;
};

/**
 * Admission: checks a call, and makes the params to forward.
 *
 * Returns MCPX_OK, or MCPX_ENOMEM: then there is no call and no record of it.
 */
MCPX_API enum mcpx_err mcpx_calls_admit(struct mcpx_calls *calls,
                                        const struct mcpx_call_request *request,
                                        struct mcpx_admission *out);

/**
 *   RESULT    the server's `result`
 *   ERROR     the server's JSON-RPC error object
 *   FAILED    a cause at the edge: no answer in time, the server died, the sender has cancelled
 *   REFUSED   a person refused the call. The edge has written its `result` or `error`, which
 *             passes unchanged
 */
enum mcpx_call_end_type {
    MCPX_CALL_RESULT = 0,
    MCPX_CALL_ERROR,
    MCPX_CALL_FAILED,
    MCPX_CALL_REFUSED
};

/** How a call ended. Borrowed during mcpx_calls_answer. */
struct mcpx_call_end {
    enum mcpx_call_end_type type;
    struct mcpx_slice text; /* RESULT, ERROR, REFUSED: JSON, well-formed */
    bool is_error;          /* REFUSED: `text` is an error */
    enum mcpx_cause cause;  /* FAILED */
    /* FAILED: a sentence for people; becomes `reason` in the `data` of an error, and the
     * message in an envelope; absent: none. */
    struct mcpx_slice reason;
    /* FAILED: members of the error's `data`, such as "signal":9; absent: none. */
    struct mcpx_slice more;
    /* Limit of the answer, in bytes; a longer one ends as `output_size`. 0: no bound. */
    size_t answer_max;
    struct mcpx_instant now;
};

/**
 * Completion: ends an admitted call and frees it. Each admitted call must be ended once, also when
 * its sender no longer waits for the answer.
 *
 * Returns MCPX_OK; MCPX_ENOMEM when there was no memory for the answer: the call has ended, `out`
 * has an error for it, and its records may be missing.
 */
MCPX_API enum mcpx_err mcpx_calls_answer(struct mcpx_calls *calls, struct mcpx_call *call,
                                         const struct mcpx_call_end *end,
                                         struct mcpx_call_answer *out);

/**
 * Takes the oldest remaining record. Call it after each admission or completion, until false.
 *
 * line   a JSON object and "\n", lent until the calls are used again
 */
MCPX_API bool mcpx_calls_next_record(struct mcpx_calls *calls, enum mcpx_record *which,
                                     struct mcpx_slice *line);

MCPX_END_C

#endif
