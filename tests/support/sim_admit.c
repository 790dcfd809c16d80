/*
 * sim_admit.c - who comes in, with which grants, and what that has to lead to. Compiled grant sets
 * without expiry are kept for the whole program, because compiling is most of a join's cost.
 */
#include "tests/support/sim_state.h"

#include <stdio.h>
#include <stdlib.h>

static const struct sim_grant pool[] = {
    {.patterns = {"*"}},
    {.patterns = {"*"}, .deny = "mcp/*:tools/call:t2"},
    {.patterns = {"chat", "mcp/request:*"}},
    {.patterns = {"chat", "mcp/response:tools/call:t1"}},
    {.patterns = {"mcp/*", "chat"}, .to = 1U << 0 | 1U << 5 | SIM_ABSENT},
    {.patterns = {"mcp/*", "chat"}, .expires = true},
    {.patterns = {"mcp/proposal:*", "mcp/request:tools/call:t*", "note"}, .expires = true},
    {.patterns = {NULL}},
};

enum { POOL = sizeof pool / sizeof *pool };

static struct mcpx_capset *compiled[POOL]; /* kept for the program's life */

static struct mcpx_capset *compile(const struct sim_grant *grant, int64_t expires_ms)
{
    struct mcpx_slice to[SIM_WHO + 1], deny = mcpx_slice_of(grant->deny);
    struct mcpx_grant grants[4] = {0};
    struct mcpx_capset *set = NULL;
    size_t count = 0, to_count = 0;

    for (; grant->patterns[count]; count++)
        grants[count].pattern = mcpx_slice_of(grant->patterns[count]);
    for (size_t who = 0; who <= SIM_WHO; who++)
        if (grant->to & 1U << who)
            to[to_count++] = mcpx_slice_of(sim_id((int)who));
    if (count > 0) {
        grants[count - 1].to = to_count ? to : NULL;
        grants[count - 1].to_count = to_count;
        grants[count - 1].expires_ms = expires_ms;
    }
    if (mcpx_capset_new(grants, count, &deny, deny.text != NULL, NULL, NULL, &set))
        abort();
    return set;
}

/* Makes a grant from the pool and notes what it is in `peer`. */
static struct grant *draw_grant(struct sim *sim, struct sim_peer *peer)
{
    size_t which = dice_hits(&sim->dice, 3) ? dice_below(&sim->dice, POOL) : 0;
    struct mcpx_capset *set;
    struct grant *grant;
    int identity = sim_identity(peer->who);

    if (sim->config.needs_commit && pool[which].expires)
        which = 0;
    peer->grant = &pool[which];
    peer->grant_expires_ms =
        peer->grant->expires ? sim->now.wall_ms + (int64_t)dice_below(&sim->dice, 20000) : 0;
    peer->expiry_told = sim->now.wall_ms >= peer->grant_expires_ms;
    if (!peer->grant->expires && !compiled[which])
        compiled[which] = compile(peer->grant, 0);
    set = peer->grant->expires ? compile(peer->grant, peer->grant_expires_ms)
                               : mcpx_capset_ref(compiled[which]);
    grant = grant_new(mcpx_slice_of(sim_id(identity)), set, ROUTING_DEFAULT,
                      peer->token_expires_ms);
    mcpx_capset_unref(set);
    if (!grant)
        abort();
    for (unsigned number = 2; sim_instance(identity, number - 1) < SIM_WHO; number++)
        grant->instances = identity ? number - 1 : 0; /* p0 has as many as the hub allows */
    return grant;
}

void sim_capabilities(const struct sim *sim, struct sim_peer *peer)
{
    char *out = peer->capabilities;
    size_t len = 0;

    *out = '\0';
    for (size_t i = 0; i < 3 && peer->grant->patterns[i]; i++) {
        bool is_last = i == 2 || !peer->grant->patterns[i + 1];

        if (is_last && peer->grant->expires && sim->now.wall_ms >= peer->grant_expires_ms)
            continue;
        len += (size_t)snprintf(out + len, sizeof peer->capabilities - len, "%s%s",
                                len ? " " : "", peer->grant->patterns[i]);
    }
}

