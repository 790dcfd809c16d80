/*
 * sim.c - the steps and their odds. Bounds are small, so that in a few hundred steps readers fall
 * behind, windows move, rates bite and topics vanish; the virtual clock mostly creeps and
 * sometimes leaps.
 */
#include "tests/support/hub_defaults.h"
#include "tests/support/sim_state.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- settings ---- */

static void draw_config(struct sim *sim)
{
    struct hub_config *config = &sim->config;

    *config = hub_config_default();
    config->directed = dice_hits(&sim->dice, 2);
    config->replay = DICE_ONE_OF(&sim->dice, 5, 0, 20, 100);
    config->linger_ms = (int64_t)DICE_ONE_OF(&sim->dice, 3000, 0, 20000);
    config->topics_max = DICE_ONE_OF(&sim->dice, 4, 3);
    config->participants_max = DICE_ONE_OF(&sim->dice, 9, 5);
    config->connections_max = DICE_ONE_OF(&sim->dice, 40, 20);
    config->history_count = DICE_ONE_OF(&sim->dice, 20, 3, 0, 100);
    config->history_bytes = DICE_ONE_OF(&sim->dice, 8192, 4096, 65536, 1000000);
    config->history_age_ms = (int64_t)DICE_ONE_OF(&sim->dice, 0, 5000, 60000);
    config->takeover = !dice_hits(&sim->dice, 6);
    config->instances = 3;
    config->message_bytes = 100000;
    config->depth = 16;
    config->backlog_bytes = DICE_ONE_OF(&sim->dice, 16384, 8192, 0, 100000, 400000);
    config->messages_per_minute = DICE_ONE_OF(&sim->dice, 0, 20, 100);
    config->bytes_per_minute = DICE_ONE_OF(&sim->dice, 0, 50000);
    config->joins_per_minute = DICE_ONE_OF(&sim->dice, 0, 5, 20);
    config->ping_ms = (int64_t)DICE_ONE_OF(&sim->dice, 0, 5000);
    config->derive_kinds = !dice_hits(&sim->dice, 8);
    sim->faults = dice_hits(&sim->dice, 4);
    sim->is_bulky = config->history_bytes > 65536 && dice_hits(&sim->dice, 2);
}

/* Rates, expiry and silence are the same with a store. */
static void draw_gate(struct sim *sim)
{
    struct hub_config *config = &sim->config;

    config->needs_commit = true;
    config->stored = !dice_hits(&sim->dice, 4);
    config->audited = dice_hits(&sim->dice, 2);
    config->pending_bytes = DICE_ONE_OF(&sim->dice, 1000000, 1000000, 5000, 20000);
    config->open_ms = (int64_t)DICE_ONE_OF(&sim->dice, 5000, 1000);
    config->topics_max = DICE_ONE_OF(&sim->dice, 4, 2, 3);
    config->messages_per_minute = config->bytes_per_minute = config->joins_per_minute = 0;
    config->ping_ms = config->history_age_ms = 0;
    sim->has_trouble = dice_hits(&sim->dice, 2);
    sim->commit_faults = config->stored && sim->faults;
    sim->faults = false;
    fake_store_init(&sim->store, config->stored);
}

/* ---- steps ---- */

void sim_depart(struct sim *sim, struct sim_peer *peer)
{
    struct sim_topic *topic = peer->topic;

    sim_say(sim, "p%d is gone from %s", peer->who, topic->name);
    sim_fault_begin(sim);
    hub_leave(sim->hub, peer->peer, dice_hits(&sim->dice, 4) ? MCPX_ETIMEOUT : MCPX_ECLOSED,
              sim->now);
    sim_fault_end(sim);
    sim->expected.departed += peer->entered;
    peer->peer = NULL;
    free(peer->notes);
    peer->notes = NULL;
    sim_sync(sim);
}

static void drop(struct sim *sim)
{
    struct sim_peer *peer = sim_pick(sim);

    if (peer->peer && (peer->disconnected || dice_hits(&sim->dice, 3)))
        sim_depart(sim, peer);
}

static void kick(struct sim *sim)
{
    static const enum mcpx_err reasons[] = {MCPX_EKICKED, MCPX_EGOING, MCPX_EBINARY};
    struct sim_peer *peer = sim_pick(sim);
    enum mcpx_err err = reasons[dice_below(&sim->dice, 3)];

    if (!peer->peer || !dice_hits(&sim->dice, 4))
        return;
    if (!peer->disconnected)
        peer->doom = err;
    sim_say(sim, "p%d is kicked: %s", peer->who, mcpx_strerror(err));
    sim_fault_begin(sim);
    hub_disconnect(sim->hub, peer->peer, err, sim->now);
    sim_fault_end(sim);
    sim_sync(sim);
}

