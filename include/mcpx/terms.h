/*
 * terms.h - which contracts an edge keeps for its calls, and the calls. A call goes through two
 * doors: it is admitted before it is passed on, and it ends, whatever its end is. Between them the
 * edge does what it always does. Texts go in and come out: there is no clock, no file and no chance
 * here, the edge brings what it has of them.
 */
#ifndef MCPX_TERMS_H
#define MCPX_TERMS_H

#include <mcpx/contract.h>
#include <mcpx/record.h>

MCPX_BEGIN_C

/** The member of `_meta` in which a call has its context. */
#define MCPX_CONTEXT_MEMBER "io.mcpx/context"

/** Terms that were read: immutable. docs/contracts.md has the members. */
struct mcpx_terms;

/**
 * Reads terms.
 *
 * text     a JSON object that keeps the contract `terms`; borrowed
 * report   filled: what is wrong with it, with paths
 * out      filled with terms that mcpx_terms_free frees; untouched on failure
 *
 * Returns MCPX_OK; MCPX_EINVALID; MCPX_ELIMIT when a bound was met; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_terms_read(struct mcpx_contracts *contracts,
                                       struct mcpx_slice text,
                                       struct mcpx_schema_report *report,
                                       struct mcpx_terms **out);

/** Frees terms. The calls that keep them are gone by then. */
MCPX_API void mcpx_terms_free(struct mcpx_terms *terms);

/** From now on the tools of one participant hold compiled what these terms allow. */
MCPX_API void mcpx_terms_limit(const struct mcpx_terms *terms, struct mcpx_shelf *shelf);

/**
 * Where calls are written down. Returns false, and leaves what it was given, when they are not.
 *
 * dir          lent until the terms are freed; NUL-terminated
 * keep         how many of the newest files stay
 * file_bytes   how long a file becomes; 0: no bound
 */
MCPX_API bool mcpx_terms_log(const struct mcpx_terms *terms, const char **dir, size_t *keep,
                             size_t *file_bytes);

/** True when mcp.capabilities.get is answered by the edge of a server. */
MCPX_API bool mcpx_terms_has_handshake(const struct mcpx_terms *terms);

/** True when a tool looks other in `tools/list` than its server shows it, or there is one more. */
MCPX_API bool mcpx_terms_change_lists(const struct mcpx_terms *terms);

/**
 * Appends one tool as `tools/list` shows it under the terms: unchanged, or with the outline of an
 * envelope as its output schema.
 *
 * name   of the tool as its server calls it, unescaped: the terms for one tool go by it
 * tool   the tool's object, perhaps with another name already
 */
MCPX_API void mcpx_terms_tool_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                                  struct mcpx_slice name, struct mcpx_slice tool);

/**
 * Appends the result of a server's `tools/list` as its edge shows it: each tool as
 * mcpx_terms_tool_add does, and on the last page the tool of the handshake, if there is one.
 *
 * result   well-formed; what is no list of tools is appended as it is
 * tools    all tools of the server, or NULL: one that has the name of the handshake's tool wins
 */
MCPX_API void mcpx_terms_list_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                                  struct mcpx_slice result, const struct mcpx_tools *tools);

/**
 * Appends what a person should know about terms that do not fit the server they are for: sentences,
 * each with a newline. They are about an alias that is a tool, or stands for none; a tool that has
 * the name of the handshake's; terms for a tool that is not there. What mcpx_tools_doubts_add says
 * is among them.
 */
MCPX_API void mcpx_terms_doubts_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                                    struct mcpx_tools *tools);

/**
 * True when what an edge or program does with a context keeps it: each member that the contract
 * requires is there, and none that was filled is empty. Members may be added.
 *
 * before   a context; absent: there was none
 * after    what becomes of it; well-formed
 */
MCPX_API bool mcpx_context_keeps(struct mcpx_slice before, struct mcpx_slice after);

/**
 * Appends the params of the `tools/call` that an `mcp.tool.invoke` stands for: the tool's name
 * without its prefix, the input as arguments, the context in `_meta`.
 *
 * params   those of the invocation, well-formed
 *
 * Returns false and appends nothing when no call can be made of them.
 */
MCPX_API bool mcpx_invocation_params_add(struct mcpx_text *out, struct mcpx_slice params);

/** Which edge it is: that of a server, which has aliases and the handshake, or that of a client. */
enum mcpx_side { MCPX_SIDE_SERVER = 0, MCPX_SIDE_CLIENT };

/** What the calls of an edge have in common. All is borrowed until mcpx_calls_free. */
struct mcpx_calls_options {
    const struct mcpx_terms *terms;
    struct mcpx_contracts *contracts;
    enum mcpx_side side;
    const char *transport;         /* "ws", "stdio" or "http"; static */
    struct mcpx_slice participant; /* id of the participant that the edge is */
    bool deterministic;            /* ids are made of the calls, not by chance */
};

/** The calls of one edge. One thread at a time. */
struct mcpx_calls;

/** A call on its way. */
struct mcpx_call;

/** Makes them; NULL when memory runs out. */
MCPX_API struct mcpx_calls *mcpx_calls_new(const struct mcpx_calls_options *options);

