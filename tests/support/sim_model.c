/*
 * sim_model.c - each topic's order as an array, with the retained window worked out the slow way.
 * New entries are read off log and presence after every call, because who is disconnected tells the
 * others; everything else is predicted, not read.
 */
#include "tests/support/frames.h"
#include "tests/support/sim_state.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* Presence may lag a quarter of what envelopes may. */
#define PRESENCE_BACKLOG(sim) (((sim)->config.backlog_bytes + 3) / 4)

/* ---- the retained window ---- */

static void forget_oldest(struct sim_topic *topic)
{
    const struct sim_entry *entry = &topic->entries[topic->history++];

    topic->retained -= !entry->presence;
    topic->retained_bytes -= entry->cost;
}

void sim_age(struct sim *sim, struct sim_topic *topic)
{
    int64_t age_ms = sim->config.history_age_ms;

    while (age_ms && topic->history < topic->count &&
           sim->now.wall_ms - topic->entries[topic->history].wall_ms > age_ms)
        forget_oldest(topic);
}

void sim_append(struct sim *sim, struct sim_topic *topic, const struct sim_entry *entry)
{
    struct sim_entry *last;

    if (topic->count == topic->size) {
        topic->size = topic->size ? topic->size * 2 : 64;
        topic->entries = realloc(topic->entries, topic->size * sizeof *topic->entries);
    }
    last = &topic->entries[topic->count];
    *last = *entry;
    last->wall_ms = sim->now.wall_ms;
    last->serial = topic->envelopes;
    last->before = topic->count ? last[-1].before + last[-1].cost : 0;
    topic->count++;
    topic->envelopes += !entry->presence;
    topic->presence += entry->presence;
    topic->retained += !entry->presence;
    topic->retained_bytes += entry->cost;
    if (entry->presence)
        return;
    sim_age(sim, topic);
    while (topic->history < topic->count &&
           (topic->retained_bytes > sim->config.history_bytes ||
            (sim->config.history_count && topic->retained > sim->config.history_count)))
        forget_oldest(topic);
}

/* Envelopes before this index. */
size_t sim_serial_at(const struct sim_topic *topic, size_t index)
{
    return index < topic->count ? topic->entries[index].serial : topic->envelopes;
}

size_t sim_find(const struct sim_topic *topic, const char *id)
{
    for (size_t i = topic->count; i > topic->history; i--)
        if (!topic->entries[i - 1].presence && strcmp(topic->entries[i - 1].id, id) == 0)
            return i - 1;
    return topic->count;
}

const struct sim_entry *sim_accepted(const struct sim_topic *topic, const char *id)
{
    size_t at = sim_find(topic, id);

    if (at < topic->count)
        return &topic->entries[at];
    for (size_t i = 0; i < topic->pending_count; i++)
        if (strcmp(topic->pending[i].id, id) == 0)
            return &topic->pending[i];
    return NULL;
}

/* What the log remembers beside strings: three lengths, and who sits where if that matters. */
size_t sim_cost(const struct sim *sim, const struct sim_topic *topic,
                const struct sim_entry *entry)
{
    const struct topic *real = hub_topic_find(sim->hub, mcpx_slice_of(topic->name));
    size_t cost = mx_frame_head_len(entry->len) + entry->len + 3 * sizeof(uint16_t) +
                  (entry->to && real->directed ? real->seats / 8 + 1 : 0) + strlen(entry->id) +
                  strlen(entry->kind);

    for (int who = 0; who <= SIM_WHO; who++)
        if (entry->to & 1U << who)
            cost += 2 + strlen(sim_id(who));
    return cost;
}

