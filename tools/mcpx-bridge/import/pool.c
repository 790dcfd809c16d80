/*
 * pool.c - which server a message belongs to, and which servers there are. A slot is a number with
 * a server's state; it is made when its owner first asks for something, and ends when the owner has
 * had nothing to do with it for a while. Nobody's arrival ends the process of somebody who is
 * there: where there is no room, one's own idle ones give way, then those of who left, or the
 * request is refused. A process that is ending still counts, so the new one may have to wait.
 *
 * Lists are asked of server 0 alone. A process for everybody who looks was refused: rooms have
 * many who look and few who call.
 */
#include "tools/mcpx-bridge/import/pool.h"

#include "tools/mcpx-bridge/import/state.h"

#include <stdlib.h>

/* Of all processes, one part of so many may be one participant's. */
enum { OF_ONE = 4 };

enum phase { SLOT_FREE, SLOT_WAITING, SLOT_RUNNING, SLOT_STOPPING, SLOT_OVER };

struct slot {
    enum phase phase; /* OVER: free once everything is done that its server wanted */
    bool is_away;     /* the owner has left the topic */
    struct import *import;
    struct bridge_who owner; /* its id is memory of ours; absent for slot 0 */
    /* mono_ms at which it ends, unless it is used before; INT64_MAX while it is in use. */
    int64_t idle_at;
};

/**
 * slots    `size` of them: as many as may run, and as many that are ending
 * alive    processes of slots from 1 on, those that end included
 * over     slots that are OVER
 * turns    messages that wait for their session
 * row      what was handed out and is not done yet, or NULL
 */
struct import_pool {
    struct import_config config;
    struct import_shared shared;
    struct slot *slots;
    size_t size, alive, over;
    struct import_turns turns;
    struct bridge_row *row;
};

static void open_slot(struct import_pool *pool, size_t number)
{
    struct slot *slot = &pool->slots[number];
    struct import_setup setup = {number, slot->owner, &pool->shared};

    slot->idle_at = INT64_MAX;
    slot->import = import_new(&pool->config, &setup);
}

static void close_slot(struct slot *slot)
{
    import_free(slot->import);
    free((void *)slot->owner.id.text);
    *slot = (struct slot){.idle_at = INT64_MAX};
}

struct import_pool *import_pool_new(const struct import_config *config)
{
    struct import_pool *pool = calloc(1, sizeof *pool);

    pool->config = import_whole(*config);
    pool->shared.view = config->view;
    pool->shared.doors = (struct bridge_doors){config->terms, config->view.user,
                                               config->view.now, config->view.chance, NULL};
    if (config->view.chance)
        config->view.chance(config->view.user, &pool->shared.key, sizeof pool->shared.key);
    pool->size = 1 + 2 * config->isolate_max;
    pool->slots = calloc(pool->size, sizeof *pool->slots);
    pool->shared.topics = calloc(pool->config.topics, sizeof *pool->shared.topics);
    import_turns_init(&pool->turns, pool->config.topics, config->answers_max, &pool->shared);
    open_slot(pool, 0);
    for (size_t i = 1; i < pool->size; i++)
        pool->slots[i].idle_at = INT64_MAX;
    pool->slots[0].phase = SLOT_RUNNING;
    return pool;
}

void import_pool_free(struct import_pool *pool)
{
    if (!pool)
        return;
    if (pool->row)
        bridge_row_free(pool->row);
    bridge_output_fini(&pool->shared.output);
    import_turns_fini(&pool->turns);
    for (size_t i = 0; i < pool->size; i++)
        close_slot(&pool->slots[i]);
    bridge_doors_fini(&pool->shared.doors);
    free(pool->slots);
    free(pool->shared.topics);
    free(pool);
}

size_t import_pool_size(const struct import_pool *pool)
{
    return pool->size;
}

const char *import_pool_failure(const struct import_pool *pool)
{
    return import_failure(pool->slots[0].import);
}

const char *import_pool_outage(const struct import_pool *pool)
{
    const struct import *import = pool->slots[0].import;

    return import_is_ready(import) ? NULL : import->outage.text;
}

/* ---- slots ---- */

