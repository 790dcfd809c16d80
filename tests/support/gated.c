/*
 * gated.c - the steps and their odds. Bounds are small, so that in a few hundred steps readers fall
 * behind, topics leave memory and come back, and every step is now and then the last one.
 */
#include "tests/support/gated_state.h"
#include "tests/support/hub_defaults.h"

#include <stdlib.h>

/* ---- settings ---- */

static void draw_config(struct gated *sim)
{
    struct hub_config *config = &sim->config;

    *config = hub_config_default();
    config->gated = true;
    config->stored = !dice_hits(&sim->dice, 4);
    config->audited = dice_hits(&sim->dice, 2);
    config->pending_bytes = DICE_ONE_OF(&sim->dice, 1000000, 3000, 10000);
    config->open_ms = (int64_t)DICE_ONE_OF(&sim->dice, 5000, 1000);
    config->replay = DICE_ONE_OF(&sim->dice, 100, 5, 0);
    config->linger_ms = (int64_t)DICE_ONE_OF(&sim->dice, 3000, 0, 20000);
    config->topics_max = DICE_ONE_OF(&sim->dice, 4, 2, 3);
    config->history_count = DICE_ONE_OF(&sim->dice, 20, 5, 200);
    config->backlog_bytes = DICE_ONE_OF(&sim->dice, 1000000, 8192);
    config->takeover = !dice_hits(&sim->dice, 6);
    config->instances = 3;
    config->messages_per_minute = config->bytes_per_minute = config->joins_per_minute = 0;
    config->ping_ms = 0;
    sim->has_trouble = dice_hits(&sim->dice, 2);
    sim->has_faults = config->stored && dice_hits(&sim->dice, 4);
}

static void draw_visitors(struct gated *sim)
{
    static const char *const identities[] = {"ann", "bob", "cid", "dan", "eve", "fay"};
    static const char *const keys[] = {NULL, "one", "two"};

    for (size_t i = 0; i < VISITORS; i++) {
        struct visitor *visitor = &sim->visitors[i];

        visitor->number = (int)i;
        visitor->identity = identities[dice_below(&sim->dice, 6)];
        visitor->directed = dice_hits(&sim->dice, 3);
        if (visitor->directed || dice_hits(&sim->dice, 2))
            continue; /* what is for it alone is for the one name that it always has */
        visitor->instance = INSTANCE_AUTO;
        visitor->key = keys[dice_below(&sim->dice, 3)];
    }
}

static void begin_hub(struct gated *sim)
{
    sim->hub = hub_new(&sim->config, (struct chance){dice_fill, &sim->chance});
    if (!sim->hub)
        abort();
    memset(sim->pulled, 0, sizeof sim->pulled);
}

/* ---- steps ---- */

static struct visitor *somebody(struct gated *sim)
{
    return &sim->visitors[dice_below(&sim->dice, VISITORS)];
}

/* Who is there, if anybody is. */
static struct visitor *somebody_there(struct gated *sim)
{
    size_t first = dice_below(&sim->dice, VISITORS);

    for (size_t i = 0; i < VISITORS; i++) {
        struct visitor *visitor = &sim->visitors[(first + i) % VISITORS];

        if (visitor->state == THERE)
            return visitor;
    }
    return &sim->visitors[first];
}

static void stall(struct gated *sim, struct visitor *visitor)
{
    if (visitor->state != THERE || peer_is_joining(visitor->peer))
        return;
    gated_say(sim, "v%d %s", visitor->number, visitor->stalled ? "reads on" : "stalls");
    if (visitor->stalled)
        peer_unstall(visitor->peer, sim->now);
    else
        peer_stall(visitor->peer);
    visitor->stalled = !visitor->stalled;
    visitor->was_stalled = true;
}

static void read_some(struct gated *sim)
{
    struct peer *peer = hub_next_ready(sim->hub);

    if (peer)
        gated_read(sim, peer_owner(peer), 1 + dice_below(&sim->dice, 3));
}

static void pass_time(struct gated *sim)
{
    int64_t span = (int64_t)DICE_ONE_OF(&sim->dice, 1, 10, 10, 50, 50, 100, 1000, 6000);

    sim->now.mono_ms += span;
    sim->now.wall_ms += span;
    gated_require(sim, hub_tick(sim->hub, sim->now) > sim->now.mono_ms, "a tick is due again");
}