/* Participants remember; while it is not there, how much of it they have read is a serial. */
void sim_topic_clear(struct sim_topic *topic)
{
    struct sim_topic empty = {0};

    memcpy(empty.name, topic->name, sizeof empty.name);
    memcpy(empty.places, topic->places, sizeof empty.places);
    for (int who = 0; who < SIM_WHO; who++)
        empty.read[who] =
            topic->exists ? sim_serial_at(topic, topic->read[who]) : topic->read[who];
    for (size_t i = 0; i < topic->count; i++)
        free(topic->entries[i].text);
    for (size_t i = 0; i < topic->pending_count; i++)
        free(topic->pending[i].text);
    free(topic->pending);
    free(topic->entries);
    free(topic->charges);
    *topic = empty;
}

/* ---- who is there ---- */

struct sim_peer *sim_present(struct sim *sim, const struct sim_topic *topic, int who)
{
    for (size_t i = 0; i < SIM_PEERS; i++) {
        struct sim_peer *peer = &sim->peers[i];

        if (sim_is_in(peer) && peer->topic == topic && peer->who == who)
            return peer;
    }
    return NULL;
}

size_t sim_count(const struct sim *sim, const struct sim_topic *topic, bool all)
{
    size_t count = 0;

    for (size_t i = 0; i < SIM_PEERS; i++) {
        const struct sim_peer *peer = &sim->peers[i];

        if (peer->peer && (all || sim_is_in(peer)) && (!topic || peer->topic == topic))
            count++;
    }
    return count;
}

struct sim_peer *sim_pick(struct sim *sim)
{
    size_t first = dice_below(&sim->dice, SIM_PEERS);

    for (size_t i = 0; i < SIM_PEERS; i++) {
        struct sim_peer *peer = &sim->peers[(first + i) % SIM_PEERS];

        if (peer->peer)
            return peer;
    }
    return &sim->peers[first];
}

bool sim_wants(const struct sim_peer *peer, size_t index)
{
    const struct sim_entry *entry = &peer->topic->entries[index];

    if (entry->presence)
        return index == peer->joined || index >= peer->heard_from;
    return !peer->directed || entry->to == 0 || (entry->to & 1U << peer->who);
}

/* ---- what was appended ---- */

void sim_note_update(struct sim *sim, struct sim_peer *peer)
{
    struct sim_note note = {.type = NOTE_UPDATE};

    sim_capabilities(sim, peer);
    if (!peer->is_owed_welcome)
        sim_expect(peer, &note);
    peer->is_owed_welcome = true;
    peer->update_due = false;
    peer->expiry_told = sim->now.wall_ms >= peer->grant_expires_ms;
}

static void follow_roster(struct sim *sim, struct sim_topic *topic, const json_t *payload)
{
    const char *event = reader_string(payload, "event");
    int who = sim_who(reader_string(json_object_get(payload, "participant"), "id"));
    unsigned bit = 1U << who;
    bool was_there = topic->roster & bit;

    sim_say(sim, "    %s: %s p%d %s", topic->name, event, who,
            reader_string(payload, "reason"));
    if (strcmp(event, "join") == 0) {
        bool takes_over = strcmp(reader_string(payload, "reason"), "takeover") == 0;

        sim_require(sim, was_there == takes_over || topic->vague, "join of p%d", who);
        topic->roster |= bit;
    } else if (strcmp(event, "leave") == 0) {
        /* Who joined when the topic was lost has joined for those who store, and nobody else. */
        sim_require(sim, was_there || topic->lost, "leave of p%d, who was not there", who);
        topic->roster &= ~bit;
    } else {
        struct sim_peer *peer = sim_present(sim, topic, who);

        sim_require(sim, strcmp(event, "update") == 0 && was_there && peer, "presence %s",
                    event);
        if (!sim->config.needs_commit) /* else it was told at once */
            sim_note_update(sim, peer);
    }
}

static struct sim_entry read_presence(struct sim *sim, struct sim_topic *topic,
                                      struct mcpx_slice text)
{
    json_t *root = json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *payload = json_object_get(root, "payload");
    struct sim_entry entry = {.len = text.len, .presence = true};
    bool is_position = strcmp(reader_string(root, "kind"), "system/position") == 0;

