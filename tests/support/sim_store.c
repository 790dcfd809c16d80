/*
 * sim_store.c - what the hub hands out is what was accepted, once, in that order; what it is
 * answered reaches whom it concerns. A row that is committed is appended as in a hub without a
 * store, so the account is the same; a topic that comes back into memory is what the store told.
 */
#include "tests/support/sim_state.h"

#include <stdio.h>
#include <stdlib.h>

static struct sim_topic *topic_of(struct sim *sim, const struct fake_topic *stored)
{
    return &sim->topics[stored - sim->store.topics];
}

static int who_of(struct mcpx_slice id)
{
    char text[FAKE_ID];

    snprintf(text, sizeof text, "%.*s", (int)id.len, id.text);
    return sim_who(text);
}

/* ---- what is pending ---- */

void sim_hold(struct sim *sim, const struct sim_peer *peer)
{
    struct sim_topic *topic = sim->pending_topic;

    if (topic->pending_count == topic->pending_size) {
        topic->pending_size = topic->pending_size ? topic->pending_size * 2 : 64;
        topic->pending = realloc(topic->pending, topic->pending_size * sizeof *topic->pending);
    }
    sim->pending_entry.text = sim->pending;
    sim->pending_entry.connection = peer->connection;
    topic->pending[topic->pending_count++] = sim->pending_entry;
    sim->pending = NULL;
}

/*
 * The hub counts what it allocates for them: somewhat more than the text. Nobody holds more than a
 * quarter; a message that is larger than that comes through alone.
 */
void sim_check_limit(struct sim *sim, const struct sim_peer *peer, enum mcpx_err err)
{
    size_t most = sim->config.pending_bytes, cap = most / PENDING_OWNERS;
    size_t len = sim->pending_len, room = 1024, all = 0, own = 0;

    for (size_t i = 0; i < SIM_TOPICS; i++) {
        const struct sim_topic *topic = &sim->topics[i];

        for (size_t j = 0; j < topic->pending_count; j++, room += 1024) {
            const struct sim_entry *entry = &topic->pending[j];

            all += entry->len;
            own += sim_identity(entry->who) == sim_identity(peer->who) ? entry->len : 0;
        }
    }
    if (err == MCPX_EUNAVAILABLE)
        sim_require(sim, all + len + room > most || own + len + room > cap,
                    "%zu bytes are too many", all);
    else if (!err)
        sim_require(sim, (!all || all + len <= most) && (!own || own + len <= cap),
                    "%zu bytes are not too many", all);
    sim->tally->limited += err == MCPX_EUNAVAILABLE;
}

/* ---- tasks ---- */

static bool is(struct mcpx_slice slice, const char *text)
{
    return mcpx_slice_equal(slice, mcpx_slice_of(text));
}

static void check_message(struct sim *sim, const struct submission *given)
{
    struct sim_topic *topic = topic_of(sim, fake_topic(&sim->store, given->topic));
    const struct sim_entry *entry = &topic->pending[topic->handed];
    unsigned to = 0;

    sim_require(sim, topic->handed < topic->pending_count, "%s: nobody said %.*s", topic->name,
                (int)given->id.len, given->id.text);
    for (size_t i = 0; i < given->to_count; i++)
        to |= 1U << who_of(given->to[i]);
    sim_require(
        sim,
        is(given->id, entry->id) && is(given->from, sim_id(entry->who)) &&
            is(given->kind, entry->kind) && is(given->kind_sent, entry->kind_sent) &&
            to == entry->to &&
            mcpx_slice_equal(given->text, (struct mcpx_slice){entry->text, entry->len}),
        "the store is handed %.*s\nexpected %.*s", (int)given->text.len, given->text.text,
        (int)entry->len, entry->text);
    sim_require(sim, !sim->config.audited || given->grant.text, "no grant covers %s",
                entry->id);
    topic->handed++;
}

