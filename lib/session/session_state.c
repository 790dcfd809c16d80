/*
 * session_state.c - what every part of a session uses. Pauses grow, with jitter: when a router
 * restarts, its participants must not all connect again at the same instant. Events wait in a ring,
 * which grows before a change of state: callers make room first, so that no event is lost and no
 * change must be undone. When something happens, the event notes its message; when
 * the event is told, the message is read again. The event told last keeps all that it lends.
 */
#include "lib/session/session_state.h"

#include <stdlib.h>

bool mcpx_session_is_joined(const struct mcpx_session *session)
{
    return session->connection == MX_JOINED;
}

struct mcpx_slice mcpx_session_id(const struct mcpx_session *session)
{
    return mx_id_of(session->us);
}

static void fill(const struct mcpx_session *session, void *bytes, size_t len)
{
    session->config.fill(session->config.context, bytes, len);
}

int64_t mx_session_pause(const struct mcpx_session *session, unsigned *failures)
{
    enum { FIRST_MS = 500, DOUBLINGS = 6 };
    int64_t pause = (int64_t)FIRST_MS << (*failures < DOUBLINGS ? *failures : DOUBLINGS);
    uint32_t chance;

    if (pause > MX_BACKOFF_MAX_MS)
        pause = MX_BACKOFF_MAX_MS;
    ++*failures;
    fill(session, &chance, sizeof chance);
    return pause / 2 + (int64_t)(chance % (uint32_t)(pause / 2 + 1));
}

/* ---- events ---- */

#define EVENT(constant, name) [constant] = (name),
#define VIOLATION(constant, name, sentence) [constant] = {(name), (sentence)},

const char *mcpx_event_name(enum mcpx_event_type type)
{
    static const char *const names[] = {MCPX_EVENTS(EVENT)};

    return (unsigned)type < MCPX_EVENT_COUNT ? names[type] : "unknown";
}

static const struct {
    const char *name, *sentence;
} violations[] = {[MCPX_VIOLATION_NONE] = {"none", "the message is as it should be"},
                  MCPX_VIOLATIONS(VIOLATION)};

const char *mcpx_violation_name(enum mcpx_violation violation)
{
    return (unsigned)violation < MCPX_VIOLATION_COUNT ? violations[violation].name : "unknown";
}

const char *mcpx_violation_text(enum mcpx_violation violation)
{
    return (unsigned)violation < MCPX_VIOLATION_COUNT ? violations[violation].sentence
                                                      : "unknown violation";
}

static bool events_reserve(struct mx_events *events, size_t more)
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

static bool events_pop(struct mx_events *events, struct mx_event *out)
{
    if (events->count == 0)
        return false;
    *out = events->slots[events->first];
    events->first = (events->first + 1) & (events->size - 1);
    events->count--;
    return true;
}

static void event_fini(struct mx_event *event)
{
    mx_block_unref(event->block);
    mx_own_unref(event->own);
    mx_block_unref(event->words);
    *event = (struct mx_event){0};
}

static void events_fini(struct mx_events *events)
{
    struct mx_event event;

    while (events_pop(events, &event))
        event_fini(&event);
    free(events->slots);
    *events = (struct mx_events){0};
}

struct mx_event *mx_tell(struct mcpx_session *session, enum mcpx_event_type type,
                         const struct mx_incoming *in, struct mx_own *own)
{
    struct mx_events *events = &session->events;
    struct mx_event *event =
        &events->slots[(events->first + events->count++) & (events->size - 1)];

    *event = (struct mx_event){.told.type = type};
    if (in && in->envelope) {
        event->block = mx_block_ref(in->block);
        event->envelope = in->span;
        event->has_rpc = in->rpc != NULL;
    }
    if (own) {
        event->own = mx_own_ref(own);
        event->told.own = own->id;
        event->told.tag = own->tag;
    }
    return event;
}

enum mcpx_err mx_tell_violation(struct mcpx_session *session, const struct mx_incoming *in,
                                enum mcpx_violation violation, struct mcpx_fault fault)
{
    struct mx_event *event = mx_tell(session, MCPX_EVENT_VIOLATION, in, NULL);

    event->told.violation = violation;
    event->told.fault = fault;
    return MCPX_OK;
}