    sim_require(sim,
                is_position || strcmp(reader_string(root, "kind"), "system/presence") == 0,
                "%s: told %.*s", topic->name, (int)text.len, text.text);
    snprintf(entry.id, sizeof entry.id, "%s", reader_string(root, "id"));
    entry.text = malloc(text.len);
    memcpy(entry.text, text.text, text.len);
    topic->stands = sim_read_stand(sim, topic, payload);
    sim->tally->positions += is_position;
    if (is_position)
        sim_say(sim, "    %s: position %zu", topic->name, topic->stands);
    else
        follow_roster(sim, topic, payload);
    json_decref(root);
    return entry;
}

/* Reads what was added to the presence in the call under way: it is in the open batch. */
static void take_presence(struct sim *sim, struct sim_topic *topic, const struct topic *real)
{
    const struct presence *presence = &real->presence;
    const struct presence_batch *open = presence->open;
    struct mcpx_slice stream = open ? mcpx_text_view(&open->frames) : (struct mcpx_slice){0};
    size_t old = (size_t)(open ? open->first : presence->added);
    bool grew = presence->added > topic->presence;
    struct frame_view frame;

    sim_require(sim, old <= topic->presence, "%s: presence was dropped unseen", topic->name);
    for (; frame_cut(&stream, &frame); old++) {
        struct sim_entry entry;

        if (old < topic->presence)
            continue;
        entry = read_presence(sim, topic, frame.payload);
        sim_append(sim, topic, &entry);
    }
    sim_require(sim, topic->presence == presence->added, "%s: %zu presences", topic->name,
                topic->presence);
    topic->told = topic->count - (size_t)(open ? presence->added - open->first : 0);
    sim_require(
        sim,
        !open || (open->at == topic->envelopes && real->publish_ms <= sim->now.mono_ms + 50),
        "%s: presence waits too long", topic->name);
    sim_require(
        sim,
        !grew || !presence_overdue(&((struct topic *)real)->presence, PRESENCE_BACKLOG(sim)) ||
            hub_is_pressed(sim->hub),
        "%s holds %zu bytes of presence", topic->name, presence->memory);
}

/* `from` is NULL when it went with the only readers it had: then nobody can tell. */
static struct sim_entry take_pending(struct sim *sim, const struct entry *from)
{
    struct mcpx_slice text = from ? entry_text(from) : (struct mcpx_slice){0};
    struct sim_entry entry = sim->pending_entry;

    sim_require(sim,
                !from || (text.len == sim->pending_len &&
                          memcmp(text.text, sim->pending, text.len) == 0),
                "appended %.*s\nexpected %.*s", (int)text.len, text.text,
                (int)sim->pending_len, sim->pending);
    entry.text = sim->pending;
    entry.len = sim->pending_len;
    sim->pending = NULL;
    return entry;
}

/*
 * The memory a log may hold: what is retained or still to be read, and slack for segments; and
 * beyond what is retained only a backlog, unless readers wait for their turn and the edge knows.
 */
static void check_memory(struct sim *sim, const struct sim_topic *topic, const struct log *log)
{
    size_t bounds = sim->config.history_bytes / 8 + sim->config.backlog_bytes / 8;
    size_t segment = bounds < 4096 ? 4096 : bounds > 262144 ? 262144 : bounds;
    size_t end =
        topic->entries[topic->count - 1].before + topic->entries[topic->count - 1].cost;
    size_t from = topic->history, retained, needed;

    for (size_t i = 0; i < topic->count; i++)
        if (topic->entries[i].serial >= log->tail && topic->entries[i].cost > segment)
            segment = topic->entries[i].cost;
    segment += sizeof(struct segment);
    retained = from < topic->count ? end - topic->entries[from].before : 0;
    for (size_t i = 0; i < SIM_PEERS; i++) {
        const struct sim_peer *peer = &sim->peers[i];

        if (sim_is_in(peer) && peer->topic == topic && peer->next < from)
            from = peer->next;
    }
    needed = from < topic->count ? end - topic->entries[from].before : 0;
    sim_require(sim, log->memory <= 2 * needed + 4 * segment, "%s holds %zu bytes for %zu",
                topic->name, log->memory, needed);
    if (sim->config.backlog_bytes && !hub_is_pressed(sim->hub))
        sim_require(sim, log->memory <= sim->config.backlog_bytes + 2 * retained + 3 * segment,
                    "%s holds %zu bytes, beyond the backlog", topic->name, log->memory);
}