static void stall(struct sim *sim)
{
    struct sim_peer *peer = sim_pick(sim);
    struct output output;

    if (!peer->peer || peer->stalled || peer->joining || !dice_hits(&sim->dice, 3))
        return;
    if (dice_hits(&sim->dice, 2)) /* a socket that refused what it was offered */
        (void)peer_peek(peer->peer, &output);
    sim_sync(sim);
    sim_say(sim, "p%d stalls", peer->who);
    peer->stalled = true;
    peer_stall(peer->peer);
}

void sim_unstall(struct sim *sim, struct sim_peer *peer)
{
    if (!peer->peer || !peer->stalled)
        return;
    sim_say(sim, "p%d reads on", peer->who);
    peer->stalled = peer->held_back = false;
    peer->heard_ms = sim->now.mono_ms;
    peer_unstall(peer->peer, sim->now);
}

/* Some get some of what waits for them. Who is left in the middle stalls, or keeps its turn. */
static void pull_some(struct sim *sim)
{
    for (size_t turns = dice_below(&sim->dice, 8); turns > 0; turns--) {
        struct peer *real = hub_next_ready(sim->hub);
        struct sim_peer *peer;

        if (!real)
            return;
        peer = peer_owner(real);
        if (!sim_pull(sim, peer, 1 + dice_below(&sim->dice, 3)) && dice_hits(&sim->dice, 3)) {
            sim_say(sim, "p%d stalls in the middle", peer->who);
            peer->stalled = true;
            peer_stall(real);
        }
    }
}

/* ---- time ---- */

/* What a tick has to do to peers, should none of them fall off a log first. */
static void foresee_tick(struct sim *sim)
{
    for (size_t i = 0; i < SIM_PEERS; i++) {
        struct sim_peer *peer = &sim->peers[i];

        if (!peer->peer || peer->disconnected)
            continue;
        if (peer->token_expires_ms && sim->now.wall_ms >= peer->token_expires_ms)
            peer->doom = MCPX_EEXPIRED;
        else
            peer->update_due = peer->grant_expires_ms && !peer->expiry_told &&
                               sim->now.wall_ms >= peer->grant_expires_ms;
    }
}

static void check_updates(struct sim *sim)
{
    for (size_t i = 0; i < SIM_PEERS; i++) {
        struct sim_peer *peer = &sim->peers[i];

        sim_require(sim,
                    !peer->peer || peer->disconnected || !peer->update_due || sim->fault_fired,
                    "p%d was not told that a grant expired", peer->who);
        peer->update_due = false;
    }
}

static void tick(struct sim *sim)
{
    bool is_due = sim->now.mono_ms >= sim->next_tick_ms;

    if (is_due) {
        foresee_tick(sim);
        sim->next_tick_ms = sim->now.mono_ms + 1000;
    }
    sim->ticked = is_due;
    sim_fault_begin(sim);
    hub_tick(sim->hub, sim->now);
    sim_fault_end(sim);
    sim_require(sim,
                hub_due(sim->hub) > sim->now.mono_ms && hub_due(sim->hub) <= sim->next_tick_ms,
                "next tick at %d", (int)hub_due(sim->hub));
    for (size_t i = 0; i < SIM_TOPICS && is_due && !sim->config.needs_commit; i++) {
        struct sim_topic *topic = &sim->topics[i];

        if (!topic->exists || topic->empty_ms < 0 || sim_count(sim, topic, true) > 0 ||
            sim->now.mono_ms - topic->empty_ms < sim->config.linger_ms)
            continue;
        sim_say(sim, "%s vanishes", topic->name);
        sim->tally->vanished++;
        sim_topic_clear(topic);
    }
    sim_sync(sim);
    check_updates(sim);
}

void sim_pass(struct sim *sim, size_t ms)
{
    sim->now.mono_ms += (int64_t)ms;
    sim->now.wall_ms += (int64_t)ms;
    tick(sim);
}