static void want(struct import_pool *pool, enum bridge_action_type type, size_t number)
{
    struct bridge_who owner = pool->slots[number].owner;
    struct bridge_action action = {
        .type = type, .server = number, .topic = owner.topic, .about = owner.id};

    bridge_output_add(&pool->shared.output, &(struct bridge_row){.action = action});
}

static void stop(struct import_pool *pool, size_t number)
{
    struct slot *slot = &pool->slots[number];

    slot->phase = SLOT_STOPPING;
    slot->idle_at = INT64_MAX;
    want(pool, BRIDGE_STOP, number);
}

/* Its process is gone. */
static void finish(struct import_pool *pool, size_t number)
{
    pool->slots[number].phase = SLOT_OVER;
    pool->slots[number].idle_at = INT64_MAX;
    pool->alive--;
    pool->over++;
}

/* Answers all waiting requests with the failure, and frees the server. */
static void fail_to_start(struct import_pool *pool, size_t number, enum mcpx_err err,
                          struct mcpx_now now)
{
    struct mcpx_child_report report = {MCPX_CHILD_FAILED, 0, -1, 0, -1, mcpx_strerror(err)};

    import_state(pool->slots[number].import, &report, now);
    finish(pool, number);
}

static void start_waiting(struct import_pool *pool)
{
    for (size_t i = 1; i < pool->size && pool->alive < pool->config.isolate_max; i++) {
        struct slot *slot = &pool->slots[i];

        if (slot->phase != SLOT_WAITING)
            continue;
        want(pool, BRIDGE_START, i);
        slot->phase = SLOT_RUNNING;
        pool->alive++;
    }
}

/* After every input to a server: is it of use, and is it in use? */
static void settle(struct import_pool *pool, size_t number, struct mcpx_now now)
{
    struct slot *slot = &pool->slots[number];
    const struct import *import = slot->import;

    if (number == 0 || slot->phase != SLOT_RUNNING)
        return;
    if (import_failure(slot->import)) {
        import_say(slot->import, "%s", import_failure(slot->import));
        stop(pool, number);
    } else if (import->calls.holder_count > 0 || import->subs.count > 0 ||
               import->asks.count > 0) {
        slot->idle_at = INT64_MAX;
    } else if (slot->idle_at == INT64_MAX) {
        slot->idle_at = now.mono_ms + pool->config.isolate_idle_ms;
    }
}

/* It has a process, or waits for one. */
static bool is_alive(const struct slot *slot)
{
    return slot->phase == SLOT_WAITING || slot->phase == SLOT_RUNNING;
}

/* The slot of that participant; 0 when it has none. */
static size_t slot_of(const struct import_pool *pool, struct bridge_who who)
{
    for (size_t i = 1; i < pool->size; i++)
        if (is_alive(&pool->slots[i]) && bridge_who_is(pool->slots[i].owner, who))
            return i;
    return 0;
}

static bool is_of(const struct slot *slot, struct mcpx_slice identity)
{
    return mcpx_slice_equal(mcpx_identity_of(slot->owner.id), identity);
}

/* Slots that are not ending: of an identity, whatever the topic; `identity` absent: of all. */
static size_t count_slots(const struct import_pool *pool, struct mcpx_slice identity)
{
    size_t count = 0;

    for (size_t i = 1; i < pool->size; i++)
        count +=
            is_alive(&pool->slots[i]) && (!identity.text || is_of(&pool->slots[i], identity));
    return count;
}

/* The one of these that has been idle longest; absent: of those whose owners have left. 0: none. */
static size_t longest_idle(const struct import_pool *pool, struct mcpx_slice identity)
{
    size_t longest = 0;

    for (size_t i = 1; i < pool->size; i++) {
        const struct slot *slot = &pool->slots[i];

        if (is_alive(slot) && slot->idle_at < INT64_MAX &&
            (identity.text ? is_of(slot, identity) : slot->is_away) &&
            (!longest || slot->idle_at < pool->slots[longest].idle_at))
            longest = i;
    }
    return longest;
}

static size_t free_slot(const struct import_pool *pool)
{
    size_t i = 1;

    while (i < pool->size && pool->slots[i].phase != SLOT_FREE)
        i++;
    return i < pool->size ? i : 0;
}

