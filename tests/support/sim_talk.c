/*
 * sim_talk.c - what has to become of a message, by the checks of protocol section 1 in their
 * order, worked out on strings.
 */
#include "tests/support/oracle.h"
#include "tests/support/sim_draft.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what has to become of it ---- */

/* Protocol section 4, on strings. */
static void complete(const struct sim *sim, const struct sim_peer *peer, struct draft *draft)
{
    const struct sim_entry *about = sim_accepted(peer->topic, draft->correlation);
    unsigned asker, actors;
    const char *original, *type, *rest;

    if (!*draft->correlation || !about || !sim->config.derive_kinds)
        return;
    original = about->kind;
    asker = 1U << about->who;
    actors = about->to ? about->to : ~0U;
    if (strncmp(draft->kind, "mcp/response:", 13) == 0 &&
        strncmp(original, "mcp/request:", 12) == 0 && (!draft->to || draft->to & asker))
        type = draft->kind + 13, rest = original + 12;
    else if (strncmp(draft->kind, "mcp/request:", 12) == 0 &&
             strncmp(original, "mcp/proposal:", 13) == 0 &&
             (actors & 1U << peer->who || (draft->to && !(draft->to & ~actors))))
        type = draft->kind + 12, rest = original + 13;
    else
        return;
    if (strchr(type, ':') || strncmp(rest, type, strlen(type)) != 0 ||
        rest[strlen(type)] != ':')
        return;
    snprintf(draft->completed, sizeof draft->completed, "%.50s%.20s", draft->kind,
             rest + strlen(type));
}

/* Who is named in a grant is named with all its instances. */
static bool may_reach(unsigned granted, unsigned to)
{
    for (int who = 0; who <= SIM_WHO; who++)
        if (to & 1U << who && !(granted & 1U << sim_identity(who)))
            return false;
    return to != 0;
}

static bool may_say(const struct sim *sim, const struct sim_peer *peer,
                    const struct draft *draft)
{
    const struct sim_grant *grant = peer->grant;
    struct mcpx_slice kind = mcpx_slice_of(*draft->completed ? draft->completed : draft->kind);

    if (grant->deny && oracle_covers(mcpx_slice_of(grant->deny), kind, true))
        return false;
    for (size_t i = 0; i < 3 && grant->patterns[i]; i++) {
        bool is_last = i == 2 || !grant->patterns[i + 1];

        if (!oracle_covers(mcpx_slice_of(grant->patterns[i]), kind, false))
            continue;
        if (is_last && grant->to && !may_reach(grant->to, draft->to))
            continue;
        if (is_last && grant->expires && sim->now.wall_ms >= peer->grant_expires_ms)
            continue;
        return true;
    }
    return false;
}

/* What the checks before the rate say, in the order of protocol section 1. */
static enum mcpx_err foresee_early(const struct sim *sim, const struct draft *draft)
{
    if (sim->config.message_bytes && draft->said.len > sim->config.message_bytes)
        return MCPX_ETOOBIG;
    if (draft->call_error == FLAW_UTF8)
        return MCPX_EUTF8;
    if (draft->call_error == FLAW_JSON || draft->call_error == FLAW_PROTOCOL ||
        draft->call_error == FLAW_KIND)
        return MCPX_EINVALID;
    if (draft->call_error == FLAW_FROM)
        return MCPX_EAUTH;
    return oracle_is_reserved(mcpx_slice_of(draft->kind)) ? MCPX_ECAPABILITY : MCPX_OK;
}

static enum mcpx_err foresee_late(const struct sim *sim, const struct sim_peer *peer,
                                  struct draft *draft)
{
    if (sim_accepted(peer->topic, draft->id) || sim_is_used(peer->topic, draft->id))
        return MCPX_EDUPLICATE;
    complete(sim, peer, draft);
    return may_say(sim, peer, draft) ? MCPX_OK : MCPX_ECAPABILITY;
}

/* ---- rates ---- */

void sim_charge(struct sim *sim, const struct sim_peer *peer, size_t bytes,
                enum sim_charge_type type)
{
    struct sim_topic *topic = peer->topic;

