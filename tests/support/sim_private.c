/*
 * sim_private.c - what the router says to one participant alone, compared with what it had to say:
 * one note each, in order. A peer that lost frames to a failed allocation may lack notes, but has
 * to be on its way out.
 */
#include "tests/support/sim_state.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static struct sim_note take_note(struct sim *sim, struct sim_peer *peer, const char *kind)
{
    struct sim_note note;

    sim_require(sim, peer->note_count > 0, "p%d got a %s nobody owes it", peer->who, kind);
    note = peer->notes[0];
    memmove(peer->notes, peer->notes + 1, --peer->note_count * sizeof *peer->notes);
    return note;
}

static void check_error(struct sim *sim, struct sim_peer *peer, const json_t *root,
                        const struct sim_note *note)
{
    const json_t *payload = json_object_get(root, "payload");

    sim_say(sim, "    p%d < error %s for %s", peer->who, reader_string(payload, "error"),
            reader_string(root, "correlation_id"));
    sim_require(sim, note->type == NOTE_ERROR, "p%d: unexpected error", peer->who);
    sim_require(sim, strcmp(reader_string(payload, "error"), mcpx_error_wire(note->err)) == 0,
                "error %s, expected %s", reader_string(payload, "error"),
                mcpx_error_wire(note->err));
    sim_require(sim, strcmp(reader_string(root, "correlation_id"), note->id) == 0,
                "correlation %s, expected %s", reader_string(root, "correlation_id"),
                note->id);
    sim_require(sim, *reader_string(payload, "message"), "no message");
    if (note->err == MCPX_ECAPABILITY)
        sim_require(sim, strcmp(reader_string(payload, "attempted_kind"), note->kind) == 0,
                    "attempted %s, expected %s", reader_string(payload, "attempted_kind"),
                    note->kind);
    if (note->err == MCPX_ERATE || note->err == MCPX_EUNAVAILABLE)
        sim_require(sim,
                    json_integer_value(json_object_get(payload, "retry_after_ms")) > 0 &&
                        json_integer_value(json_object_get(payload, "retry_after_ms")) <=
                            60000,
                    "no time to retry after");
    if (note->err == MCPX_EUNAVAILABLE)
        sim_require(sim,
                    strcmp(reader_string(payload, "outcome"),
                           note->is_unknown ? "unknown" : "refused") == 0,
                    "outcome of %s is %s", note->id, reader_string(payload, "outcome"));
    if (note->err == MCPX_ESLOW)
        sim_require(sim, json_integer_value(json_object_get(payload, "missed")) > 0,
                    "slow but nothing missed");
}

static void check_capabilities(struct sim *sim, const json_t *you, const char *expected)
{
    char found[200] = "";
    size_t len = 0, index;
    json_t *value;

    json_array_foreach(json_object_get(you, "capabilities"), index, value) len +=
        (size_t)snprintf(found + len, sizeof found - len, "%s%s", index ? " " : "",
                         json_string_value(value));
    sim_require(sim, strcmp(found, expected) == 0, "capabilities %s, expected %s", found,
                expected);
}

static unsigned others_in(struct sim *sim, const json_t *payload)
{
    unsigned others = 0;
    size_t index;
    json_t *value;

    json_array_foreach(json_object_get(payload, "participants"), index, value)
    {
        unsigned bit = 1U << sim_who(reader_string(value, "id"));

        sim_require(sim, bit > others, "participants are not sorted");
        others |= bit;
    }
    return others;
}

/* Everybody who is there now: presence tells what changes from here on. */
static unsigned others_of(struct sim *sim, const struct sim_peer *peer)
{
    unsigned others = 0;

    for (int who = 0; who < SIM_WHO; who++)
        if (who != peer->who && sim_present(sim, peer->topic, who))
            others |= 1U << who;
    return others;
}

/* The newest envelope before its live traffic, if it is still retained. */
static const char *head_of(const struct sim_peer *peer)
{
    const struct sim_topic *topic = peer->topic;

    for (size_t i = peer->joined; i > topic->history; i--)
        if (!topic->entries[i - 1].presence)
            return topic->entries[i - 1].id;
    return "";
}

static void check_welcome(struct sim *sim, struct sim_peer *peer, const json_t *root,
                          const struct sim_note *note)
{
    const json_t *payload = json_object_get(root, "payload");
    const json_t *you = json_object_get(payload, "you");
    bool is_first = json_object_get(payload, "resumed") != NULL;

    sim_say(sim, "    p%d < welcome", peer->who);
    sim_require(sim, note->type == (is_first ? NOTE_WELCOME : NOTE_UPDATE),
                "p%d: welcome of the wrong sort", peer->who);
    sim_require(sim, sim_who(reader_string(you, "id")) == peer->who, "welcome for another");
    check_capabilities(sim, you, peer->capabilities);
    peer->is_owed_welcome = false;
    sim_require(sim, others_in(sim, payload) == others_of(sim, peer),
                "p%d: others are %x, not %x", peer->who, others_of(sim, peer),
                others_in(sim, payload));
    if (is_first && !note->resumed) /* what was there before is history */
        peer->topic->read[peer->who] = peer->joined;
    sim_check_place(sim, peer, root);
    if (!is_first)
        return;
    sim->expected.resumed += note->resumed;
    sim->tally->resumed += note->resumed;
    peer->heard_from = peer->topic->count;
    sim_require(
        sim,
        strcmp(reader_string(json_object_get(payload, "topic"), "head"), head_of(peer)) == 0,
        "head is %s, expected %s", reader_string(json_object_get(payload, "topic"), "head"),
        head_of(peer));
    sim_require(sim, json_is_true(json_object_get(payload, "resumed")) == note->resumed,
                "resumed is not %d", note->resumed);
    sim_require(sim,
                (size_t)json_integer_value(json_object_get(json_object_get(payload, "history"),
                                                           "count")) == note->count,
                "history count is not %zu", note->count);
}

void sim_read_private(struct sim *sim, struct sim_peer *peer, struct mcpx_slice text)
{
    json_t *root = json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *to = json_object_get(root, "to");
    const char *kind = reader_string(root, "kind");
    struct sim_note note;

    sim_require(sim, root && json_array_size(to) == 1, "private: %.*s", (int)text.len,
                text.text);
    sim_require(sim, sim_who(json_string_value(json_array_get(to, 0))) == peer->who,
                "p%d got what is for %s", peer->who, json_string_value(json_array_get(to, 0)));
    if (peer->lossy) {
        json_decref(root);
        return;
    }
    note = take_note(sim, peer, kind);
    if (strcmp(kind, "system/error") == 0)
        check_error(sim, peer, root, &note);
    else if (strcmp(kind, "system/welcome") == 0)
        check_welcome(sim, peer, root, &note);
    else
        sim_require(sim, false, "private frame of kind %s", kind);
    json_decref(root);
}

void sim_read_close(struct sim *sim, struct sim_peer *peer, int code)
{
    struct sim_note note = {.type = NOTE_CLOSE, .err = peer->why};

    sim_say(sim, "    p%d < close %d", peer->who, code);
    if (!peer->lossy)
        note = take_note(sim, peer, "close frame");
    sim_require(sim, note.type == NOTE_CLOSE && peer->disconnected, "close too early");
    sim_require(sim, code == mcpx_error_close(note.err), "close %d for %s", code,
                mcpx_strerror(note.err));
    sim_require(sim, peer->note_count == 0 || peer->lossy, "closed before all was said");
    peer->closed = true;
}
