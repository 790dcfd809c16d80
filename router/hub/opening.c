/*
 * opening.c - a topic that is stored comes into memory once, however many wait for it: they ask
 * again when hub_waits has changed, so nobody keeps a list of them. That a topic is absent, or
 * could not be opened, is remembered for a second, else those who waited would begin anew.
 *
 * A participant has a few topics opened at a time, so nobody waits for the thousand of another.
 */
#include "router/hub/hub_parts.h"

#include <stdlib.h>

/* How long the end of an opening is remembered: there are as many as the store answers in that. */
static const int64_t remembered_ms = 1000;

/* Topics that are opened for one participant at a time; for more it asks again. */
enum { OPENINGS_EACH = 8 };

/** A topic that is opened. */
struct opening {
    struct link in_list; /* link among those in the same state */
    struct tally *asker; /* on whose tally it is, as long as it is waiting, loading or late */
    enum opening_state state;
    uint64_t ticket;     /* of its task; 0 = not handed out */
    int64_t until_ms;    /* mono_ms at which it is late, or is forgotten */
    struct topic *topic; /* what was loaded so far; NULL = the store has not told of any */
    struct mcpx_slice name;
};

static bool is_active(const struct opening *opening)
{
    return opening->state < OPENING_FAILED;
}

/* The first in this state, which is so for the longest. */
static struct opening *first_of(const struct hub *hub, enum opening_state state)
{
    return LIST_FIRST(&hub->openings.in[state], struct opening, in_list);
}

/* It is loaded no more: gives up its place on the asker's tally, and what has come of it. */
static void give_up(struct hub *hub, struct opening *opening)
{
    struct tally *asker = opening->asker;

    if (opening->ticket)
        mx_map_remove(&hub->openings.tickets, ticket_hash(opening->ticket),
                      (uintptr_t)opening);
    if (asker)
        asker->openings--;
    if (opening->topic)
        topic_free(opening->topic);
    opening->ticket = 0;
    opening->asker = NULL;
    opening->topic = NULL;
    tally_close(hub, asker);
    hub->openings.active -= is_active(opening);
}

static void forget(struct hub *hub, struct opening *opening)
{
    give_up(hub, opening);
    list_remove(&opening->in_list);
    mx_map_remove(&hub->openings.names, mx_map_hash(hub->key, opening->name),
                  (uintptr_t)opening);
    free(opening);
}

/* Those in a state that are known no longer than that. */
static void forget_until(struct hub *hub, enum opening_state state, int64_t until_ms)
{
    struct opening *opening;

    while ((opening = first_of(hub, state)) && opening->until_ms <= until_ms)
        forget(hub, opening);
}

void openings_fini(struct hub *hub)
{
    struct openings *openings = &hub->openings;

    for (int state = 0; state < OPENING_STATES; state++)
        forget_until(hub, (enum opening_state)state, INT64_MAX);
    LIST_EACH(link, &openings->closed)
        free(LIST_ELEMENT(link, struct topic, in_hub));
    free(openings->told);
    mx_map_fini(&openings->names);
    mx_map_fini(&openings->tickets);
}

static struct opening *find(const struct hub *hub, struct mcpx_slice name)
{
    return mx_map_find(&hub->openings.names, mx_map_hash(hub->key, name),
                       offsetof(struct opening, name), name);
}

static struct opening *find_ticket(const struct hub *hub, uint64_t ticket)
{
    size_t at = 0;

    return (struct opening *)(uintptr_t)mx_map_next(&hub->openings.tickets,
                                                    ticket_hash(ticket), &at);
}

static void set_state(struct hub *hub, struct opening *opening, enum opening_state state)
{
    list_remove(&opening->in_list);
    opening->state = state;
    list_append(&hub->openings.in[state], &opening->in_list);
}

/* Nobody waits for it any more. */
static void end(struct hub *hub, struct opening *opening, enum opening_state state)
{
    give_up(hub, opening);
    opening->until_ms = hub->now.mono_ms + remembered_ms;
    set_state(hub, opening, state);
    hub->waits++;
}

