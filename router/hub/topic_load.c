/*
 * topic_load.c - loads a stored topic into memory once, for any number of waiting clients: they ask
 * again when hub_waits has changed, so the hub needs no list of them. A failed load, or an absent
 * topic, is remembered for a second, else the waiting clients would start another load.
 *
 * A participant loads a few topics at a time, so others do not wait for a thousand of its loads.
 */
#include "router/hub/hub_parts.h"

#include <stdlib.h>

/* Lifetime of the result of a load. The store's speed bounds the number of results. */
static const int64_t remembered_ms = 1000;

/* Concurrent loads for one participant; for more it must ask again. */
enum { TOPIC_LOADS_EACH = 8 };

/** A topic that is being opened. */
struct topic_load {
    struct link in_list; /* link among those in the same state */
    struct usage *asker; /* the usage that counts it while it is waiting, loading or late */
    enum topic_load_state state;
    uint64_t ticket;     /* of its task; 0 = not handed out */
    int64_t until_ms;    /* mono_ms at which it is late, or is forgotten */
    struct topic *topic; /* loaded so far; NULL = the store has not found it yet */
    struct mcpx_slice name;
};

static bool is_active(const struct topic_load *load)
{
    return load->state < TOPIC_LOAD_FAILED;
}

/* The load that has been in this state for the longest; NULL when there is none. */
static struct topic_load *first_of(const struct hub *hub, enum topic_load_state state)
{
    return LIST_FIRST(&hub->loads.in[state], struct topic_load, in_list);
}

/* Ends the load: takes it off the asker's usage, and frees the part loaded so far. */
static void give_up(struct hub *hub, struct topic_load *load)
{
    struct usage *asker = load->asker;

    if (load->ticket)
        mx_map_remove(&hub->loads.tickets, ticket_hash(load->ticket), (uintptr_t)load);
    if (asker)
        asker->loads--;
    if (load->topic)
        topic_free(load->topic);
    load->ticket = 0;
    load->asker = NULL;
    load->topic = NULL;
    usage_close(hub, asker);
    hub->loads.active -= is_active(load);
}

static void forget(struct hub *hub, struct topic_load *load)
{
    give_up(hub, load);
    list_remove(&load->in_list);
    mx_map_remove(&hub->loads.names, mx_map_hash(hub->key, load->name), (uintptr_t)load);
    free(load);
}

/* Forgets the loads in a state whose time ends by `until_ms`. */
static void forget_until(struct hub *hub, enum topic_load_state state, int64_t until_ms)
{
    struct topic_load *load;

    while ((load = first_of(hub, state)) && load->until_ms <= until_ms)
        forget(hub, load);
}

void topic_loads_fini(struct hub *hub)
{
    struct topic_loads *loads = &hub->loads;

    for (int state = 0; state < TOPIC_LOAD_STATES; state++)
        forget_until(hub, (enum topic_load_state)state, INT64_MAX);
    LIST_EACH(link, &loads->closed)
        free(LIST_ELEMENT(link, struct topic, in_hub));
    free(loads->told);
    mx_map_fini(&loads->names);
    mx_map_fini(&loads->tickets);
}

static struct topic_load *find(const struct hub *hub, struct mcpx_slice name)
{
    return mx_map_find(&hub->loads.names, mx_map_hash(hub->key, name),
                       offsetof(struct topic_load, name), name);
}

static struct topic_load *find_ticket(const struct hub *hub, uint64_t ticket)
{
    size_t at = 0;

    return (struct topic_load *)(uintptr_t)mx_map_next(&hub->loads.tickets,
                                                       ticket_hash(ticket), &at);
}

static void set_state(struct hub *hub, struct topic_load *load, enum topic_load_state state)
{
    list_remove(&load->in_list);
    load->state = state;
    list_append(&hub->loads.in[state], &load->in_list);
}

/* Ends a load with a result: clients no longer wait for it. */
static void end(struct hub *hub, struct topic_load *load, enum topic_load_state state)
{
    give_up(hub, load);
    load->until_ms = hub->now.mono_ms + remembered_ms;
    set_state(hub, load, state);
    hub->waits++;
}

/* ---- beginning ---- */

/* An entry whose time is over counts as absent. */
static enum mcpx_err state_err(const struct topic_load *load, int64_t now_ms)
{
    if (!load || (!is_active(load) && load->until_ms <= now_ms))
        return MCPX_EOPENING;
    if (load->state == TOPIC_LOAD_ABSENT)
        return MCPX_OK;
    return load->state < TOPIC_LOAD_LATE ? MCPX_EOPENING : MCPX_ENOTNOW;
}