static void pass_time(struct sim *sim)
{
    static const size_t spans[] = {10, 10, 10, 100, 300, 1000, 3000, 30000};
    size_t span = dice_below(
        &sim->dice, DICE_ONE_OF(&sim->dice, 10, 10, 10, 10, 100, 1000, 1000, 5000) + 1);

    if (dice_hits(&sim->dice, 40))
        span = spans[dice_below(&sim->dice, sizeof spans / sizeof *spans)];
    sim_pass(sim, span);
}

/* ---- a run ---- */

static void act(struct sim *sim)
{
    size_t choice = dice_below(&sim->dice, 64);

    if (choice < 28)
        sim_talk(sim);
    else if (choice < 36)
        pull_some(sim);
    else if (choice < 40)
        sim_pull_all(sim);
    else if (choice < 45)
        sim_join(sim);
    else if (choice < 48)
        stall(sim);
    else if (choice < 52)
        sim_unstall(sim, sim_pick(sim));
    else if (choice < 55)
        pass_time(sim);
    else if (choice < 57)
        drop(sim);
    else if (choice < 58)
        kick(sim);
    else if (choice < 60)
        sim_regrant(sim);
    else if (choice < 62)
        sim_check(sim);
    else if (choice == 62 && dice_hits(&sim->dice, 60))
        sim_flood(sim);
    else if (sim->topics[choice % SIM_TOPICS].exists)
        sim_check_history(sim, &sim->topics[choice % SIM_TOPICS]);
}

static void step(struct sim *sim)
{
    sim->step++;
    sim->fault_fired = false;
    if (sim->config.needs_commit && dice_below(&sim->dice, 5) < 2)
        sim_commit_step(sim);
    else
        act(sim);
    sim_retry(sim);
    if (hub_is_pressed(sim->hub)) /* as the edge does */
        sim_pull_all(sim);
}

/* The router goes away: everybody is told so, nobody is told about the others. */
static void drain(struct sim *sim)
{
    for (size_t i = 0; i < SIM_PEERS; i++)
        if (sim->peers[i].peer && !sim->peers[i].disconnected)
            sim->peers[i].doom = MCPX_EGOING;
    for (size_t i = 0; i < SIM_TOPICS; i++)
        sim->topics[i].vague = true;
    sim_say(sim, "draining");
    hub_drain(sim->hub, sim->now);
    sim_sync(sim);
    sim->is_draining = true;
    sim_join(sim);
    sim_pull_all(sim);
}

/* Everybody reads what is left and goes; nothing may remain. */
static void finish(struct sim *sim)
{
    sim->faults = false;
    for (size_t i = 0; i < SIM_PEERS; i++)
        sim_unstall(sim, &sim->peers[i]);
    sim_pull_all(sim);
    sim_check(sim);
    if (sim->config.needs_commit)
        sim_commit_finish(sim);
    else if (dice_hits(&sim->dice, 4))
        drain(sim);
    for (size_t i = 0; i < SIM_PEERS; i++)
        if (sim->peers[i].peer)
            sim_depart(sim, &sim->peers[i]);
    sim_store_all(sim);
    sim_pass(sim, 3600000);
    sim_take_tasks(sim, SIZE_MAX);
    sim_check(sim);
    sim_require(sim, hub_stats(sim->hub)->topics == 0 && hub_stats(sim->hub)->log_bytes == 0,
                "something remains");
}

void sim_run(struct dice dice, const char *name, bool needs_commit, size_t steps,
             struct sim_tally *tally)
{
    struct sim *sim = calloc(1, sizeof *sim);

    if (!sim)
        abort();
    sim->dice = dice;
    sim->chance = dice_of_seed(dice.state ^ 0x5eed);
    sim->name = name;
    sim->tally = tally;
    sim->now = (struct mcpx_now){1000000, 1780000000000};
    draw_config(sim);
    if (needs_commit)
        draw_gate(sim);
    for (size_t i = 0; i < SIM_TOPICS; i++) {
        snprintf(sim->topics[i].name, sizeof sim->topics[i].name, "t%zu", i);
        sim->topics[i].empty_ms = -1;
    }
    sim->hub = hub_new(&sim->config, (struct chance){dice_fill, &sim->chance});
    for (size_t i = 0; i < steps && !dice_is_over(&sim->dice); i++)
        step(sim);
    finish(sim);
    tally->steps += sim->step;
    hub_free(sim->hub);
    for (size_t i = 0; i < SIM_TOPICS; i++)
        sim_topic_clear(&sim->topics[i]);
    fake_store_fini(&sim->store);
    free(sim);
}
