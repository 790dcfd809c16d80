/*
 * sim_place.c - what a participant may rely on when it comes back: the place it remembers, whether
 * that is still good, and that nothing lies between it and where it goes on.
 */
#include "tests/support/sim_state.h"

#include <stdio.h>

/* The first envelope with this serial, or behind it. */
static size_t index_of(const struct sim_topic *topic, size_t serial)
{
    size_t at = 0;

    while (at < topic->count &&
           (topic->entries[at].presence || topic->entries[at].serial < serial))
        at++;
    return at;
}

/* Presence and positions tell where the topic stands. */
size_t sim_read_stand(struct sim *sim, const struct sim_topic *topic, const json_t *payload)
{
    const struct topic *real = hub_topic_find(sim->hub, mcpx_slice_of(topic->name));
    const json_t *place = json_object_get(payload, "topic");
    size_t serial = (size_t)json_integer_value(json_object_get(place, "serial"));

    sim_require(sim, strcmp(reader_string(place, "epoch"), real->epoch) == 0, "epoch %s",
                reader_string(place, "epoch"));
    sim_require(sim, serial == topic->envelopes, "%s stands at %zu, not at %zu", topic->name,
                topic->envelopes, serial);
    return serial;
}

/* Before what its readers were told last leaves the window, they are told again. */
void sim_check_stand(struct sim *sim, const struct sim_topic *topic)
{
    sim_require(sim,
                sim_count(sim, topic, false) == 0 || topic->vague ||
                    topic->stands >= sim_serial_at(topic, topic->history),
                "%s: told %zu, the window begins at %zu", topic->name, topic->stands,
                sim_serial_at(topic, topic->history));
}

void sim_note_place(const struct sim *sim, const struct sim_peer *peer,
                    const struct sim_entry *entry)
{
    struct reader_place *place = &peer->topic->places[peer->who];
    const struct topic *real = hub_topic_find(sim->hub, mcpx_slice_of(peer->topic->name));

    snprintf(place->after, sizeof place->after, "%s", entry->presence ? "" : entry->id);
    if (!entry->presence)
        return;
    strcpy(place->epoch, real->epoch);
    place->serial = entry->serial;
}

/* Everything up to it was handed over before this welcome, or is history; and nothing behind it. */
void sim_check_place(struct sim *sim, struct sim_peer *peer, const json_t *root)
{
    struct reader_place *place = &peer->topic->places[peer->who];
    size_t from, serial;

    sim_advance(peer);
    from = peer->next < peer->replay_end ? peer->replay_end : peer->next;
    reader_place_note(place, root);
    serial = (size_t)place->serial;
    for (size_t i = 0; i < peer->topic->count; i++) {
        const struct sim_entry *entry = &peer->topic->entries[i];

        if (!entry->presence && sim_wants(peer, i))
            sim_require(sim, (entry->serial < serial) == (i < from),
                        "p%d is told %zu, with #%zu to come", peer->who, serial, from);
    }
    from = index_of(peer->topic, serial); /* what it skips before that is not for it */
    if (peer->topic->read[peer->who] < from)
        peer->topic->read[peer->who] = from;
}

/* Whether a place is good, and the index where it goes on. */
bool sim_can_resume(const struct sim *sim, const struct sim_topic *topic,
                    const struct admission *admission, size_t *next)
{
    const struct topic *real = hub_topic_find(sim->hub, mcpx_slice_of(topic->name));
    size_t serial = (size_t)admission->serial, seen;

    if (!real || !mcpx_slice_equal(admission->epoch, mcpx_slice_of(real->epoch)) ||
        serial < sim_serial_at(topic, topic->history) || serial > topic->envelopes)
        return false;
    *next = index_of(topic, serial);
    if (!admission->after.text)
        return true;
    seen = sim_find(topic, admission->after.text);
    if (seen < *next || seen == topic->count)
        return false;
    *next = seen + 1;
    return true;
}

/* Never a silent hole: who named its own place misses nothing that it has not read. */
void sim_check_hole(struct sim *sim, struct sim_peer *peer)
{
    for (size_t i = peer->topic->read[peer->who]; i < peer->next; i++)
        sim_require(sim, peer->topic->entries[i].presence || !sim_wants(peer, i),
                    "%s: p%d resumes at #%zu and misses #%zu", peer->topic->name, peer->who,
                    peer->next, i);
}

static struct sim_note *first_welcome(struct sim_peer *peer)
{
    for (size_t i = 0; i < peer->note_count; i++)
        if (peer->notes[i].type == NOTE_WELCOME)
            return &peer->notes[i];
    return NULL;
}

/* It loses no more than what others need the memory of, and what has left the window with that. */
void sim_note_shorter(struct sim *sim, struct sim_peer *peer)
{
    const struct sim_topic *topic = peer->topic;
    struct sim_note *note = first_welcome(peer);
    size_t first = SIZE_MAX, last = 0, kept = 0;

    for (size_t i = peer->next; note && i < peer->joined; i++) {
        if (topic->entries[i].presence || !sim_wants(peer, i))
            continue;
        if (topic->entries[i].serial < peer->peer->cursor.next) {
            first = first == SIZE_MAX ? i : first;
            last = i;
        } else {
            kept++;
        }
    }
    if (first == SIZE_MAX)
        return;
    sim_say(sim, "    p%d does without #%zu to #%zu", peer->who, first, last);
    sim_require(sim, peer->stalled && sim_is_behind(sim, topic, first),
                "p%d loses history without reason", peer->who);
    sim_require(sim,
                sim_is_behind(sim, topic, last) ||
                    (note->resumed && (last < topic->history || kept == peer->wanted)),
                "p%d loses too much of history", peer->who);
    sim_require(sim, kept <= peer->wanted || !note->resumed, "p%d gets %zu envelopes",
                peer->who, kept);
    note->resumed = false;
    note->count = kept;
    peer->replay_end = peer->joined;
    peer->next = last + 1;
    sim->tally->shortened++;
}

bool sim_is_used(const struct sim_topic *topic, const char *id)
{
    size_t later[SIM_WHO] = {0};

    for (size_t i = topic->history; i > 0; i--) {
        const struct sim_entry *entry = &topic->entries[i - 1];

        if (entry->presence || later[entry->who]++ >= USED_IDS_MAX)
            continue;
        if (strcmp(entry->id, id) == 0)
            return true;
    }
    return false;
}
