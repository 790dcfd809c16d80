/*
 * record.h - the records of an edge: a line of telemetry, a line of validation, the handshake;
 * and a comparison of two logs. docs/contracts.md shows them.
 *
 * Nothing here ever holds a value of an argument or of a result. Texts are UTF-8, unescaped, and
 * borrowed during the call. Of a text in a line only the first MCPX_RECORD_TEXT_MAX characters are
 * written.
 */
#ifndef MCPX_RECORD_H
#define MCPX_RECORD_H

#include <mcpx/contract.h>

MCPX_BEGIN_C

/** The two logs of an edge, each a folder of files of lines. */
enum mcpx_record { MCPX_RECORD_VALIDATION = 0, MCPX_RECORD_TELEMETRY };
#define MCPX_RECORD_COUNT 2

/** Characters (code points) of a text in a line: an id, the name of a tool, a path. */
#define MCPX_RECORD_TEXT_MAX 200

/** Letters of a schema's version as records have it: "sha256:" and 12 digits. */
#define MCPX_SCHEMA_VERSION_LEN 19

/**
 * Writes a schema's version, and a NUL: "sha256:" and the first 12 digits of its fingerprint, or
 * "none" when `schema` is NULL.
 */
MCPX_API void mcpx_schema_version(const struct mcpx_schema *schema,
                                  char out[MCPX_SCHEMA_VERSION_LEN + 1]);

/** The outcome of a call. DEGRADED: it has a result, and also an error. */
enum mcpx_outcome { MCPX_OUTCOME_OK = 0, MCPX_OUTCOME_DEGRADED, MCPX_OUTCOME_ERROR };

/**
 * The events of a call, in the order in which they are written: its alias, if it came by one; the
 * call; exactly one result.
 */
enum mcpx_telemetry_event {
    MCPX_TELEMETRY_ALIAS = 0, /* mcp.alias.call */
    MCPX_TELEMETRY_CALL,      /* mcp.tool.call */
    MCPX_TELEMETRY_RESULT,    /* mcp.tool.result */
};

/**
 * One event. Members of other events are ignored. "none" is written for an absent or empty text,
 * because the contract requires a text. `actor` and `mode` become "agent" and "operator", as in a
 * context made by an edge, when they are absent, empty or not a word of the contract.
 */
struct mcpx_telemetry {
    enum mcpx_telemetry_event event;
    int64_t wall_ms;              /* the wall clock of it; see `latest` */
    struct mcpx_slice request_id; /* the same in all events of a call; so is trace_id */
    struct mcpx_slice trace_id;
    struct mcpx_slice tool;            /* canonical name, also after an alias */
    struct mcpx_slice alias;           /* ALIAS: the name that the call came with */
    struct mcpx_slice fixture_version; /* ALIAS */
    struct mcpx_slice tool_namespace;  /* CALL: mcpx_namespace_of */
    /* `actor`, `mode`: CALL: of the call's context. */
    struct mcpx_slice actor;
    struct mcpx_slice mode;
    /* CALL: of the tool's input schema; RESULT: of its output schema. */
    struct mcpx_slice schema_version;
    enum mcpx_outcome outcome; /* RESULT */
    /* RESULT that is not OK: the code of its error; MCPX_CODE_COUNT: none is known; for an ERROR
     * this counts as INTERNAL_ERROR. */
    enum mcpx_code category;
    /* RESULT: microseconds, written as milliseconds; negative counts as 0. */
    int64_t duration_us;
};

/**
 * Appends the line of an event, with its "\n". The line keeps the contract `event` and holds no
 * other members. Memory failure shows in `out`.
 *
 * latest   the time of the last line of the same file, 0 at first; updated. `ts` is never before
 *          it: when the clock was set back, time stands still. Lines of a file are written in the
 *          order in which they are composed.
 */
MCPX_API void mcpx_telemetry_add(struct mcpx_text *out, const struct mcpx_telemetry *event,
                                 int64_t *latest);

/** One call as the validation log has it: "none" where an id or the transport is empty. */
struct mcpx_validation {
    int64_t wall_ms;
    struct mcpx_slice transport; /* "ws", "stdio" or "http" */
    struct mcpx_slice route;     /* the method that it came with; absent: null */
    struct mcpx_slice request_id;
    struct mcpx_slice trace_id;
    struct mcpx_slice span_id; /* of this edge's part in the trace */
    /* Canonical name; written as null when absent (the tool was not found), not when empty. */
    struct mcpx_slice tool;
    struct mcpx_slice mode; /* "enforce" or "shadow" */
    bool deterministic;     /* ids are those of mcpx_ids_next */
    /* Something was wrong: first of all `cause`, at `path`, written as null when absent, not
     * when empty. */
    bool failed;
    enum mcpx_cause cause;
    struct mcpx_slice path;
    /* Of the schema of the arguments; absent or empty: "none", as with output_version. */
    struct mcpx_slice input_version;
    struct mcpx_slice output_version;
    /* Of `arguments`, 0 without; output_bytes of `result` as the server sent it. */
    size_t input_bytes;
    size_t output_bytes;
    int64_t duration_us; /* microseconds, written as milliseconds; negative counts as 0 */
};

