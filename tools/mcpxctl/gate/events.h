/*
 * events.h - the lines of a telemetry log as stories of calls: does each have its end?
 */
#ifndef MCPXCTL_GATE_EVENTS_H
#define MCPXCTL_GATE_EVENTS_H

#include <mcpx/json.h>

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
 *
 * Returns false when memory runs out.
 */
bool events_add(struct events *events, struct mcpx_slice text, size_t line);

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

#endif