void sim_take_tasks(struct sim *sim, size_t count)
{
    static const char *const whats[] = {"message", "join", "update", "leave"};
    struct task task;

    while (count-- > 0 && fake_pull(&sim->store, sim->hub, &task)) {
        const struct submission *given = task.submission;

        sim->tally->loads += task.kind == TASK_OPEN;
        sim->tally->closings += task.kind == TASK_CLOSE;
        if (task.kind == TASK_STORE)
            sim_say(sim, "task %d: %s %.*s %.*s %.*s", (int)task.ticket, whats[given->what],
                    (int)task.topic.len, task.topic.text, (int)given->from.len,
                    given->from.text, (int)given->id.len,
                    given->id.text ? given->id.text : "");
        else
            sim_say(sim, "task %d: %s %.*s", (int)task.ticket,
                    task.kind == TASK_OPEN ? "open" : "close", (int)task.topic.len,
                    task.topic.text);
        if (task.kind == TASK_STORE && given->what == SUBMIT_MESSAGE)
            check_message(sim, given);
    }
}

/* ---- answers ---- */

/*
 * What has to come of an answer, as far as it has to be known before the hub is told, because peers
 * may end with that. `comes` is false when it is not stored, or stored for nothing: the topic is
 * lost.
 */
struct outcome {
    struct sim_topic *topic;
    bool comes;
    struct sim_entry entry;
    struct sim_peer *joiner, *old;
    struct sim_note welcome;
};

static struct sim_peer *find_joiner(struct sim *sim, const struct sim_topic *topic, int who)
{
    for (size_t i = 0; i < SIM_PEERS; i++) {
        struct sim_peer *peer = &sim->peers[i];

        if (peer->peer && peer->joining && peer->topic == topic && peer->who == who)
            return peer;
    }
    return NULL;
}

static struct sim_entry take(struct sim *sim, struct sim_topic *topic, struct mcpx_slice id)
{
    struct sim_entry entry;
    size_t at = 0;

    while (at < topic->handed && !is(id, topic->pending[at].id))
        at++;
    sim_require(sim, at < topic->handed, "%.*s is not pending", (int)id.len, id.text);
    entry = topic->pending[at];
    memmove(topic->pending + at, topic->pending + at + 1,
            (--topic->pending_count - at) * sizeof entry);
    topic->handed--;
    return entry;
}

static struct outcome foresee(struct sim *sim, const struct fake_held *held)
{
    const struct submission *given = held->submission;
    struct outcome out = {.topic = topic_of(sim, held->topic)};
    int who = who_of(given->from);

    out.comes = held->fate == FATE_STORED && !out.topic->lost;
    if (given->what == SUBMIT_MESSAGE) {
        out.entry = take(sim, out.topic, given->id);
        out.entry.cost = sim_cost(sim, out.topic, &out.entry);
        sim->pending = out.comes ? out.entry.text : NULL;
        sim->pending_len = out.entry.len;
        sim->pending_entry = out.entry;
        sim->pending_topic = out.topic;
    } else if (given->what == SUBMIT_JOIN) {
        out.joiner = find_joiner(sim, out.topic, who);
        out.old = sim_present(sim, out.topic, who);
        if (out.joiner && !out.joiner->disconnected && out.comes)
            out.welcome = sim_begin(sim, out.joiner);
    }
    return out;
}

/* Memory had no room for what is stored: everybody has to come again, when it was loaded anew. */
static void lose(struct sim *sim, struct sim_topic *topic)
{
    sim_say(sim, "%s is lost to a failed allocation", topic->name);
    topic->lost = true;
    free(sim->pending);
    sim->pending = NULL;
    for (size_t i = 0; i < SIM_PEERS; i++)
        if (sim_is_in(&sim->peers[i]) && sim->peers[i].topic == topic)
            sim->peers[i].doom = MCPX_ENOMEM;
    sim->tally->lost++;
}