/* A new slot; 0 when there is none, `why` then says why. */
static size_t make_slot(struct import_pool *pool, struct bridge_who who, const char **why)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id), nobody = {0};
    bool is_full = count_slots(pool, nobody) >= pool->config.isolate_max;
    size_t share = pool->config.isolate_max < OF_ONE ? 1 : pool->config.isolate_max / OF_ONE;
    bool has_share = count_slots(pool, identity) < share;
    size_t victim = longest_idle(pool, identity);
    size_t at = free_slot(pool);
    char *id;

    if (!victim && has_share)
        victim = longest_idle(pool, nobody);

    *why = is_full ? "all server processes that the bridge may have are taken (--isolate-max)"
                   : "all server processes that you may have at one time are in use "
                     "(--isolate-max)";
    if ((is_full || !has_share) && !victim)
        return 0;
    if (is_full || !has_share)
        stop(pool, victim);
    *why = "too many server processes are ending";
    if (!at)
        return 0;
    id = malloc(who.id.len + 1);
    memcpy(id, who.id.text, who.id.len);
    pool->slots[at].owner = (struct bridge_who){who.topic, {id, who.id.len}};
    pool->slots[at].phase = SLOT_WAITING;
    open_slot(pool, at);
    return at;
}

/* ---- events ---- */

static void on_request(struct import_pool *pool, size_t topic, const struct mcpx_event *event,
                       struct mcpx_now now)
{
    struct bridge_who who = {topic, event->envelope->from};
    const char *why = "too many answers wait to be sent to you (--answers-max)";
    const struct bridge_holder *holder;
    size_t at = 0;
    bool is_own = pool->config.isolate_max && !import_is_shared(event->rpc->method), is_full;

    if (is_own)
        at = slot_of(pool, who);
    holder = bridge_calls_holder(&pool->slots[at].import->calls, who);
    is_full = import_turns_are_full(&pool->turns, topic, who.id, holder ? holder->calls : 0,
                                    holder ? holder->longest : 0);
    if (is_own && !at && !is_full)
        at = make_slot(pool, who, &why);
    if (is_full || (is_own && !at)) {
        import_turn_away(pool->slots[0].import, topic, event, why);
        return;
    }
    import_event(pool->slots[at].import, topic, event, now);
    start_waiting(pool);
    settle(pool, at, now);
}

/* To the sender's own server. Cancelled lists are those of the shared one. */
static void on_notification(struct import_pool *pool, size_t topic,
                            const struct mcpx_event *event, struct mcpx_now now)
{
    size_t at = slot_of(pool, (struct bridge_who){topic, event->envelope->from});
    bool cancels = mcpx_slice_equal(event->rpc->method, MCPX_SLICE("notifications/cancelled"));

    if (!at && pool->config.isolate_max && !cancels)
        return;
    if (at && cancels && !import_call_of(pool->slots[at].import, topic, event))
        at = 0;
    import_event(pool->slots[at].import, topic, event, now);
    settle(pool, at, now);
}

/* The answer to a question goes to the server that asked; what is nobody's is told to server 0. */
static void on_own(struct import_pool *pool, size_t topic, const struct mcpx_event *event,
                   struct mcpx_now now)
{
    size_t at = pool->size;

    while (--at > 0 && !(pool->slots[at].import &&
                         bridge_calls_of_tag(&pool->slots[at].import->asks, event->tag)))
        ;
    import_event(pool->slots[at].import, topic, event, now);
    settle(pool, at, now);
}

static void on_end(struct import_pool *pool, size_t topic, const struct mcpx_event *event,
                   struct mcpx_now now)
{
    size_t own = event->type == MCPX_EVENT_PRESENCE
                     ? slot_of(pool, (struct bridge_who){topic, event->participant})
                     : 0;

    if (own)
        pool->slots[own].is_away = event->presence == MCPX_PRESENCE_LEAVE;
    for (size_t i = 0; i < pool->size; i++)
        if (pool->slots[i].import) {
            import_event(pool->slots[i].import, topic, event, now);
            settle(pool, i, now);
        }
}

void import_pool_joined(struct import_pool *pool, size_t topic, struct mcpx_slice self,
                        size_t message_max, struct mcpx_slice limits)
{
    struct import_topic *place = &pool->shared.topics[topic];

    import_turns_limit(&pool->turns, topic, limits);
    place->message_max = message_max;
    place->self_len = self.len <= sizeof place->self ? self.len : 0;
    if (place->self_len)
        memcpy(place->self, self.text, place->self_len);
}

