/*
 * compare.h - what the items of a gate compare: bills of materials, documents, fingerprints of
 * schemas, shapes of answers, telemetry, and what became of a call.
 */
#ifndef MCPXCTL_GATE_COMPARE_H
#define MCPXCTL_GATE_COMPARE_H

#include <mcpx/json.h>

/**
 * What is wrong with a bill; NULL when nothing is. It is JSON: that of SPDX has `spdxVersion` and
 * `packages`, that of CycloneDX `bomFormat` and `components`, and there is at least one of them.
 *
 * count   filled with how many packages or components there are, when nothing is wrong
 */
const char *bill_fault(struct mcpx_slice text, size_t *count);

/** What a comparison of two documents came to. */
enum difference { DIFFERENCE_NONE, DIFFERENCE_FOUND, DIFFERENCE_UNKNOWN };

/**
 * Compares two documents by value: the order of members and the way in which a number is written do
 * not count.
 *
 * path   the JSON Pointer of what differs first is appended; "" is the whole text
 *
 * Returns DIFFERENCE_UNKNOWN when one is no JSON or ambiguous.
 */
enum difference gate_difference_find(struct mcpx_text *path, struct mcpx_slice was,
                                     struct mcpx_slice is);

/**
 * Appends {TOOL: {"input": "sha256:...", "output": "sha256:..." or null}}, the tools in the order
 * of their names.
 *
 * tools   the tools of a server, a JSON array
 * tool    filled on failure with the tool (raw JSON) that is at fault
 *
 * Returns false when a tool has no name or no input schema, or a schema is ambiguous, or a name
 * stands twice.
 */
bool fingerprints_add(struct mcpx_text *out, struct mcpx_slice tools, struct mcpx_slice *tool);

/**
 * Compares two such documents. Appends a sentence about each tool that was added, changed or is
 * gone, with "; " between them. Returns true when they are equal.
 *
 * was   as it was written down: any well-formed JSON
 * is    as fingerprints_add wrote it
 */
bool fingerprints_equal(struct mcpx_text *out, struct mcpx_slice was, struct mcpx_slice is);

/**
 * Appends the shape of a value, as JSON: of an object the names of its members with the shapes of
 * their values, in the order of the names; of an array the set of its items' shapes; of anything
 * else the name of its type. Two values have the same shape when these texts are equal.
 *
 * value   well-formed
 *
 * Returns false for what has no shape: nested more than 128 deep, or with a name that stands twice.
 * On failure `out` keeps its content.
 */
bool shape_add(struct mcpx_text *out, struct mcpx_slice value);

/** What a line is about. */
enum event_type { EVENT_ALIAS, EVENT_CALL, EVENT_RESULT };

/** A line. Slices are raw JSON of the log. `tool` is absent in a result. */
struct event {
    enum event_type type;
    size_t line;
    struct mcpx_slice request;
    struct mcpx_slice tool;
};

/** The lines of a log; zero-initialised is empty. */
struct events {
    struct event *list;
    size_t count;
    size_t size;
};

/**
 * Adds a line.
 *
 * text   an event that keeps its contract; borrowed as long as the events are used
 * line   its number, from 1
 */
void events_add(struct events *events, struct mcpx_slice text, size_t line);

/** Frees them. */
void events_fini(struct events *events);

/**
 * Sorts the events by their calls; none is added after that. Appends the fault with the smallest
 * line number, if there is one: a call without a result, a result without a call, an alias that its
 * call does not follow, or that is of another tool. Returns true when there is none.
 */
bool events_pair_up(struct events *events, struct mcpx_text *fault);

/** True when a call with this id (unescaped) is among them, after events_pair_up. */
bool events_have(const struct events *events, struct mcpx_slice request);

/**
 * The word: "ok"; the canonical code of an error, which stands in the `data` of a JSON-RPC error,
 * in the error of a response.v1 or in the first one of an mcp.envelope.v0.1; "error" for one
 * without.
 *
 * response   a JSON-RPC response, well-formed
 *
 * Returns static text.
 */
const char *outcome_of(struct mcpx_slice response);

#endif