/* What was said comes before what is told in the same call: only who falls off is told then. */
static void absorb(struct sim *sim, struct sim_topic *topic)
{
    const struct topic *real = hub_topic_find(sim->hub, mcpx_slice_of(topic->name));
    const struct log *log;

    if (sim->config.needs_commit && topic->exists && !real) /* it was idle, or lost */
        sim_topic_clear(topic);
    sim_require(sim, topic->exists == (real != NULL), "%s exists: %d", topic->name,
                real != NULL);
    if (!real)
        return;
    log = &real->log;
    topic->base = topic->count;
    if (log->head > topic->envelopes) {
        const struct entry *from =
            topic->envelopes < log->tail ? NULL : log_entry(log, topic->envelopes);
        struct sim_entry entry;

        sim_require(sim,
                    log->head == topic->envelopes + 1 && sim->pending &&
                        sim->pending_topic == topic,
                    "%s: nobody said that", topic->name);
        entry = take_pending(sim, from);
        sim_append(sim, topic, &entry);
        check_memory(sim, topic, log);
    }
    take_presence(sim, topic, real);
    sim_require(sim, log->history == sim_serial_at(topic, topic->history),
                "%s: window begins at %zu, expected %zu", topic->name, (size_t)log->history,
                sim_serial_at(topic, topic->history));
}

/* ---- who was disconnected ---- */

bool sim_is_behind(const struct sim *sim, const struct sim_topic *topic, size_t index)
{
    const struct topic *real = hub_topic_find(sim->hub, mcpx_slice_of(topic->name));
    const struct sim_entry *next = &topic->entries[index], *last;

    if (next->serial >= real->log.tail && !hub_is_pressed(sim->hub))
        return false;
    last = &topic->entries[topic->count - 1];
    return 2 * (last->before + last->cost - next->before) +
               sizeof(struct segment) * (topic->envelopes - next->serial) >
           sim->config.backlog_bytes;
}

static bool is_behind_presence(const struct sim *sim, const struct sim_peer *peer)
{
    const struct sim_topic *topic = peer->topic;
    size_t bytes = 0;

    for (size_t i = peer->next; i < topic->count; i++)
        if (topic->entries[i].presence && i >= peer->heard_from)
            bytes += 2 * topic->entries[i].len + 256 + sizeof(struct presence_batch);
    return bytes > PRESENCE_BACKLOG(sim);
}

/*
 * Who falls off does not take bytes, has more than a backlog to read, and loses something, unless
 * others who wait for their turn hold on to the same memory.
 */
static bool is_slow(const struct sim *sim, const struct sim_peer *peer)
{
    if (!sim->config.backlog_bytes || !peer->stalled || peer->held_back ||
        peer->next >= peer->topic->base)
        return false;
    return sim_is_behind(sim, peer->topic, peer->next) || is_behind_presence(sim, peer);
}

/* Nobody is disconnected but for a good reason. */
static bool is_just(const struct sim *sim, const struct sim_peer *peer)
{
    switch (peer->why) {
    case MCPX_ESLOW:
        return is_slow(sim, peer);
    case MCPX_ETIMEOUT:
        return sim->config.ping_ms &&
               sim->now.mono_ms - peer->heard_ms >= 3 * sim->config.ping_ms;
    case MCPX_EFLOOD:
        return sim_charged(sim, peer, CHARGE_REFUSAL) >= SIM_REFUSALS ||
               peer->peer->answers > 16384;
    case MCPX_ENOMEM:
        return sim->fault_fired;
    default:
        return peer->why == peer->doom;
    }
}