static void crash(struct gated *sim)
{
    bool keeps = dice_hits(&sim->dice, 2);

    gated_say(sim, "crash; what was unknown is %s", keeps ? "stored" : "lost");
    fake_write(&sim->store, dice_below(&sim->dice, 10), FATE_STORED); /* stored, never told */
    hub_free(sim->hub);
    gated_scatter(sim);
    fake_crash(&sim->store, keeps);
    if (sim->store.is_stored && dice_hits(&sim->dice, 5)) {
        gated_say(sim, "the machine lost its power");
        fake_lose(&sim->store, dice_below(&sim->dice, 20));
        sim->tally->losses++;
    }
    begin_hub(sim);
    sim->tally->crashes++;
}

/* Mostly back to where it has been. */
static struct fake_topic *some_topic(struct gated *sim, const struct visitor *visitor)
{
    size_t at = dice_below(&sim->dice, FAKE_TOPICS);

    for (size_t i = 0; i < FAKE_TOPICS && !dice_hits(&sim->dice, 6); i++)
        if (visitor->memories[at].next == 0)
            at = (at + 1) % FAKE_TOPICS;
    return &sim->store.topics[at];
}

static void come_or_go(struct gated *sim, struct visitor *visitor)
{
    if (visitor->state == AWAY)
        gated_arrive(sim, visitor, some_topic(sim, visitor));
    else if (visitor->closed || dice_hits(&sim->dice, 6))
        gated_depart(sim, visitor);
}

static void rare_step(struct gated *sim)
{
    switch (dice_below(&sim->dice, 8)) {
    case 0:
        gated_kick(sim, somebody_there(sim));
        break;
    case 1:
    case 2:
        gated_regrant(sim, somebody_there(sim));
        break;
    case 3:
        gated_check_history(sim, &sim->store.topics[dice_below(&sim->dice, FAKE_TOPICS)]);
        break;
    case 4:
        if (dice_hits(&sim->dice, 2))
            gated_settle(sim);
        break;
    case 5:
        if (dice_hits(&sim->dice, sim->store.has_failed ? 1 : 4))
            crash(sim);
        break;
    default:
        gated_spoil(sim);
    }
}

static void step(struct gated *sim)
{
    size_t choice = dice_below(&sim->dice, 64);

    sim->step++;
    if (choice < 20)
        gated_talk(sim, somebody_there(sim));
    else if (choice < 27)
        gated_pull(sim, dice_hits(&sim->dice, 3) ? 1 : SIZE_MAX);
    else if (choice < 32)
        gated_write(sim);
    else if (choice < 38)
        gated_answer(sim, 1 + dice_below(&sim->dice, 10));
    else if (choice < 42)
        gated_load(sim);
    else if (choice < 49)
        come_or_go(sim, somebody(sim));
    else if (choice < 54)
        read_some(sim);
    else if (choice < 56)
        gated_read_all(sim);
    else if (choice < 58)
        stall(sim, somebody_there(sim));
    else if (choice < 61)
        pass_time(sim);
    else
        rare_step(sim);
    gated_retry(sim);
    if (hub_is_pressed(sim->hub)) /* as the edge does */
        gated_read_all(sim);
}

/* ---- the end ---- */

static void come_back(struct gated *sim)
{
    for (size_t i = 0; i < VISITORS; i++)
        if (sim->visitors[i].state == AWAY)
            gated_arrive(sim, &sim->visitors[i], some_topic(sim, &sim->visitors[i]));
}

static void finish(struct gated *sim)
{
    sim->has_trouble = sim->has_faults = false;
    if (sim->store.has_failed)
        crash(sim);
    gated_settle(sim);
    crash(sim);
    come_back(sim);
    gated_settle(sim);
    for (size_t i = 0; i < VISITORS; i++)
        gated_depart(sim, &sim->visitors[i]);
    gated_settle(sim);
    sim->now.mono_ms += 100000;
    sim->now.wall_ms += 100000;
    hub_tick(sim->hub, sim->now);
    gated_pull(sim, SIZE_MAX);
    gated_require(sim, hub_stats(sim->hub)->topics == 0 && hub_stats(sim->hub)->log_bytes == 0,
                  "something remains");
}

void gated_run(struct dice dice, const char *name, size_t steps, struct gated_tally *tally)
{
    struct gated *sim = calloc(1, sizeof *sim);

    if (!sim)
        abort();
    sim->dice = dice;
    sim->chance = dice_of_seed(dice.state ^ 0x5eed);
    sim->name = name;
    sim->tally = tally;
    sim->now = (struct mcpx_now){1000000, 1780000000000};
    draw_config(sim);
    draw_visitors(sim);
    fake_store_init(&sim->store, sim->config.stored);
    begin_hub(sim);
    for (size_t i = 0; i < steps && !dice_is_over(&sim->dice); i++)
        step(sim);
    finish(sim);
    tally->steps += sim->step;
    hub_free(sim->hub);
    gated_scatter(sim);
    fake_store_fini(&sim->store);
    free(sim->messages);
    free(sim);
}