static void settle_message(struct sim *sim, const struct outcome *out, enum fate fate)
{
    struct sim_note note = {
        .type = NOTE_ERROR, .err = MCPX_EUNAVAILABLE, .is_unknown = fate == FATE_UNKNOWN};
    const struct topic *real = hub_topic_find(sim->hub, mcpx_slice_of(out->topic->name));

    sim->tally->committed += fate == FATE_STORED;
    sim->tally->rejected += fate == FATE_REFUSED;
    sim->tally->unknown += fate == FATE_UNKNOWN;
    if (fate == FATE_STORED) {
        sim->expected.accepted++;
        if (out->comes && sim->fault_fired && real->log.head == out->topic->envelopes)
            lose(sim, out->topic);
    } else {
        strcpy(note.id, out->entry.id);
        sim->expected.refused[MCPX_EUNAVAILABLE]++;
        for (size_t i = 0; i < SIM_PEERS; i++)
            if (sim_is_in(&sim->peers[i]) && sim->peers[i].connection == out->entry.connection)
                sim_expect(&sim->peers[i], &note);
    }
    if (!out->comes)
        free(out->entry.text);
}

/* Whoever has the id of a joiner is replaced, also by one that is gone again already. */
static void settle_join(struct sim *sim, const struct outcome *out)
{
    struct sim_peer *peer = out->joiner;
    bool is_gone = !peer || peer->disconnected;

    sim->tally->lone_joins += is_gone;
    if (peer)
        peer->joining = false;
    if (!out->comes) {
        if (!is_gone)
            peer->doom = MCPX_ENOTNOW;
    } else if (!is_gone) {
        sim_settle_join(sim, peer, out->old, &out->welcome);
    } else {
        if (peer)
            peer->entered = true;
        sim->expected.admitted++;
        sim->expected.departed += !peer;
        sim->expected.takeovers += out->old != NULL;
        if (out->old)
            out->old->doom = MCPX_EREPLACED;
    }
}

/* The first that is written; or one that waits is refused, out of its turn. */
static void answer(struct sim *sim, const struct fake_held *held, bool is_turn)
{
    static const char *const fates[] = {"stored", "refused", "unknown"};
    struct outcome out = foresee(sim, held);
    struct fake_answer answer;

    sim->faults = sim->commit_faults && out.comes && held->submission->what == SUBMIT_MESSAGE;
    sim_fault_begin(sim);
    if (is_turn)
        fake_answer(&sim->store, sim->hub, sim->now, &answer);
    else
        fake_refuse(&sim->store, sim->hub, (size_t)(held - sim->store.waiting), sim->now,
                    &answer);
    sim_fault_end(sim);
    sim->faults = false;
    sim_say(sim, "answer: %s %s %s %s", answer.topic->name, answer.from, answer.id,
            fates[answer.fate]);
    if (answer.what == SUBMIT_MESSAGE)
        settle_message(sim, &out, answer.fate);
    else if (answer.what == SUBMIT_JOIN)
        settle_join(sim, &out);
    sim_sync(sim);
    if (out.joiner && sim_is_in(out.joiner) && dice_hits(&sim->dice, 6))
        sim_hold_back(sim, out.joiner);
}

void sim_store_answer(struct sim *sim, size_t count)
{
    while (count-- > 0 && sim->store.written_count > 0)
        answer(sim, &sim->store.written[0], true);
}

/* ---- what chance does ---- */

/* The order of commits is the order of the log, whatever was accepted first. */
static void swap_waiting(struct sim *sim)
{
    struct fake_held *waiting = sim->store.waiting;
    size_t one = dice_below(&sim->dice, sim->store.waiting_count);
    size_t other = dice_below(&sim->dice, sim->store.waiting_count);
    struct fake_held held = waiting[one];

    waiting[one] = waiting[other];
    waiting[other] = held;
}