enum mcpx_err mx_tell_expected(struct mcpx_session *session, const struct mx_incoming *in,
                               enum mcpx_violation violation, const char *field,
                               const char *expected)
{
    return mx_tell_violation(session, in, violation, (struct mcpx_fault){expected, field, 0});
}

/* All was read before, by the same reader: it cannot fail. */
static void read_again(struct mcpx_session *session, struct mx_event *event)
{
    struct mcpx_event *told = &event->told;
    struct mcpx_slice about;
    struct mcpx_fault fault;

    if (mx_reader_read(&session->reader, event->block, event->envelope, &fault))
        return;
    told->envelope = &session->reader.envelope;
    if (event->has_rpc)
        told->rpc = mx_reader_rpc(&session->reader);
    about = told->envelope->correlation_id;
    if (event->names_proposal)
        told->proposal = about;
    if (told->type == MCPX_EVENT_REFUSED && !event->own)
        told->own = about;
}

bool mcpx_session_event(struct mcpx_session *session, struct mcpx_event *event)
{
    struct mx_event next;

    if (!events_pop(&session->events, &next))
        return false;
    event_fini(&session->told);
    session->told = next;
    if (next.block)
        read_again(session, &session->told);
    *event = session->told.told;
    return true;
}

/* ---- the session ---- */

/* Each envelope under way makes two events more: it arrives, and it is answered or expires. The end
 * of the connection makes one. Room for all of these is made beforehand. */
bool mx_session_reserve(struct mcpx_session *session, size_t more)
{
    return events_reserve(&session->events, more + 2 * session->pending.ids.count + 1);
}

enum {
    REQUEST_MS = 60000,
    PROPOSAL_MS = 600000,
    PENDING_MAX = 10000,
    INBOUND_MAX = 10000,
    UNSENT_BYTES = 64 * 1024 * 1024
};

static struct mcpx_session_config with_defaults(const struct mcpx_session_config *config)
{
    struct mcpx_session_config filled = *config;

    if (!filled.request_ms)
        filled.request_ms = REQUEST_MS;
    if (!filled.proposal_ms)
        filled.proposal_ms = PROPOSAL_MS;
    if (!filled.pending_max)
        filled.pending_max = PENDING_MAX;
    if (!filled.inbound_max)
        filled.inbound_max = INBOUND_MAX;
    if (!filled.unsent_bytes)
        filled.unsent_bytes = UNSENT_BYTES;
    return filled;
}

static void make_instance(struct mcpx_session *session)
{
    unsigned char random[MX_INSTANCE_KEY_LEN / 2];

    fill(session, random, sizeof random);
    mx_hex_format(random, sizeof random, session->instance_key);
    memcpy(session->instance, "auto", sizeof "auto");
}

enum mcpx_err mcpx_session_new(const struct mcpx_session_config *config,
                               struct mcpx_session **out)
{
    struct mcpx_session *session = calloc(1, sizeof *session);
    struct mx_map_key key;

    if (!session)
        return MCPX_ENOMEM;
    session->config = with_defaults(config);
    if (!mx_session_reserve(session, 0)) {
        free(session);
        return MCPX_ENOMEM;
    }
    fill(session, &key, sizeof key);
    session->pending.key = key;
    session->requests =
        (struct mx_inbound){.senders.key = key, .max = session->config.inbound_max};
    session->proposals = session->requests;
    session->recent = (struct mx_recent){.key = key, .max = session->config.inbound_max};
    session->outbox = (struct mx_outbox){
        .held_until = INT64_MIN, .paused_until = INT64_MIN, .window = MX_WINDOW};
    if (session->config.instance)
        make_instance(session);
    *out = session;
    return MCPX_OK;
}

void mcpx_session_free(struct mcpx_session *session)
{
    if (!session)
        return;
    event_fini(&session->told);
    events_fini(&session->events);
    mx_outbox_give_back(&session->outbox);
    mx_pending_fini(&session->pending);
    mx_inbound_fini(&session->requests);
    mx_inbound_fini(&session->proposals);
    mx_recent_fini(&session->recent);
    mx_roster_fini(&session->roster);
    mx_absent_fini(&session->absent);
    mx_person_free(session->us);
    mx_person_free(session->former);
    mx_reader_fini(&session->reader);
    free(session);
}