/* A welcome is composed when it is read: who is on the way out reads none. */
static void forget_welcome(struct sim_peer *peer)
{
    size_t kept = 0;

    for (size_t i = 0; i < peer->note_count; i++)
        if (peer->notes[i].type != NOTE_WELCOME && peer->notes[i].type != NOTE_UPDATE)
            peer->notes[kept++] = peer->notes[i];
    peer->note_count = kept;
    peer->is_owed_welcome = false;
}

static void note_disconnected(struct sim *sim, struct sim_peer *peer)
{
    struct sim_note note = {.type = NOTE_ERROR, .err = MCPX_ESLOW};

    peer->disconnected = true;
    peer->why = peer_close_err(peer->peer);
    peer->lossy |= sim->fault_fired;
    sim_say(sim, "    %s: p%d is disconnected: %s", peer->topic->name, peer->who,
            mcpx_strerror(peer->why));
    sim_advance(peer);
    sim_require(sim, is_just(sim, peer), "p%d was disconnected without reason: %s", peer->who,
                mcpx_strerror(peer->why));
    forget_welcome(peer);
    sim->expected.closed[peer->why]++;
    sim->expected.slow += peer->why == MCPX_ESLOW;
    sim->tally->slow += peer->why == MCPX_ESLOW;
    sim->tally->timeouts += peer->why == MCPX_ETIMEOUT;
    sim->tally->expired += peer->why == MCPX_EEXPIRED;
    sim->tally->floods += peer->why == MCPX_EFLOOD;
    if (peer->why == MCPX_ESLOW)
        sim_expect(peer, &note);
    note = (struct sim_note){.type = NOTE_CLOSE, .err = peer->why};
    sim_expect(peer, &note);
}

void sim_check_roster(struct sim *sim, struct sim_topic *topic)
{
    unsigned there = 0;

    for (int who = 0; who < SIM_WHO; who++)
        there |= sim_present(sim, topic, who) ? 1U << who : 0;
    sim_require(sim, topic->roster == there || (topic->vague && !(there & ~topic->roster)),
                "%s: presence says %x, there are %x", topic->name, topic->roster, there);
}

void sim_sync(struct sim *sim)
{
    for (size_t i = 0; i < SIM_TOPICS; i++) {
        if (sim->ticked)
            sim_age(sim, &sim->topics[i]);
        absorb(sim, &sim->topics[i]);
    }
    sim->ticked = false;
    for (size_t i = 0; i < SIM_PEERS; i++) {
        struct sim_peer *peer = &sim->peers[i];

        if (!peer->peer)
            continue;
        sim_note_shorter(sim, peer);
        if (!peer->disconnected && peer_is_disconnected(peer->peer))
            note_disconnected(sim, peer);
        sim_require(sim, !peer->doom || peer->disconnected,
                    "p%d is still connected in spite of: %s", peer->who,
                    mcpx_strerror(peer->doom));
        peer->doom = MCPX_OK;
    }
    for (size_t i = 0; i < SIM_TOPICS; i++) {
        struct sim_topic *topic = &sim->topics[i];

        topic->vague |= topic->exists && sim->fault_fired;
        if (topic->exists && !sim->config.needs_commit) /* else a leave may be pending */
            sim_check_roster(sim, topic);
        if (topic->exists)
            sim_check_stand(sim, topic);
        if (topic->exists && topic->empty_ms < 0 && sim_count(sim, topic, false) == 0)
            topic->empty_ms = sim->now.mono_ms;
    }
    sim_require(sim, !sim->pending, "what was accepted was not appended");
}