void sim_store_write(struct sim *sim)
{
    size_t count = 1 + dice_below(&sim->dice, dice_hits(&sim->dice, 3) ? 20 : 3);
    size_t keep = sim->config.history_count;
    enum fate fate = FATE_STORED;

    if (sim->has_trouble && dice_hits(&sim->dice, 12))
        fate = dice_hits(&sim->dice, 4) ? FATE_UNKNOWN : FATE_REFUSED;
    if (sim->store.waiting_count > 1 && dice_hits(&sim->dice, 8))
        swap_waiting(sim);
    fake_write(&sim->store, count, fate);
    if (!dice_hits(&sim->dice, 20) || !keep || !sim->store.is_stored)
        return;
    for (size_t i = 0; i < FAKE_TOPICS; i++)
        fake_retain(&sim->store.topics[i], keep + keep / 4);
}

/* Of what was there before, participants remember; all else is what the store has. */
static void load_topic(struct sim *sim, struct sim_topic *topic,
                       const struct fake_topic *stored)
{
    topic->exists = true;
    topic->envelopes = stored->loaded_from - 1;
    for (int who = 0; who < SIM_WHO; who++)
        topic->read[who] -=
            topic->read[who] < topic->envelopes ? topic->read[who] : topic->envelopes;
    for (size_t serial = stored->loaded_from; serial <= stored->committed; serial++) {
        const struct fake_row *row = &stored->rows[serial - 1];
        struct sim_entry entry = {.len = row->len, .who = sim_who(row->from)};

        entry.text = memcpy(malloc(row->len), row->text, row->len);
        strcpy(entry.id, row->id);
        strcpy(entry.kind, row->kind);
        for (size_t i = 0; i < row->to_count; i++)
            entry.to |= 1U << sim_who(row->to[i]);
        entry.cost = sim_cost(sim, topic, &entry);
        sim_append(sim, topic, &entry);
    }
    topic->stands = topic->envelopes;
    topic->told = topic->count;
    sim_say(sim, "%s is loaded: %zu to %zu", topic->name, stored->loaded_from,
            stored->committed);
}

static void load_some(struct sim *sim, size_t index, size_t rows)
{
    struct fake_topic *stored = sim->store.loads[index].topic;
    struct sim_topic *topic = topic_of(sim, stored);

    if (stored->is_damaged) {
        sim_say(sim, "%s is damaged", topic->name);
        fake_refuse_load(&sim->store, sim->hub, index, sim->now);
    } else if (fake_load(&sim->store, sim->hub, index, rows, sim->now) && !topic->exists &&
               hub_topic_find(sim->hub, mcpx_slice_of(topic->name))) {
        load_topic(sim, topic, stored);
    }
    sim_sync(sim);
}

void sim_store_load(struct sim *sim)
{
    if (sim->store.load_count > 0)
        load_some(sim, dice_below(&sim->dice, sim->store.load_count),
                  dice_hits(&sim->dice, 2) ? SIZE_MAX : dice_below(&sim->dice, 10));
}

void sim_store_spoil(struct sim *sim)
{
    struct fake_store *store = &sim->store;

    if (!sim->has_trouble)
        return;
    if (dice_hits(&sim->dice, 4)) {
        struct fake_topic *topic = &store->topics[dice_below(&sim->dice, FAKE_TOPICS)];

        topic->is_damaged = !topic->is_damaged;
    } else if (store->load_count > 0 && dice_hits(&sim->dice, 2)) {
        sim_say(sim, "a load fails");
        fake_refuse_load(store, sim->hub, dice_below(&sim->dice, store->load_count), sim->now);
    } else if (store->waiting_count > 0) {
        answer(sim, &store->waiting[dice_below(&sim->dice, store->waiting_count)], false);
    }
}

void sim_store_all(struct sim *sim)
{
    sim_take_tasks(sim, SIZE_MAX);
    fake_write(&sim->store, SIZE_MAX, FATE_STORED);
    sim_store_answer(sim, SIZE_MAX);
    while (sim->store.load_count > 0)
        load_some(sim, 0, SIZE_MAX);
}
