/*
 * sim_commit.c - coming in as the edge does it when messages are stored first: ask, wait for the
 * topic while it is opened or for one's own coming and going, ask again whenever the hub says that
 * something has ended. After a crash of router or machine all of that begins anew. When the store
 * works and everybody reads, nothing may be left: no submission, no waiting, no unread entry.
 */
#include "tests/support/sim_state.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- coming in ---- */

/* MCPX_OK when it may come in now, MCPX_EOPENING when it has to wait. */
static enum mcpx_err ask(struct sim *sim, const struct sim_peer *peer)
{
    const struct admission *admission = &peer->admission;
    enum mcpx_err err = hub_may_admit(sim->hub, peer->bearer, admission, sim->now);

    if (err != MCPX_EOPENING)
        return err;
    err = hub_open(sim->hub, peer->bearer, admission->topic, sim->now);
    sim_sync(sim); /* another topic may have made room */
    sim_require(sim,
                err == MCPX_OK || err == MCPX_EOPENING || err == MCPX_EFULL ||
                    err == MCPX_ESHARE || err == MCPX_EUNAVAILABLE,
                "hub_open: %s", mcpx_strerror(err));
    /* It was opened in this moment, or it is about the participant. */
    return err ? err : hub_may_admit(sim->hub, peer->bearer, admission, sim->now);
}

static void enter(struct sim *sim, struct sim_peer *peer)
{
    struct mcpx_slice id = peer_id(peer->peer);
    char name[FAKE_ID];
    int who;

    snprintf(name, sizeof name, "%.*s", (int)id.len, id.text);
    who = sim_who(name);
    peer->is_honest &= who == peer->who;
    peer->who = who;
    peer->topic->exists = peer->joining = true;
    peer->connection = ++sim->connections;
    sim_require(sim, peer_is_joining(peer->peer), "p%d is in before that is stored", who);
}

static void stop_waiting(struct sim_peer *peer)
{
    grant_unref(peer->bearer);
    peer->bearer = NULL;
    peer->waits = 0;
}

static void try_in(struct sim *sim, struct sim_peer *peer)
{
    enum mcpx_err err = ask(sim, peer);

    if (err == MCPX_EOPENING) {
        sim->tally->waited += peer->waits == 0;
        peer->waits = hub_waits(sim->hub) + 1; /* not 0 */
        return;
    }
    if (!err)
        err = sim_admit(sim, peer, peer->bearer);
    stop_waiting(peer);
    if (!err)
        enter(sim, peer);
    sim->tally->turned_away += err != MCPX_OK;
    sim_say(sim, "    as p%d: %s", peer->who, mcpx_strerror(err));
    sim_sync(sim);
}

void sim_ask(struct sim *sim, struct sim_peer *peer, struct grant *grant)
{
    peer->bearer = grant;
    try_in(sim, peer);
}

/* Nobody asks again without being told to, so that a waiting nobody ends shows. */
void sim_retry(struct sim *sim)
{
    for (size_t i = 0; i < SIM_PEERS; i++)
        if (sim->peers[i].bearer && sim->peers[i].waits != hub_waits(sim->hub) + 1)
            try_in(sim, &sim->peers[i]);
}

/* ---- crashes ---- */

static void crash(struct sim *sim)
{
    bool keeps = dice_hits(&sim->dice, 2);

    sim_say(sim, "crash; what was unknown is %s", keeps ? "stored" : "lost");
    fake_write(&sim->store, dice_below(&sim->dice, 10), FATE_STORED); /* stored, never told */
    hub_free(sim->hub);
    for (size_t i = 0; i < SIM_PEERS; i++) {
        stop_waiting(&sim->peers[i]);
        free(sim->peers[i].notes);
        sim->peers[i] = (struct sim_peer){0};
    }
    for (size_t i = 0; i < SIM_TOPICS; i++)
        sim_topic_clear(&sim->topics[i]);
    fake_crash(&sim->store, keeps);
    if (sim->store.is_stored && dice_hits(&sim->dice, 5)) {
        sim_say(sim, "the machine lost its power");
        fake_lose(&sim->store, dice_below(&sim->dice, 20));
        sim->tally->losses++;
    }
    sim->hub = hub_new(&sim->config, (struct chance){dice_fill, &sim->chance});
    sim->expected = (struct stats){0};
    sim->next_tick_ms = 0;
    sim->tally->crashes++;
}