    if (topic->charge_count == topic->charge_size) {
        topic->charge_size = topic->charge_size ? topic->charge_size * 2 : 64;
        topic->charges = realloc(topic->charges, topic->charge_size * sizeof *topic->charges);
    }
    topic->charges[topic->charge_count++] =
        (struct sim_charge){sim->now.mono_ms, sim_identity(peer->who), bytes, type};
}

uint64_t sim_charged(const struct sim *sim, const struct sim_peer *peer,
                     enum sim_charge_type type)
{
    const struct sim_topic *topic = peer->topic;
    uint64_t count = 0;

    for (size_t i = topic->charge_count; i > 0; i--) {
        const struct sim_charge *each = &topic->charges[i - 1];

        if (each->mono_ms <= sim->now.mono_ms - 60000)
            break;
        count += each->identity == sim_identity(peer->who) && each->type == type;
    }
    return count;
}

/* What a participant was charged within the last minute bounds what its buckets can lack. */
static void check_rate(struct sim *sim, const struct sim_peer *peer, size_t len, bool limited)
{
    const struct hub_config *config = &sim->config;
    const struct sim_topic *topic = peer->topic;
    uint64_t messages = 1, bytes = len, cap = config->bytes_per_minute;

    if (cap && bytes > cap)
        bytes = cap;
    for (size_t i = topic->charge_count; i > 0; i--) {
        const struct sim_charge *each = &topic->charges[i - 1];

        if (each->mono_ms <= sim->now.mono_ms - 60000)
            break;
        if (each->identity != sim_identity(peer->who) || each->type != CHARGE_MESSAGE)
            continue;
        messages++;
        bytes += cap && each->bytes > cap ? cap : each->bytes;
    }
    if (limited)
        sim_require(sim,
                    (config->messages_per_minute && messages > config->messages_per_minute) ||
                        (cap && bytes > cap),
                    "p%d is limited after %d messages", peer->who, (int)messages);
    else if (!topic->vague)
        sim_require(
            sim,
            (!config->messages_per_minute || messages <= 2 * config->messages_per_minute) &&
                (!cap || bytes <= 2 * cap),
            "p%d is not limited after %d messages", peer->who, (int)messages);
}

/* ---- saying ---- */

/* The entry everybody has to receive, should the message be accepted. */
static void prepare(struct sim *sim, const struct sim_peer *peer, struct draft *draft)
{
    struct sim_entry *entry = &sim->pending_entry;

    draft_hear(sim, peer, draft);
    *entry = (struct sim_entry){.to = draft->to, .who = peer->who, .len = draft->heard.len};
    strcpy(entry->id, draft->id);
    strcpy(entry->kind, *draft->completed ? draft->completed : draft->kind);
    strcpy(entry->kind_sent, draft->kind);
    entry->cost = sim_cost(sim, peer->topic, entry);
    sim->pending = malloc(draft->heard.len);
    sim->pending_len = draft->heard.len;
    sim->pending_topic = peer->topic;
    memcpy(sim->pending, draft->heard.text, draft->heard.len);
}

static void note_refusal(struct sim *sim, struct sim_peer *peer, const struct draft *draft,
                         const struct verdict *verdict)
{
    struct sim_note note = {.type = NOTE_ERROR, .err = verdict->err};

    sim->expected.refused[verdict->err]++;
    sim->tally->refused++;
    sim->tally->duplicates += verdict->err == MCPX_EDUPLICATE;
    if (verdict->err == MCPX_ENOMEM)
        peer->lossy = true;
    if (mcpx_error_close(verdict->err))
        peer->doom = verdict->err;
    else if (verdict->err != MCPX_EUNAVAILABLE)
        sim_charge(sim, peer, 0, CHARGE_REFUSAL);
    if (verdict->id.text) {
        sim_require(sim, mcpx_slice_equal(verdict->id, mcpx_slice_of(draft->id)),
                    "verdict on %.*s", (int)verdict->id.len, verdict->id.text);
        strcpy(note.id, draft->id);
    } else {
        sim_require(sim,
                    verdict->err == MCPX_EINVALID || verdict->err == MCPX_EUTF8 ||
                        verdict->err == MCPX_ETOOBIG || verdict->err == MCPX_ENOMEM,
                    "verdict without id");
    }
    strcpy(note.kind, *draft->completed ? draft->completed : draft->kind);
    sim_expect(peer, &note);
}