/* ---- beginning ---- */

/* An entry whose time is over counts as absent. */
static enum mcpx_err state_err(const struct opening *opening, int64_t now_ms)
{
    if (!opening || (!is_active(opening) && opening->until_ms <= now_ms))
        return MCPX_EOPENING;
    if (opening->state == OPENING_ABSENT)
        return MCPX_OK;
    return opening->state < OPENING_LATE ? MCPX_EOPENING : MCPX_ENOTNOW;
}

enum mcpx_err opening_check(const struct hub *hub, const struct topic *topic,
                            struct mcpx_slice name, struct mcpx_now now)
{
    if (topic)
        return topic->lost ? MCPX_ENOTNOW : MCPX_OK;
    return state_err(find(hub, name), now.mono_ms);
}

static bool is_full(const struct hub *hub)
{
    return hub->config.topics_max &&
           hub->stats.topics + hub->openings.active >= hub->config.topics_max;
}

bool opening_has_room(const struct hub *hub)
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
        opening_close(idle);
    return idle != NULL;
}

struct topic *opening_create(struct hub *hub, struct mcpx_slice name, struct tally *maker)
{
    struct opening *opening = find(hub, name);
    struct topic *topic;

    maker->connections++; /* or it would go with a topic that does */
    if (hub->config.stored)
        (void)make_room(hub);
    topic = topic_new(hub, name, maker);
    if (topic && !topic_enter(topic)) {
        topic_free(topic);
        topic = NULL;
    }
    maker->connections--;
    if (topic && opening)
        forget(hub, opening);
    return topic;
}

static enum mcpx_err begin(struct hub *hub, const struct grant *grant, struct mcpx_slice name)
{
    struct openings *openings = &hub->openings;
    struct tally *asker = tally_open(hub, grant);
    struct opening *opening = NULL;
    bool has_room;

    if (!asker)
        return MCPX_ENOMEM;
    if (asker->openings >= OPENINGS_EACH)
        return MCPX_EOPENING;
    asker->openings++; /* or it would go with a topic that makes room */
    has_room = make_room(hub);
    if (has_room && mx_map_reserve(&openings->names))
        opening = malloc(sizeof *opening + name.len);
    if (!opening) {
        asker->openings--;
        tally_close(hub, asker);
        return has_room ? MCPX_ENOMEM : MCPX_EFULL;
    }
    memcpy(opening + 1, name.text, name.len);
    *opening = (struct opening){.state = OPENING_WAITING,
                                .asker = asker,
                                .until_ms = hub->now.mono_ms + hub->config.open_ms,
                                .name = {(const char *)(opening + 1), name.len}};
    mx_map_put(&openings->names, mx_map_hash(hub->key, name), (uintptr_t)opening);
    list_append(&openings->in[OPENING_WAITING], &opening->in_list);
    openings->active++;
    return MCPX_EOPENING;
}

enum mcpx_err hub_open(struct hub *hub, const struct grant *grant, struct mcpx_slice topic,
                       struct mcpx_now now)
{
    struct opening *opening;
    enum mcpx_err err;

    hub->now = now;
    if (!hub->config.stored)
        return MCPX_OK;
    err = opening_check(hub, hub_topic_find(hub, topic), topic, now);
    if (err == MCPX_ENOTNOW || (err && hub->draining))
        return MCPX_EUNAVAILABLE;
    opening = find(hub, topic);
    if (err && opening && !is_active(opening)) {
        forget(hub, opening);
        opening = NULL;
    }
    return err && !opening ? begin(hub, grant, topic) : err;
}

/* ---- tasks ---- */

static bool next_closed(struct openings *openings, struct task *task)
{
    free(openings->told);
    openings->told = LIST_FIRST(&openings->closed, struct topic, in_hub);
    if (!openings->told)
        return false;
    list_remove(&openings->told->in_hub);
    *task = (struct task){.kind = TASK_CLOSE, .topic = openings->told->name};
    return true;
}