enum mcpx_err topic_load_check(const struct hub *hub, const struct topic *topic,
                               struct mcpx_slice name, struct mcpx_now now)
{
    if (topic)
        return topic->lost ? MCPX_ENOTNOW : MCPX_OK;
    return state_err(find(hub, name), now.mono_ms);
}

static bool is_full(const struct hub *hub)
{
    return is_at_limit(hub->stats.topics + hub->loads.active, hub->config.topics_max);
}

bool topic_load_has_room(const struct hub *hub)
{
    return !is_full(hub) || (hub->config.stored && !list_is_empty(&hub->idle));
}

/* The topic that has been idle for longest makes room for another: it is stored. */
static bool make_room(struct hub *hub)
{
    struct topic *idle = LIST_FIRST(&hub->idle, struct topic, in_idle);

    if (!is_full(hub))
        return true;
    if (idle)
        topic_load_close(idle);
    return idle != NULL;
}

struct topic *topic_load_create(struct hub *hub, struct mcpx_slice name, struct usage *maker)
{
    struct topic_load *load = find(hub, name);
    struct topic *topic;

    maker->connections++; /* keeps the usage when make_room closes a topic */
    if (hub->config.stored)
        (void)make_room(hub);
    topic = topic_new(hub, name, maker);
    if (topic && !topic_enter(topic)) {
        topic_free(topic);
        topic = NULL;
    }
    maker->connections--;
    if (topic && load)
        forget(hub, load);
    return topic;
}

static enum mcpx_err begin(struct hub *hub, const struct grant *grant, struct mcpx_slice name)
{
    struct topic_loads *loads = &hub->loads;
    struct usage *asker = usage_open(hub, grant);
    struct topic_load *load = NULL;
    bool has_room;

    if (!asker)
        return MCPX_ENOMEM;
    if (asker->loads >= TOPIC_LOADS_EACH)
        return MCPX_EOPENING;
    asker->loads++; /* keeps the usage when make_room closes a topic */
    has_room = make_room(hub);
    if (has_room && mx_map_reserve(&loads->names))
        load = malloc(sizeof *load + name.len);
    if (!load) {
        asker->loads--;
        usage_close(hub, asker);
        return has_room ? MCPX_ENOMEM : MCPX_EFULL;
    }
    memcpy(load + 1, name.text, name.len);
    *load = (struct topic_load){.state = TOPIC_LOAD_WAITING,
                                .asker = asker,
                                .until_ms = hub->now.mono_ms + hub->config.open_ms,
                                .name = {(const char *)(load + 1), name.len}};
    mx_map_put(&loads->names, mx_map_hash(hub->key, name), (uintptr_t)load);
    list_append(&loads->in[TOPIC_LOAD_WAITING], &load->in_list);
    loads->active++;
    return MCPX_EOPENING;
}

enum mcpx_err hub_open(struct hub *hub, const struct grant *grant, struct mcpx_slice topic,
                       struct mcpx_now now)
{
    struct topic_load *load;
    enum mcpx_err err;

    hub->now = now;
    if (!hub->config.stored)
        return MCPX_OK;
    err = topic_load_check(hub, hub_topic_find(hub, topic), topic, now);
    if (err == MCPX_ENOTNOW || (err && hub->draining))
        return MCPX_EUNAVAILABLE;
    load = find(hub, topic);
    if (err && load && !is_active(load)) {
        forget(hub, load);
        load = NULL;
    }
    return err && !load ? begin(hub, grant, topic) : err;
}

/* ---- tasks ---- */

static bool next_closed(struct topic_loads *loads, struct task *task)
{
    free(loads->told);
    loads->told = LIST_FIRST(&loads->closed, struct topic, in_hub);
    if (!loads->told)
        return false;
    list_remove(&loads->told->in_hub);
    *task = (struct task){.kind = TASK_CLOSE, .topic = loads->told->name};
    return true;
}

bool topic_load_next_task(struct hub *hub, struct task *task)
{
    struct topic_loads *loads = &hub->loads;
    struct topic_load *load;

    if (next_closed(loads, task))
        return true;
    load = first_of(hub, TOPIC_LOAD_WAITING);
    if (!load || !mx_map_reserve(&loads->tickets))
        return false;
    set_state(hub, load, TOPIC_LOAD_LOADING);
    load->ticket = ++hub->last_ticket;
    mx_map_put(&loads->tickets, ticket_hash(load->ticket), (uintptr_t)load);
    *task = (struct task){TASK_OPEN, load->ticket, load->name, NULL};
    return true;
}

