/*
 * events.h - the events that the application has not fetched yet, in order.
 */
#ifndef MX_EVENTS_H
#define MX_EVENTS_H

#include "lib/participant/own.h"
#include <mcpx/session.h>

/** Where an event's `proposal` comes from. */
enum mx_proposal_id { MX_PROPOSAL_NONE, MX_PROPOSAL_CORRELATION, MX_PROPOSAL_OWN };

/**
 * One event that waits. Its envelope is kept as text, and read again when the event is told: a
 * struct mcpx_envelope is large, and a page of history makes thousands of events.
 *
 * told        the members that need no envelope: type, presence, violation, fault, err,
 *             resumed, same, code, retry_ms; and participant, alternative and reason, which
 *             point into `words`
 * block       text with the envelope; NULL when there is none
 * envelope    its extent in the block
 * has_rpc     its payload is a JSON-RPC message that fits its kind
 * own         the envelope of ours it is about, a reference; NULL = none
 * own_is_correlation
 *             `own` is NULL here, and the event's `own` is its correlation_id
 * words       the bytes of slices, in one piece of memory; or NULL
 */
struct mx_event {
    struct mcpx_event told;
    struct mx_block *block;
    struct mcpx_slice envelope;
    bool has_rpc;
    bool own_is_correlation;
    enum mx_proposal_id proposal;
    struct mx_own *own;
    char *words;
};

/** The queue: a ring whose size is a power of two, or 0. Zero-initialised is empty. */
struct mx_events {
    struct mx_event *slots;
    size_t size, first, count;
};

/** Frees the queue and what its events hold. */
void mx_events_fini(struct mx_events *events);

/** Makes room for `more` events beyond those that wait; false when memory runs out. */
bool mx_events_reserve(struct mx_events *events, size_t more);

/** Adds an event for the caller to fill. Room for it was made before. */
struct mx_event *mx_events_push(struct mx_events *events, enum mcpx_event_type type);

/** Takes out the next event, for the caller to free. Returns false when there is none. */
bool mx_events_pop(struct mx_events *events, struct mx_event *out);

/** Frees the references and memory of an event. */
void mx_event_fini(struct mx_event *event);

#endif