/* ---- settling ---- */

static bool is_settled(const struct sim *sim)
{
    for (size_t i = 0; i < SIM_PEERS; i++)
        if (sim->peers[i].bearer || (sim->peers[i].peer && sim->peers[i].closed))
            return false;
    for (size_t i = 0; i < SIM_TOPICS; i++)
        if (sim->topics[i].exists && sim->topics[i].told != sim->topics[i].count)
            return false; /* a position may have come up only now */
    return hub_pending(sim->hub) == 0;
}

/* Presence waits up to 50 ms to be told, leaves that were refused a second to be submitted. */
static void serve_all(struct sim *sim)
{
    for (int round = 0; round < 15 || (round < 100 && !is_settled(sim)); round++) {
        sim_store_all(sim);
        sim_retry(sim);
        for (size_t i = 0; i < SIM_PEERS; i++)
            sim_unstall(sim, &sim->peers[i]);
        sim_pull_all(sim);
        for (size_t i = 0; i < SIM_PEERS; i++)
            if (sim->peers[i].peer && sim->peers[i].closed)
                sim_depart(sim, &sim->peers[i]);
        sim_pass(sim, 100);
    }
    sim_store_all(sim);
    sim_pull_all(sim);
}

static void settle(struct sim *sim)
{
    if (sim->store.has_failed)
        return;
    for (size_t i = 0; i < FAKE_TOPICS; i++)
        sim->store.topics[i].is_damaged = false;
    serve_all(sim);
    sim_require(sim, hub_pending(sim->hub) == 0, "%zu are pending for ever",
                hub_pending(sim->hub));
    for (size_t i = 0; i < SIM_PEERS; i++)
        sim_require(sim,
                    !sim->peers[i].bearer && (!sim->peers[i].peer || !sim->peers[i].joining),
                    "p%d waits for ever", sim->peers[i].who);
    for (size_t i = 0; i < SIM_TOPICS; i++) {
        struct sim_topic *topic = &sim->topics[i];

        sim_require(sim, topic->pending_count == 0, "%s is never answered",
                    topic->pending_count ? topic->pending[0].id : "");
        if (!topic->exists)
            continue;
        sim_require(sim, topic->told == topic->count, "%s: presence is not told", topic->name);
        sim_check_roster(sim, topic);
        sim_check_history(sim, topic);
    }
    sim_check(sim);
    sim->tally->settled++;
}

/* ---- chance ---- */

void sim_commit_step(struct sim *sim)
{
    size_t choice = dice_below(&sim->dice, 64);
    struct sim_peer *peer = &sim->peers[dice_below(&sim->dice, SIM_PEERS)];

    if (choice < 16)
        sim_take_tasks(sim, dice_hits(&sim->dice, 3) ? 1 : SIZE_MAX);
    else if (choice < 26)
        sim_store_write(sim);
    else if (choice < 40)
        sim_store_answer(sim, 1 + dice_below(&sim->dice, 10));
    else if (choice < 52)
        sim_store_load(sim);
    else if (choice < 56 && peer->bearer)
        stop_waiting(peer); /* it gives up */
    else if (choice < 60)
        sim_store_spoil(sim);
    else if (choice < 61 && dice_hits(&sim->dice, 4))
        settle(sim);
    else if (choice == 62 && (sim->store.has_failed || dice_hits(&sim->dice, 4)))
        crash(sim);
}

void sim_commit_finish(struct sim *sim)
{
    sim->has_trouble = sim->commit_faults = false;
    if (sim->store.has_failed)
        crash(sim);
    settle(sim);
    crash(sim);
    for (int i = 0; i < 10; i++)
        sim_join(sim);
    settle(sim);
}