void topic_load_close(struct topic *topic)
{
    struct hub *hub = topic->hub;

    if (!hub->config.stored) {
        topic_free(topic);
        return;
    }
    topic_empty(topic);
    list_append(&hub->loads.closed, &topic->in_hub);
}

/* ---- answers ---- */

void topic_load_answered(struct hub *hub, uint64_t ticket, bool loaded)
{
    struct topic_load *load = find_ticket(hub, ticket);

    if (!load)
        return;
    if (loaded && !load->topic) {
        end(hub, load, TOPIC_LOAD_ABSENT);
    } else if (!loaded || !topic_enter(load->topic)) {
        end(hub, load, TOPIC_LOAD_FAILED);
    } else {
        topic_finish_loading(load->topic);
        load->topic = NULL;
        forget(hub, load);
        hub->waits++;
    }
}

/* ---- loading ---- */

static bool is_epoch(struct mcpx_slice epoch)
{
    if (epoch.len != TOPIC_EPOCH_LEN)
        return false;
    for (size_t i = 0; i < epoch.len; i++)
        if (!memchr("0123456789abcdef", epoch.text[i], 16))
            return false;
    return true;
}

enum mcpx_err hub_load_topic(struct hub *hub, uint64_t ticket,
                             const struct stored_topic *stored)
{
    struct topic_load *load = find_ticket(hub, ticket);
    struct usage *maker;

    if (!load)
        return MCPX_ENOTFOUND;
    if (load->topic || !is_epoch(stored->epoch) || stored->first == 0)
        return MCPX_EINVALID;
    maker = usage_open_loaded(hub, load->name);
    if (!maker)
        return MCPX_ENOMEM;
    load->topic = topic_new(hub, load->name, maker);
    if (!load->topic) {
        usage_close(hub, maker);
        return MCPX_ENOMEM;
    }
    memcpy(load->topic->epoch, stored->epoch.text, TOPIC_EPOCH_LEN);
    log_start(&load->topic->log, stored->first - 1);
    return MCPX_OK;
}

/* Only envelopes of participants are stored: one in the router's name is a forgery. */
static bool may_be_stored(const struct mcpx_envelope *envelope)
{
    return envelope->from.text && mcpx_participant_id_is_valid(envelope->from) &&
           !mcpx_kind_is_reserved(&envelope->kind);
}

enum mcpx_err hub_load(struct hub *hub, uint64_t ticket,
                       const struct stored_envelope *envelope)
{
    const struct topic_load *load = find_ticket(hub, ticket);
    struct mcpx_envelope *parsed = &hub->loaded; /* a verdict may borrow from the other */
    int64_t age_ms = hub->now.wall_ms - envelope->wall_ms;
    struct log_message message = {
        .pieces = {envelope->text},
        .piece_count = 1,
        /* The clock may have been set back since it was stored. */
        .mono_ms = hub->now.mono_ms - (age_ms > 0 ? age_ms : 0),
    };
    struct mcpx_fault fault;
    enum mcpx_err err;

    if (!load || !load->topic)
        return MCPX_ENOTFOUND;
    err = mcpx_envelope_parse(envelope->text, 0, parsed, &fault);
    if (err == MCPX_ENOMEM)
        return err;
    if (err || !may_be_stored(parsed))
        return MCPX_EINVALID;
    message.id = parsed->id;
    message.kind = parsed->kind.text;
    message.sender = log_sender(&load->topic->log, parsed->from);
    message.to = parsed->to;
    message.to_count = parsed->to_count;
    return topic_append_stored(load->topic, &message);
}

/* ---- time ---- */

void topic_loads_expire(struct hub *hub)
{
    int64_t now_ms = hub->now.mono_ms;
    struct topic_load *load;

    while ((load = first_of(hub, TOPIC_LOAD_WAITING)) && load->until_ms <= now_ms)
        end(hub, load, TOPIC_LOAD_FAILED);
    while ((load = first_of(hub, TOPIC_LOAD_LOADING)) && load->until_ms <= now_ms) {
        set_state(hub, load, TOPIC_LOAD_LATE);
        hub->waits++;
    }
    forget_until(hub, TOPIC_LOAD_FAILED, now_ms);
    forget_until(hub, TOPIC_LOAD_ABSENT, now_ms);
}