void import_pool_event(struct import_pool *pool, size_t topic, const struct mcpx_event *event,
                       struct mcpx_now now)
{
    switch (event->type) {
    case MCPX_EVENT_REQUEST:
        on_request(pool, topic, event, now);
        break;
    case MCPX_EVENT_NOTIFICATION:
        on_notification(pool, topic, event, now);
        break;
    case MCPX_EVENT_RESPONSE:
    case MCPX_EVENT_EXPIRED:
    case MCPX_EVENT_REFUSED:
        on_own(pool, topic, event, now);
        break;
    case MCPX_EVENT_PRESENCE:
    case MCPX_EVENT_LEFT:
        on_end(pool, topic, event, now);
        break;
    default:
        import_event(pool->slots[0].import, topic, event, now);
        break;
    }
}

/* ---- servers ---- */

void import_pool_line(struct import_pool *pool, size_t server, struct mcpx_slice line,
                      struct mcpx_now now)
{
    import_line(pool->slots[server].import, line, now);
    settle(pool, server, now);
}

void import_pool_overlong(struct import_pool *pool, size_t server, struct mcpx_slice beginning,
                          struct mcpx_now now)
{
    import_overlong(pool->slots[server].import, beginning);
    settle(pool, server, now);
}

void import_pool_state(struct import_pool *pool, size_t server,
                       const struct mcpx_child_report *report, struct mcpx_now now)
{
    bool is_last = report->state == MCPX_CHILD_STOPPED || report->state == MCPX_CHILD_FAILED;

    import_state(pool->slots[server].import, report, now);
    if (server == 0 || !is_last) {
        settle(pool, server, now);
        return;
    }
    finish(pool, server);
}

void import_pool_tick(struct import_pool *pool, struct mcpx_now now)
{
    for (size_t i = 0; i < pool->size; i++) {
        if (!pool->slots[i].import)
            continue;
        import_tick(pool->slots[i].import, now);
        settle(pool, i, now);
        if (pool->slots[i].idle_at <= now.mono_ms)
            stop(pool, i);
    }
    start_waiting(pool);
}

/* A process that waits for another's end is started by the next tick, not inside that end. */
int64_t import_pool_deadline(const struct import_pool *pool)
{
    int64_t first = import_turns_deadline(&pool->turns);

    for (size_t i = 0; i < pool->size; i++) {
        const struct slot *slot = &pool->slots[i];
        int64_t due = slot->import ? import_deadline(slot->import) : INT64_MAX;

        if (slot->phase == SLOT_WAITING && pool->alive < pool->config.isolate_max)
            due = 0;
        if (slot->idle_at < due)
            due = slot->idle_at;
        if (due < first)
            first = due;
    }
    return first;
}

/* ---- what is wanted ---- */

struct mcpx_calls *import_pool_calls(const struct import_pool *pool)
{
    return pool->shared.doors.calls;
}

const struct bridge_action *import_pool_next(struct import_pool *pool, struct mcpx_now now)
{
    static const struct bridge_outcome no_room = {.err = MCPX_ELIMIT};

    while (!pool->row && (pool->row = import_turns_next(&pool->turns, &pool->shared.output,
                                                        now.mono_ms)) != NULL)
        if (pool->row->is_given_up)
            import_pool_done(pool, &no_room, now);
    for (size_t i = 1; !pool->row && pool->over > 0; i++)
        if (pool->slots[i].phase == SLOT_OVER) {
            close_slot(&pool->slots[i]);
            pool->over--;
        }
    return pool->row ? &pool->row->action : NULL;
}

/* The server that wanted a message may be gone before it was its turn. */
void import_pool_done(struct import_pool *pool, const struct bridge_outcome *outcome,
                      struct mcpx_now now)
{
    struct bridge_row *row = pool->row;
    size_t server = pool->slots[row->action.server].import ? row->action.server : 0;

    pool->row = NULL;
    if (row->action.type == BRIDGE_START && outcome->err) {
        fail_to_start(pool, server, outcome->err, now);
        start_waiting(pool);
    } else {
        import_done(pool->slots[server].import, row, outcome);
        settle(pool, server, now);
    }
    bridge_row_free(row);
}
