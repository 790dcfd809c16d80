/*
 * gated_visit.c - coming in as the edge does it: ask, wait for the topic while it is opened or for
 * one's own coming and going, ask again whenever the hub says that something has ended.
 */
#include "tests/support/gated_state.h"

#include <stdio.h>
#include <stdlib.h>

static struct mcpx_capset *all, *chat; /* kept for the program's life */

static struct mcpx_capset *compile(const char *pattern)
{
    struct mcpx_grant grant = {.pattern = mcpx_slice_of(pattern)};
    struct mcpx_capset *set = NULL;

    if (mcpx_capset_new(&grant, 1, NULL, 0, NULL, NULL, &set))
        abort();
    return set;
}

static struct grant *draw_grant(struct gated *sim, struct visitor *visitor)
{
    struct grant *grant;

    if (!all) {
        all = compile("*");
        chat = compile("chat");
    }
    visitor->may_call = !dice_hits(&sim->dice, 4);
    grant = grant_new(mcpx_slice_of(visitor->identity), visitor->may_call ? all : chat,
                      ROUTING_DEFAULT, 0);
    if (!grant)
        abort();
    return grant;
}

void gated_may_close(struct visitor *visitor, enum mcpx_err err)
{
    if (visitor->code_count < CODES_MAX)
        visitor->codes[visitor->code_count++] = mcpx_error_close(err);
}

static void go(struct visitor *visitor)
{
    grant_unref(visitor->grant);
    visitor->grant = NULL;
    visitor->peer = NULL;
    visitor->topic = NULL;
    visitor->state = AWAY;
}

static void enter(struct gated *sim, struct visitor *visitor)
{
    enum mcpx_err err = hub_admit(sim->hub, visitor->grant, &visitor->admission, visitor,
                                  sim->now, &visitor->peer);
    struct mcpx_slice id;

    gated_require(sim, !err, "could come in, and cannot: %s", mcpx_strerror(err));
    visitor->state = THERE;
    visitor->connection = ++sim->connections;
    id = peer_id(visitor->peer);
    snprintf(visitor->id, sizeof visitor->id, "%.*s", (int)id.len, id.text);
    visitor->joined = visitor->greeted = visitor->is_announced = visitor->closed = false;
    visitor->stalled = visitor->was_stalled = false;
    visitor->owed_count = visitor->code_count = visitor->roster_count = 0;
    visitor->joined_at = visitor->next = visitor->replay = visitor->replays = 0;
    gated_require(sim, peer_is_joining(visitor->peer), "in before anything is stored");
}

/* MCPX_OK when it may come in now, MCPX_EOPENING when it has to wait. */
static enum mcpx_err ask(struct gated *sim, struct visitor *visitor)
{
    struct mcpx_slice topic = visitor->admission.topic;
    enum mcpx_err err = hub_may_admit(sim->hub, visitor->grant, &visitor->admission, sim->now);
    enum mcpx_err opened;

    if (err != MCPX_EOPENING)
        return err;
    opened = hub_open(sim->hub, visitor->grant, topic, sim->now);
    gated_require(sim,
                  opened == MCPX_OK || opened == MCPX_EOPENING || opened == MCPX_EFULL ||
                      opened == MCPX_ESHARE || opened == MCPX_EUNAVAILABLE,
                  "hub_open: %s", mcpx_strerror(opened));
    if (opened)
        return opened;
    /* It was opened in this moment, or it is about the participant. */
    return hub_may_admit(sim->hub, visitor->grant, &visitor->admission, sim->now);
}

static void try_in(struct gated *sim, struct visitor *visitor)
{
    bool has_waited = visitor->state == WAITING;
    enum mcpx_err err = ask(sim, visitor);

    if (err == MCPX_EOPENING) {
        sim->tally->waited += !has_waited;
        visitor->state = WAITING;
        visitor->waits = hub_waits(sim->hub);
        return;
    }
    gated_say(sim, "v%d (%s) comes in: %s", visitor->number, visitor->identity,
              mcpx_strerror(err));
    if (!err) {
        enter(sim, visitor);
        return;
    }
    sim->tally->turned_away++;
    go(visitor);
}

void gated_arrive(struct gated *sim, struct visitor *visitor, struct fake_topic *topic)
{
    struct memory *memory = &visitor->memories[gated_topic_number(sim, topic)];

    visitor->topic = topic;
    visitor->grant = draw_grant(sim, visitor);
    visitor->asked = (struct reader_place){0};
    visitor->admission = (struct admission){
        .topic = mcpx_slice_of(topic->name),
        .routing = visitor->directed ? ROUTING_DIRECTED : ROUTING_ALL,
        .instance = visitor->instance,
        .instance_key = mcpx_slice_of(visitor->key),
    };
    if (dice_hits(&sim->dice, 3)) {
        visitor->admission.has_history = true;
        visitor->admission.history = dice_below(&sim->dice, 40);
    }
    if (!dice_hits(&sim->dice, 6))
        visitor->asked = memory->place;
    reader_place_ask(&visitor->asked, &visitor->admission);
    gated_say(sim, "v%d (%s) asks for %s, at %.4s %d after %s", visitor->number,
              visitor->identity, topic->name, visitor->asked.epoch, (int)visitor->asked.serial,
              visitor->asked.after);
    try_in(sim, visitor);
}

/* Nobody asks again without being told to, so that a waiting nobody ends shows. */
void gated_retry(struct gated *sim)
{
    for (size_t i = 0; i < VISITORS; i++) {
        struct visitor *visitor = &sim->visitors[i];

        if (visitor->state == WAITING && visitor->waits != hub_waits(sim->hub))
            try_in(sim, visitor);
    }
}

void gated_depart(struct gated *sim, struct visitor *visitor)
{
    if (visitor->state == AWAY)
        return;
    gated_say(sim, "v%d is gone from %s", visitor->number, visitor->topic->name);
    if (visitor->state == THERE)
        hub_depart(sim->hub, visitor->peer, MCPX_ECLOSED, sim->now);
    go(visitor);
}

void gated_scatter(struct gated *sim)
{
    for (size_t i = 0; i < VISITORS; i++)
        go(&sim->visitors[i]);
    for (size_t i = 0; i < sim->message_count; i++)
        sim->messages[i].state =
            sim->messages[i].state == PENDING ? SETTLED : sim->messages[i].state;
}

void gated_kick(struct gated *sim, struct visitor *visitor)
{
    if (visitor->state != THERE || peer_is_condemned(visitor->peer))
        return;
    gated_say(sim, "v%d is kicked", visitor->number);
    gated_may_close(visitor, MCPX_EKICKED);
    hub_condemn(sim->hub, visitor->peer, MCPX_EKICKED, sim->now);
}

void gated_regrant(struct gated *sim, struct visitor *visitor)
{
    struct grant *grant;
    bool may_call = visitor->may_call;
    enum mcpx_err err;

    if (visitor->state != THERE)
        return;
    grant = draw_grant(sim, visitor);
    err = hub_regrant(sim->hub, visitor->peer, grant, sim->now);
    gated_say(sim, "v%d is regranted: %s", visitor->number, mcpx_strerror(err));
    gated_require(sim, err == (peer_is_condemned(visitor->peer) ? MCPX_ECLOSED : MCPX_OK),
                  "regrant: %s", mcpx_strerror(err));
    grant_unref(grant);
    if (err)
        visitor->may_call = may_call;
    sim->tally->regrants += !err;
}
