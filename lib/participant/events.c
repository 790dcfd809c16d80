/*
 * events.c - a ring. It grows before a change of state, never during one: callers make room
 * first, so that no event is lost and no change has to be undone. The names of events and
 * violations are here too.
 */
#include "lib/participant/events.h"

#include <stdlib.h>

const char *mcpx_event_name(enum mcpx_event_type type)
{
    static const char *const names[MCPX_EVENT_COUNT] = {
        [MCPX_EVENT_JOINED] = "joined",
        [MCPX_EVENT_LEFT] = "left",
        [MCPX_EVENT_PRESENCE] = "presence",
        [MCPX_EVENT_GRANTS] = "grants",
        [MCPX_EVENT_HISTORY] = "history",
        [MCPX_EVENT_REQUEST] = "request",
        [MCPX_EVENT_NOTIFICATION] = "notification",
        [MCPX_EVENT_PROPOSAL] = "proposal",
        [MCPX_EVENT_WITHDRAWN] = "withdrawn",
        [MCPX_EVENT_REJECTED] = "rejected",
        [MCPX_EVENT_MESSAGE] = "message",
        [MCPX_EVENT_OBSERVED] = "observed",
        [MCPX_EVENT_RESPONSE] = "response",
        [MCPX_EVENT_FULFILLING] = "fulfilling",
        [MCPX_EVENT_EXPIRED] = "expired",
        [MCPX_EVENT_REFUSED] = "refused",
        [MCPX_EVENT_DELIVERED] = "delivered",
        [MCPX_EVENT_VIOLATION] = "violation",
    };

    return (unsigned)type < MCPX_EVENT_COUNT ? names[type] : "unknown";
}

#define NAME(constant, name, sentence) [constant] = (name),
#define SENTENCE(constant, name, sentence) [constant] = (sentence),

const char *mcpx_violation_name(enum mcpx_violation violation)
{
    static const char *const names[] = {[MCPX_VIOLATION_NONE] = "none", MCPX_VIOLATIONS(NAME)};

    return (unsigned)violation < MCPX_VIOLATION_COUNT ? names[violation] : "unknown";
}

const char *mcpx_violation_text(enum mcpx_violation violation)
{
    static const char *const sentences[] = {
        [MCPX_VIOLATION_NONE] = "the message is as it should be", MCPX_VIOLATIONS(SENTENCE)};

    return (unsigned)violation < MCPX_VIOLATION_COUNT ? sentences[violation]
                                                      : "unknown violation";
}

bool mx_events_reserve(struct mx_events *events, size_t more)
{
    size_t size = events->size ? events->size : 16;
    struct mx_event *slots;

    if (more > SIZE_MAX / sizeof *slots / 4 - events->count)
        return false;
    while (size < events->count + more)
        size *= 2;
    if (size == events->size)
        return true;
    slots = malloc(size * sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < events->count; i++)
        slots[i] = events->slots[(events->first + i) & (events->size - 1)];
    free(events->slots);
    events->slots = slots;
    events->size = size;
    events->first = 0;
    return true;
}

struct mx_event *mx_events_push(struct mx_events *events, enum mcpx_event_type type)
{
    struct mx_event *event =
        &events->slots[(events->first + events->count++) & (events->size - 1)];

    *event = (struct mx_event){.told.type = type};
    return event;
}

bool mx_events_pop(struct mx_events *events, struct mx_event *out)
{
    if (events->count == 0)
        return false;
    *out = events->slots[events->first];
    events->first = (events->first + 1) & (events->size - 1);
    events->count--;
    return true;
}

void mx_event_fini(struct mx_event *event)
{
    mx_block_unref(event->block);
    mx_own_unref(event->own);
    free(event->words);
    *event = (struct mx_event){0};
}

void mx_events_fini(struct mx_events *events)
{
    struct mx_event event;

    while (mx_events_pop(events, &event))
        mx_event_fini(&event);
    free(events->slots);
    *events = (struct mx_events){0};
}