bool opening_next_task(struct hub *hub, struct task *task)
{
    struct openings *openings = &hub->openings;
    struct opening *opening;

    if (next_closed(openings, task))
        return true;
    opening = first_of(hub, OPENING_WAITING);
    if (!opening || !mx_map_reserve(&openings->tickets))
        return false;
    set_state(hub, opening, OPENING_LOADING);
    opening->ticket = ++hub->last_ticket;
    mx_map_put(&openings->tickets, ticket_hash(opening->ticket), (uintptr_t)opening);
    *task = (struct task){TASK_OPEN, opening->ticket, opening->name, NULL};
    return true;
}

void opening_close(struct topic *topic)
{
    struct hub *hub = topic->hub;

    if (!hub->config.stored) {
        topic_free(topic);
        return;
    }
    topic_empty(topic);
    list_append(&hub->openings.closed, &topic->in_hub);
}

/* ---- answers ---- */

void opening_answer(struct hub *hub, uint64_t ticket, bool loaded)
{
    struct opening *opening = find_ticket(hub, ticket);

    if (!opening)
        return;
    if (loaded && !opening->topic) {
        end(hub, opening, OPENING_ABSENT);
    } else if (!loaded || !topic_enter(opening->topic)) {
        end(hub, opening, OPENING_FAILED);
    } else {
        topic_loaded(opening->topic);
        opening->topic = NULL;
        forget(hub, opening);
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
    struct opening *opening = find_ticket(hub, ticket);
    struct tally *maker;

    if (!opening)
        return MCPX_ENOTFOUND;
    if (opening->topic || !is_epoch(stored->epoch) || stored->first == 0)
        return MCPX_EINVALID;
    maker = tally_open_loaded(hub, opening->name);
    if (!maker)
        return MCPX_ENOMEM;
    opening->topic = topic_new(hub, opening->name, maker);
    if (!opening->topic) {
        tally_close(hub, maker);
        return MCPX_ENOMEM;
    }
    memcpy(opening->topic->epoch, stored->epoch.text, TOPIC_EPOCH_LEN);
    log_start(&opening->topic->log, stored->first - 1);
    return MCPX_OK;
}

/* Only what participants send is stored: what claims to be the router's was put there by others. */
static bool may_be_stored(const struct mcpx_envelope *envelope)
{
    return envelope->from.text && mcpx_participant_id_is_valid(envelope->from) &&
           !mcpx_kind_is_reserved(&envelope->kind);
}

enum mcpx_err hub_load(struct hub *hub, uint64_t ticket,
                       const struct stored_envelope *envelope)
{
    const struct opening *opening = find_ticket(hub, ticket);
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

    if (!opening || !opening->topic)
        return MCPX_ENOTFOUND;
    err = mcpx_envelope_parse(envelope->text, 0, parsed, &fault);
    if (err == MCPX_ENOMEM)
        return err;
    if (err || !may_be_stored(parsed))
        return MCPX_EINVALID;
    message.id = parsed->id;
    message.kind = parsed->kind.text;
    message.sender = log_sender(&opening->topic->log, parsed->from);
    message.to = parsed->to;
    message.to_count = parsed->to_count;
    return topic_load(opening->topic, &message);
}

/* ---- time ---- */

void openings_expire(struct hub *hub)
{
    int64_t now_ms = hub->now.mono_ms;
    struct opening *opening;

    while ((opening = first_of(hub, OPENING_WAITING)) && opening->until_ms <= now_ms)
        end(hub, opening, OPENING_FAILED);
    while ((opening = first_of(hub, OPENING_LOADING)) && opening->until_ms <= now_ms) {
        set_state(hub, opening, OPENING_LATE);
        hub->waits++;
    }
    forget_until(hub, OPENING_FAILED, now_ms);
    forget_until(hub, OPENING_ABSENT, now_ms);
}