static void judge(struct sim *sim, struct sim_peer *peer, struct draft *draft)
{
    enum mcpx_err early = foresee_early(sim, draft);
    enum mcpx_err expected = early ? early : foresee_late(sim, peer, draft);
    size_t derived = sim->expected.derived + (!early && *draft->completed);
    struct verdict verdict;

    prepare(sim, peer, draft);
    sim_fault_begin(sim);
    hub_route(sim->hub, peer->peer, mcpx_text_view(&draft->said), sim->now, &verdict);
    sim_fault_end(sim);
    sim_say(sim, "p%d says %s %s (%zu bytes, to %x, about %s): %s", peer->who, draft->id,
            draft->kind, draft->said.len, draft->to, draft->correlation,
            mcpx_strerror(verdict.err));
    sim->expected.received++;
    sim->expected.received_bytes += draft->said.len;
    sim->expected.derived = sim->fault_fired            ? sim->hub->stats.derived
                            : verdict.err == MCPX_ERATE ? sim->expected.derived
                                                        : derived;
    sim_require(
        sim,
        verdict.err == expected || (verdict.err == MCPX_ERATE && !early) ||
            (verdict.err == MCPX_EUNAVAILABLE && !expected && sim->config.needs_commit) ||
            (verdict.err == MCPX_ENOMEM && sim->fault_fired),
        "expected: %s", mcpx_strerror(expected));
    if (!expected && sim->config.needs_commit)
        sim_check_limit(sim, peer, verdict.err);
    if (!early && verdict.err != MCPX_ENOMEM)
        check_rate(sim, peer, draft->said.len, verdict.err == MCPX_ERATE);
    if (!early && verdict.err != MCPX_ERATE)
        sim_charge(sim, peer, draft->said.len, CHARGE_MESSAGE);
    if (!verdict.err) {
        sim->tally->accepted++;
        sim->tally->derived += *draft->completed != '\0';
        sim->expected.accepted += !sim->config.needs_commit;
        if (sim->config.needs_commit)
            sim_hold(sim, peer);
        return;
    }
    free(sim->pending);
    sim->pending = NULL;
    note_refusal(sim, peer, draft, &verdict);
}

void sim_talk(struct sim *sim)
{
    struct sim_peer *peer = sim_pick(sim);
    struct draft draft = {.call_error = SOUND};
    struct verdict verdict;

    if (sim->config.needs_commit && !sim_is_in(peer))
        peer = sim_pick(sim);
    if (!peer->peer)
        return;
    if (!sim_is_in(peer)) {
        hub_route(sim->hub, peer->peer, MCPX_SLICE("{}"), sim->now, &verdict);
        sim_require(sim, verdict.err == (peer->disconnected ? MCPX_ECLOSED : MCPX_EOPENING),
                    "heard when it should not be: %s", mcpx_strerror(verdict.err));
        return;
    }
    peer_heard(peer->peer, sim->now);
    peer->heard_ms = sim->now.mono_ms;
    draft_draw(sim, peer, &draft);
    judge(sim, peer, &draft);
    draft_fini(&draft);
    sim_sync(sim);
}

void sim_flood(struct sim *sim)
{
    struct sim_peer *peer = sim_pick(sim);
    struct draft draft = {.call_error = FLAW_JSON, .id = "never"};
    struct verdict verdict;

    for (int i = 0; sim_is_in(peer); i++) {
        sim_require(sim, i <= SIM_REFUSALS, "p%d goes on and on", peer->who);
        hub_route(sim->hub, peer->peer, MCPX_SLICE("[]"), sim->now, &verdict);
        sim->fault_fired = false;
        sim->expected.received++;
        sim->expected.received_bytes += 2;
        note_refusal(sim, peer, &draft, &verdict);
        sim_sync(sim);
    }
}