/**
 * Appends the line of a call, with its "\n": sixteen members. Memory failure shows in `out`.
 *
 * latest   as with mcpx_telemetry_add, for the file of this log
 */
MCPX_API void mcpx_validation_add(struct mcpx_text *out, const struct mcpx_validation *line,
                                  int64_t *latest);

/** A namespace of tools. Absent or empty are version "0.0", owner "unowned", "unspecified". */
struct mcpx_namespace {
    struct mcpx_slice name;
    struct mcpx_slice version;
    struct mcpx_slice owner;
    struct mcpx_slice stability;
};

/** The namespaces that are known, in any order, each once. */
struct mcpx_namespaces {
    const struct mcpx_namespace *list;
    size_t count;
    struct mcpx_slice participant; /* the namespace of tools whose names have no dot */
};

/**
 * The namespace of a tool: the longest known one before a dot of its name ("billing.aws" and
 * "billing" of "billing.aws.ingest"), else the text before the name's first dot, else the
 * participant's id. Lent by `known` or `tool`.
 */
MCPX_API struct mcpx_slice mcpx_namespace_of(const struct mcpx_namespaces *known,
                                             struct mcpx_slice tool);

/** Another name of a tool. */
struct mcpx_alias {
    struct mcpx_slice alias;
    struct mcpx_slice canonical;
};

/** The tool for the handshake, and the namespace that lists this tool when known. */
#define MCPX_HANDSHAKE_TOOL "mcp.capabilities.get"
#define MCPX_HANDSHAKE_NAMESPACE "mcp.capabilities"

/** The tools of a server, their versions, and their namespaces with owners. */
struct mcpx_handshake {
    struct mcpx_slice mcp_version;    /* not empty */
    struct mcpx_slice schema_version; /* YYYY-MM-DD */
    const struct mcpx_slice *flags;   /* in the order in which they are listed */
    size_t flag_count;
    /* From the contract settings; others come from the tools' names. */
    struct mcpx_namespaces namespaces;
    /* The server's, in any order; a name that stands twice is listed once. */
    const struct mcpx_slice *tools;
    size_t tool_count;
    bool aliases_enabled;              /* else `aliases` is not read */
    struct mcpx_slice alias_namespace; /* absent: "" */
    struct mcpx_slice fixture_version; /* absent: "" */
    const struct mcpx_alias *aliases;  /* in any order */
    size_t alias_count;
};

/**
 * Appends the handshake, one JSON object that keeps the contract `capabilities`. It depends on its
 * arguments alone, and not on their order: the same surface gives the same bytes. When
 * MCPX_HANDSHAKE_NAMESPACE is known, MCPX_HANDSHAKE_TOOL is listed there, although no server has
 * it.
 *
 * Returns MCPX_OK, or MCPX_ENOMEM and leaves `out` as it was.
 */
MCPX_API enum mcpx_err mcpx_handshake_add(struct mcpx_text *out,
                                          const struct mcpx_handshake *handshake);

/** The two logs that are compared. */
enum mcpx_parity_side { MCPX_PARITY_GOLDEN = 0, MCPX_PARITY_NEW };

/**
 * A comparison of two logs of the same calls, line by line. All but the first two is zero at first,
 * and then filled.
 */
struct mcpx_parity {
    /* Called for each difference: its line, from 1, and the JSON Pointer of the differing value,
     * lent during the call; "" when one side has no such line. May be NULL. */
    void (*differ)(void *context, size_t line, struct mcpx_slice path);
    void *context;                 /* handed to `differ` */
    size_t lines[2];               /* read so far of each side, by enum mcpx_parity_side */
    size_t differences;            /* found so far; 0: the logs are equal */
    enum mcpx_parity_side side;    /* where the fault is, when there is one */
    struct mx_parity_state *state; /* private */
};

/**
 * Compares the next line of both as JSON values, without the members that depend on the run or the
 * transport: ts, traceId, spanId, requestId, durationMs, transport, route. The order of members and
 * the spelling of numbers and strings do not count. The time is n log n for n members.
 *
 * lines   by enum mcpx_parity_side, without their ends; borrowed. Absent: that log has no more
 * fault   filled when a line cannot be read: reason, and offset in that line; may be NULL
 *
 * Returns MCPX_OK, also when the lines differ; MCPX_EINVALID or MCPX_EUTF8 when a line is not JSON,
 * or is ambiguous; MCPX_ENOMEM. A failure ends the comparison.
 */
MCPX_API enum mcpx_err mcpx_parity_next(struct mcpx_parity *parity,
                                        const struct mcpx_slice lines[2],
                                        struct mcpx_fault *fault);

/** Frees the memory of a comparison. The counts stay. */
MCPX_API void mcpx_parity_fini(struct mcpx_parity *parity);

MCPX_END_C

#endif