/* ---- what has to come of it ---- */

/* Who it will be: fills `who`, SIM_WHO when all instances are there. Returns whom it replaces. */
static struct sim_peer *foresee_who(struct sim *sim, struct sim_peer *peer,
                                    const struct admission *admission)
{
    int identity = sim_identity(peer->who);
    unsigned wish = admission->instance ? admission->instance : 1, number = 1;
    struct sim_peer *old = NULL;

    for (int who = 0; who < SIM_WHO && admission->instance && peer->key; who++) {
        old = sim_present(sim, peer->topic, who);
        peer->who = who;
        if (old && sim_identity(who) == identity && old->key == peer->key)
            return old;
    }
    peer->who = wish == INSTANCE_AUTO ? SIM_WHO : sim_instance(identity, wish);
    if (peer->who < SIM_WHO) {
        old = sim_present(sim, peer->topic, peer->who);
        if (!old || !admission->instance)
            return old;
    }
    do
        peer->who = sim_instance(identity, number++);
    while (peer->who < SIM_WHO && sim_present(sim, peer->topic, peer->who));
    return NULL;
}

static enum mcpx_err foresee(struct sim *sim, const struct sim_peer *peer,
                             const struct admission *admission, const struct sim_peer *old)
{
    const struct sim_topic *topic = peer->topic;
    size_t topics = 0;

    if (sim->is_draining)
        return MCPX_EGOING;
    for (size_t i = 0; i < SIM_TOPICS; i++)
        topics += sim->topics[i].exists;
    if (!topic->exists && topics >= sim->config.topics_max)
        return MCPX_EFULL;
    if (peer->who == SIM_WHO)
        return MCPX_EINSTANCES;
    if (old && !admission->instance && !sim->config.takeover)
        return MCPX_EPRESENT;
    if (old)
        return old->takeovers[0] && sim->now.mono_ms - old->takeovers[0] < 60000
                   ? MCPX_EFLAPPING
                   : MCPX_OK;
    if (sim_count(sim, NULL, true) >= sim->config.connections_max ||
        sim_count(sim, topic, false) >= sim->config.participants_max)
        return MCPX_EFULL;
    return MCPX_OK;
}

struct sim_note sim_begin(struct sim *sim, struct sim_peer *peer)
{
    const struct admission *admission = &peer->admission;
    struct sim_topic *topic = peer->topic;
    size_t wanted = admission->has_history ? admission->history : sim->config.replay;
    size_t next = 0;
    struct sim_note note = {.type = NOTE_WELCOME,
                            .resumed = sim_can_resume(sim, topic, admission, &next)};

    peer->joined = peer->next = topic->count;
    peer->wanted = wanted;
    peer->heard_from = SIZE_MAX; /* until its welcome */
    peer->is_owed_welcome = true;
    if (note.resumed) {
        peer->next = next;
    } else {
        for (size_t i = topic->count; i > topic->history && note.count < wanted; i--) {
            if (!sim_wants(peer, i - 1))
                continue;
            peer->next = i - 1;
            note.count++;
        }
        peer->replay_end = topic->count;
    }
    sim_capabilities(sim, peer);
    if (note.resumed && peer->is_honest)
        sim_check_hole(sim, peer);
    return note;
}