/**
 * Frees them, and calls that have not ended: those leave no record. Whoever wants one ends them
 * first.
 */
MCPX_API void mcpx_calls_free(struct mcpx_calls *calls);

/** Calls that were admitted and have not ended. */
MCPX_API size_t mcpx_calls_count(const struct mcpx_calls *calls);

/** Random bytes that the ids of one call are made of. */
#define MCPX_CALL_RANDOM_LEN 48

/** An instant: milliseconds since 1970 for people, microseconds of a clock that never jumps. */
struct mcpx_instant {
    int64_t wall_ms;
    int64_t mono_us;
};

/** A call that came. Borrowed during mcpx_calls_admit. */
struct mcpx_call_request {
    /* The JSON-RPC message as it came, well-formed: `tools/call`, or on the side of a client
     * `mcp.tool.invoke`, or what was meant to be one. */
    struct mcpx_slice payload;
    /* Why the message is no JSON-RPC request (mcpx_rpc_read), although a call was meant: it is
     * refused, and leaves its record. NULL: it is one. */
    const struct mcpx_fault *fault;
    /* Those that the edge would pass on, with the name that the tool has at its server; absent:
     * those of the payload. Of an invocation: made by mcpx_invocation_params_add. */
    struct mcpx_slice params;
    /* Static; if this call came by another one than the options say; else NULL. */
    const char *transport;
    /* All tools of the server; empty: there are none; NULL: they are not known, because the
     * server is not there: the call ends as `unavailable`. */
    struct mcpx_tools *tools;
    struct mcpx_slice server_version; /* what the server says of itself; absent: not known */
    struct mcpx_slice envelope_id;    /* of the envelope that it came in; absent: none */
    struct mcpx_slice fulfils;        /* id of the proposal that it fulfils; absent: none */
    /* Whether the sender may call this tool. Asked on the side of a server when an alias was
     * called: the router has asked for the alias only. Asked on the side of a client for each
     * call. It may append members of the error's `data` to `more`, such as "kind":"...". NULL:
     * yes. */
    bool (*may)(void *context, struct mcpx_slice tool, struct mcpx_text *more);
    void *context;
    struct mcpx_instant now;
    /* MCPX_CALL_RANDOM_LEN random bytes; NULL with deterministic ids, which need none. */
    const unsigned char *random;
    /* Bytes that an answer of the edge itself, the handshake, may have; 0: any number. */
    size_t answer_max;
};

/**
 * An answer, without the JSON-RPC message around it. Lent until the calls are used again, and no
 * longer than the text that the call ended with: it may be that text.
 */
struct mcpx_call_answer {
    bool is_error; /* `text` is the `error` of the message; else it is its `result` */
    struct mcpx_slice text;
};

/** What becomes of a call. */
struct mcpx_admission {
    /* It is passed on, and ended by mcpx_calls_answer; NULL: it has ended, and `answer` is what
     * the sender gets. */
    struct mcpx_call *call;
    /* The tool, by the name that its server has for it. Lent until the call ends. */
    struct mcpx_slice tool;
    /* What is passed on; absent: what the edge would pass on without terms. Lent until the
     * calls are used again. */
    struct mcpx_slice params;
    struct mcpx_call_answer answer;
};

/**
 * The first door: is it a call that can work, and what is passed on?
 *
 * Returns MCPX_OK, or MCPX_ENOMEM: then the call never was, and leaves no record.
 */
MCPX_API enum mcpx_err mcpx_calls_admit(struct mcpx_calls *calls,
                                        const struct mcpx_call_request *request,
                                        struct mcpx_admission *out);

/**
 *   RESULT    the server's `result`
 *   ERROR     the server's JSON-RPC error object
 *   FAILED    a cause of ours: no answer in time, the server died, the sender has cancelled
 *   REFUSED   a person said no, and the edge has written the `result` or `error` that says so:
 *             it passes as it is
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
     * message in an envelope; absent: there is none to say. */
    struct mcpx_slice reason;
    /* FAILED: members of the error's `data`, such as "signal":9; absent: none. */
    struct mcpx_slice more;
    /* Bytes that the answer may have; what is longer ends as `output_size`. 0: no bound. */
    size_t answer_max;
    struct mcpx_instant now;
};

/**
 * The second door: each admitted call goes through it once, also when nobody waits for the answer.
 * Frees the call.
 *
 * Returns MCPX_OK; MCPX_ENOMEM when there was no memory for the answer: the call has ended, `out`
 * has an error that says so, and its records may be missing.
 */
MCPX_API enum mcpx_err mcpx_calls_answer(struct mcpx_calls *calls, struct mcpx_call *call,
                                         const struct mcpx_call_end *end,
                                         struct mcpx_call_answer *out);

/**
 * Takes the oldest record that was not taken yet: after each door, until it returns false.
 *
 * line   a JSON object and "\n", lent until the calls are used again
 */
MCPX_API bool mcpx_calls_next_record(struct mcpx_calls *calls, enum mcpx_record *which,
                                     struct mcpx_slice *line);

MCPX_END_C

#endif