/* Returns true when it names what it remembers, or nothing. */
static bool draw_admission(struct sim *sim, struct sim_peer *peer, struct admission *admission)
{
    const struct sim_topic *topic = peer->topic;

    static const char *const keys[] = {NULL, "one", "two"};

    *admission = (struct admission){.topic = mcpx_slice_of(topic->name)};
    if (dice_hits(&sim->dice, 2)) {
        admission->instance =
            dice_hits(&sim->dice, 2) ? INSTANCE_AUTO : 1 + (unsigned)dice_below(&sim->dice, 4);
        peer->key = keys[dice_below(&sim->dice, 3)];
        admission->instance_key = mcpx_slice_of(peer->key);
    }
    admission->routing = (enum routing)dice_below(&sim->dice, 3);
    peer->directed = admission->routing == ROUTING_DIRECTED ||
                     (admission->routing == ROUTING_DEFAULT && sim->config.directed);
    if (dice_hits(&sim->dice, 3)) {
        admission->has_history = true;
        admission->history = dice_below(&sim->dice, 40);
    }
    if (!dice_hits(&sim->dice, 3))
        reader_place_ask(&topic->places[peer->who], admission);
    if (dice_hits(&sim->dice, 6) && topic->count > 0)
        admission->after =
            mcpx_slice_of(topic->entries[dice_below(&sim->dice, topic->count)].id);
    else if (dice_hits(&sim->dice, 16))
        admission->after = MCPX_SLICE("never-said");
    else if (dice_hits(&sim->dice, 16))
        admission->epoch = MCPX_SLICE("0123456789abcdef0123456789abcdef");
    else if (dice_hits(&sim->dice, 16))
        admission->serial = dice_below(&sim->dice, topic->envelopes + 2);
    else
        return true;
    return false;
}

static struct sim_peer *free_slot(struct sim *sim)
{
    for (size_t i = 0; i < SIM_PEERS; i++)
        if (!sim->peers[i].peer && !sim->peers[i].bearer)
            return &sim->peers[i];
    return NULL;
}

void sim_settle_join(struct sim *sim, struct sim_peer *peer, struct sim_peer *old,
                     const struct sim_note *welcome)
{
    peer->topic->empty_ms = -1;
    peer->entered = true;
    peer->heard_ms = sim->now.mono_ms;
    sim_expect(peer, welcome);
    sim_charge(sim, peer, 0, CHARGE_JOIN);
    sim->expected.admitted++;
    if (!old)
        return;
    memmove(peer->takeovers, old->takeovers + 1, 2 * sizeof *peer->takeovers);
    peer->takeovers[2] = sim->now.mono_ms;
    old->doom = MCPX_EREPLACED;
    sim->expected.takeovers++;
    sim->tally->takeovers++;
}

enum mcpx_err sim_admit(struct sim *sim, struct sim_peer *peer, struct grant *grant)
{
    enum mcpx_err may = hub_may_admit(sim->hub, grant, &peer->admission, sim->now), err;

    sim_fault_begin(sim);
    err = hub_admit(sim->hub, grant, &peer->admission, peer, sim->now, &peer->peer);
    sim_fault_end(sim);
    sim_require(sim, err == may || (err == MCPX_ENOMEM && sim->fault_fired),
                "may be admitted: %s; is: %s", mcpx_strerror(may), mcpx_strerror(err));
    return err;
}

/* The joins of the last minute bound what the bucket can lack. */
static void check_joined(struct sim *sim, const struct sim_peer *peer, enum mcpx_err err,
                         enum mcpx_err expected)
{
    uint64_t joins = sim_charged(sim, peer, CHARGE_JOIN), most = sim->config.joins_per_minute;

    if (err == MCPX_EFLAPPING && expected != MCPX_EFLAPPING) {
        sim_require(sim, most && joins + 1 > most, "p%d is refused after %d joins", peer->who,
                    (int)joins);
        return;
    }
    sim_require(sim, err == expected || (err == MCPX_ENOMEM && sim->fault_fired),
                "expected: %s", mcpx_strerror(expected));
    sim_require(sim, err || !most || joins < 2 * most, "p%d is not refused after %d joins",
                peer->who, (int)joins);
}

void sim_hold_back(struct sim *sim, struct sim_peer *peer)
{
    sim_say(sim, "p%d is held back", peer->who);
    peer->stalled = peer->held_back = true;
    peer_hold_back(peer->peer);
}

/* What an admission borrows may change while it waits. */
static void note_asked(struct sim *sim, struct sim_peer *peer)
{
    struct admission *admission = &peer->admission;
    struct reader_place *asked = &peer->asked;

    asked->serial = admission->serial;
    if (admission->epoch.text)
        snprintf(asked->epoch, sizeof asked->epoch, "%s", admission->epoch.text);
    if (admission->after.text)
        snprintf(asked->after, sizeof asked->after, "%s", admission->after.text);
    reader_place_ask(asked, admission);
    sim_say(sim, "p%d joins %s%s, history %d, at %.4s %d after %s", peer->who,
            peer->topic->name, peer->directed ? ", directed" : "",
            admission->has_history ? (int)admission->history : -1, asked->epoch,
            (int)asked->serial, asked->after);
}

void sim_join(struct sim *sim)
{
    struct sim_peer *peer = free_slot(sim), *old;
    struct sim_topic *topic = &sim->topics[dice_below(&sim->dice, SIM_TOPICS)];
    struct sim_peer asked; /* before it is known which instance it gets */
    struct sim_note welcome;
    struct grant *grant;
    enum mcpx_err expected, err;

    if (!peer)
        return;
    *peer = (struct sim_peer){.who = (int)dice_below(&sim->dice, SIM_WHO)};
    /* With a store there are crashes, so it rather goes where it has been. */
    for (int i = 0; sim->config.needs_commit && i < 2 && !*topic->places[peer->who].epoch; i++)
        topic = &sim->topics[dice_below(&sim->dice, SIM_TOPICS)];
    peer->topic = topic;
    if (!sim->config.needs_commit && dice_hits(&sim->dice, 6))
        peer->token_expires_ms = sim->now.wall_ms + 1 + (int64_t)dice_below(&sim->dice, 30000);
    grant = draw_grant(sim, peer);
    peer->is_honest = draw_admission(sim, peer, &peer->admission);
    note_asked(sim, peer);
    if (sim->config.needs_commit) {
        sim_ask(sim, peer, grant);
        return;
    }
    asked = *peer;
    old = foresee_who(sim, peer, &peer->admission);
    expected = foresee(sim, peer, &peer->admission, old);
    peer->is_honest &= peer->who == asked.who;
    welcome = sim_begin(sim, peer);
    err = sim_admit(sim, peer, grant);
    grant_unref(grant);
    sim_say(sim, "    as p%d: %s", peer->who, mcpx_strerror(err));
    check_joined(sim, &asked, err, expected);
    if (!err) {
        topic->exists = true;
        sim_settle_join(sim, peer, old, &welcome);
    }
    sim_sync(sim);
    if (!err && dice_hits(&sim->dice, 2))
        sim_hold_back(sim, peer);
}

void sim_regrant(struct sim *sim)
{
    struct sim_peer *peer = sim_pick(sim);
    struct sim_peer before = *peer;
    struct grant *grant;
    enum mcpx_err err;

    if (!peer->peer || peer->disconnected)
        return;
    grant = draw_grant(sim, peer);
    sim_fault_begin(sim);
    err = hub_update_grants(sim->hub, peer->peer, grant, false, sim->now);
    sim_fault_end(sim);
    grant_unref(grant);
    sim_say(sim, "p%d is regranted: %s", peer->who, mcpx_strerror(err));
    sim_require(sim, !err || (err == MCPX_ENOMEM && sim->fault_fired), "regrant failed");
    sim->tally->regrants += !err;
    if (err) {
        peer->grant = before.grant;
        peer->grant_expires_ms = before.grant_expires_ms;
        peer->expiry_told = before.expiry_told;
    } else if (sim->config.needs_commit && !peer->joining) {
        sim_note_update(sim, peer);
    }
    sim_sync(sim);
}
