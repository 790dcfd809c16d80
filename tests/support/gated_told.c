/*
 * gated_told.c - the router's own words: the place in a welcome and whether it goes on, presence at
 * the place where it happened, each error once to whom it is owed, and how a connection ends.
 */
#include "tests/support/gated_state.h"

#include <stdio.h>
#include <stdlib.h>

static struct memory *memory_of(const struct gated *sim, struct visitor *visitor)
{
    return &visitor->memories[gated_topic_number(sim, visitor->topic)];
}

/* ---- who is there ---- */

static size_t seat_of(const struct visitor *visitor, const char *id)
{
    size_t seat = 0;

    while (seat < visitor->roster_count && strcmp(visitor->roster[seat], id) != 0)
        seat++;
    return seat;
}

static void follow_roster(struct gated *sim, struct visitor *visitor, const json_t *payload)
{
    const char *event = reader_string(payload, "event");
    const char *id = reader_string(json_object_get(payload, "participant"), "id");
    bool takes_over = strcmp(reader_string(payload, "reason"), "takeover") == 0;
    size_t seat = seat_of(visitor, id);
    bool is_there = seat < visitor->roster_count;

    if (strcmp(event, "join") == 0) {
        gated_require(sim, !is_there || takes_over || strcmp(id, visitor->id) == 0,
                      "v%d hears that %s joins", visitor->number, id);
        if (!is_there)
            snprintf(visitor->roster[visitor->roster_count++], FAKE_ID, "%s", id);
        return;
    }
    gated_require(sim, is_there || strcmp(event, "leave") == 0,
                  "v%d hears %s of %s, who is not there", visitor->number, event, id);
    if (!is_there)
        return;
    if (strcmp(event, "leave") == 0)
        memmove(visitor->roster[seat], visitor->roster[--visitor->roster_count], FAKE_ID);
}

/* ---- presence ---- */

/* Whatever is for the reader up to there was handed over; nothing behind it. */
static void check_place(struct gated *sim, struct visitor *visitor, const json_t *payload)
{
    const json_t *place = json_object_get(payload, "topic");
    size_t serial = (size_t)json_integer_value(json_object_get(place, "serial"));

    gated_require(sim, strcmp(reader_string(place, "epoch"), visitor->topic->epoch) == 0,
                  "v%d: another epoch: %s", visitor->number, reader_string(place, "epoch"));
    gated_require(sim,
                  serial <= visitor->topic->committed && serial + 1 >= visitor->next &&
                      gated_next_wanted(visitor, visitor->next) > serial,
                  "v%d is told to be at %zu, and is at %zu", visitor->number, serial,
                  visitor->next);
}

static void hear_presence(struct gated *sim, struct visitor *visitor, const json_t *envelope)
{
    const json_t *payload = json_object_get(envelope, "payload");
    bool is_own =
        !visitor->is_announced && strcmp(reader_string(payload, "event"), "join") == 0 &&
        strcmp(reader_string(json_object_get(payload, "participant"), "id"), visitor->id) == 0;

    gated_say(
        sim, "    v%d < %s %s %s at %d", visitor->number, reader_string(payload, "event"),
        reader_string(json_object_get(payload, "participant"), "id"),
        reader_string(payload, "reason"),
        (int)json_integer_value(json_object_get(json_object_get(payload, "topic"), "serial")));
    gated_require(sim, visitor->greeted && visitor->replays == 0, "presence too early");
    gated_require(sim, visitor->is_announced || is_own, "v%d: no join of its own comes first",
                  visitor->number);
    check_place(sim, visitor, payload);
    if (is_own)
        gated_require(sim,
                      (size_t)json_integer_value(json_object_get(
                          json_object_get(payload, "topic"), "serial")) == visitor->joined_at,
                      "v%d joined at %zu", visitor->number, visitor->joined_at);
    visitor->is_announced = true;
    if (strcmp(reader_string(envelope, "kind"), "system/presence") == 0)
        follow_roster(sim, visitor, payload);
    reader_place_note(&memory_of(sim, visitor)->place, envelope);
}

/* ---- welcome ---- */

/* The serial behind which a place goes on, when it is good; SIZE_MAX when not. */
static size_t resume_at(const struct gated *sim, const struct visitor *visitor)
{
    const struct fake_topic *topic = visitor->topic;
    const struct reader_place *asked = &visitor->asked;
    size_t oldest = gated_oldest(sim, topic, visitor->joined_at), seen;

    if (!*asked->epoch || strcmp(asked->epoch, topic->epoch) != 0 ||
        asked->serial + 1 < oldest || asked->serial > visitor->joined_at)
        return SIZE_MAX;
    if (!*asked->after)
        return (size_t)asked->serial;
    seen = gated_find(topic, asked->after);
    return seen > asked->serial && seen <= visitor->joined_at ? seen : SIZE_MAX;
}

static void check_resumed(struct gated *sim, struct visitor *visitor, size_t at)
{
    const struct memory *memory = memory_of(sim, visitor);

    visitor->next = memory->next;
    gated_require(sim, strcmp(memory->epoch, visitor->topic->epoch) == 0, "a false resume");
    gated_require(sim, at + 1 >= memory->next, "v%d hears #%zu again", visitor->number,
                  at + 1);
    gated_require(sim, gated_next_wanted(visitor, memory->next) > at, "v%d never hears #%zu",
                  visitor->number, gated_next_wanted(visitor, memory->next));
    visitor->next = at + 1;
    sim->tally->resumed++;
}

/* History: the newest that are for the reader, as many as it wants and are retained. */
static size_t plan_history(const struct gated *sim, struct visitor *visitor)
{
    size_t oldest = gated_oldest(sim, visitor->topic, visitor->joined_at);
    size_t wanted =
        visitor->admission.has_history ? visitor->admission.history : sim->config.replay;
    size_t count = 0;

    visitor->replay = visitor->next = visitor->joined_at + 1;
    for (size_t serial = visitor->joined_at; serial >= oldest && count < wanted; serial--) {
        if (!gated_wants(visitor, serial))
            continue;
        visitor->replay = serial;
        count++;
    }
    return count;
}

/* Memory that others need is taken from what came before the join: from who was not reading. */
static bool may_lack(const struct gated *sim, const struct visitor *visitor)
{
    return sim->config.backlog_bytes < 100000 && visitor->was_stalled;
}

static void check_history_count(struct gated *sim, struct visitor *visitor,
                                const json_t *payload)
{
    size_t told = (size_t)json_integer_value(
        json_object_get(json_object_get(payload, "history"), "count"));
    size_t count = plan_history(sim, visitor);

    gated_require(sim, told == count || (told < count && may_lack(sim, visitor)),
                  "v%d is told of %zu envelopes, not %zu", visitor->number, told, count);
    for (; count > told; count--)
        visitor->replay = gated_next_wanted(visitor, visitor->replay) + 1;
    visitor->replays = told;
    sim->tally->anew++;
}

static void be_greeted(struct gated *sim, struct visitor *visitor, const json_t *payload)
{
    bool resumed = json_is_true(json_object_get(payload, "resumed"));
    struct memory *memory = memory_of(sim, visitor);
    size_t at = resume_at(sim, visitor);

    gated_require(sim, visitor->joined, "v%d is welcome before its join is stored",
                  visitor->number);
    gated_require(sim, resumed == (at != SIZE_MAX) || (!resumed && may_lack(sim, visitor)),
                  "v%d resumes: %d, and could at %d", visitor->number, resumed, (int)at);
    if (resumed)
        check_resumed(sim, visitor, at);
    else
        check_history_count(sim, visitor, payload);
    visitor->greeted = true;
    strcpy(memory->epoch, visitor->topic->epoch);
    memory->next = visitor->next;
}

/* A later welcome says what is so; presence of the time before it is still told. */
static void read_roster(struct visitor *visitor, const json_t *payload)
{
    const json_t *other;
    size_t index;

    visitor->roster_count = 0;
    json_array_foreach(json_object_get(payload, "participants"), index, other) snprintf(
        visitor->roster[visitor->roster_count++], FAKE_ID, "%s", reader_string(other, "id"));
    snprintf(visitor->roster[visitor->roster_count++], FAKE_ID, "%s", visitor->id);
}

static void hear_welcome(struct gated *sim, struct visitor *visitor, const json_t *envelope)
{
    const json_t *payload = json_object_get(envelope, "payload");
    bool is_first = json_object_get(payload, "resumed") != NULL;

    gated_say(sim, "    v%d < welcome", visitor->number);
    gated_require(sim, is_first == !visitor->greeted, "v%d: a welcome of the wrong sort",
                  visitor->number);
    gated_require(
        sim, strcmp(reader_string(json_object_get(payload, "you"), "id"), visitor->id) == 0,
        "v%d is welcome as another", visitor->number);
    if (is_first) {
        be_greeted(sim, visitor, payload);
        read_roster(visitor, payload);
    }
    check_place(sim, visitor, payload);
    reader_place_note(&memory_of(sim, visitor)->place, envelope);
}

/* ---- errors and ends ---- */

static void hear_error(struct gated *sim, struct visitor *visitor, const json_t *envelope)
{
    const json_t *payload = json_object_get(envelope, "payload");
    const char *error = reader_string(payload, "error");
    struct owed owed = visitor->owed[0];

    gated_say(sim, "    v%d < error %s for %s (%s)", visitor->number, error,
              reader_string(envelope, "correlation_id"), reader_string(payload, "outcome"));
    if (strcmp(error, mcpx_error_wire(MCPX_ESLOW)) == 0)
        return; /* what is allowed of it shows at the close frame */
    gated_require(sim, visitor->owed_count > 0, "v%d gets an error that nobody owes",
                  visitor->number);
    memmove(visitor->owed, visitor->owed + 1, --visitor->owed_count * sizeof *visitor->owed);
    gated_require(sim,
                  strcmp(error, mcpx_error_wire(owed.err)) == 0 &&
                      strcmp(reader_string(envelope, "correlation_id"), owed.id) == 0,
                  "v%d: error, expected %s for %s", visitor->number, mcpx_error_wire(owed.err),
                  owed.id);
    if (owed.err != MCPX_EUNAVAILABLE)
        return;
    gated_require(sim,
                  strcmp(reader_string(payload, "outcome"),
                         owed.is_certain ? "refused" : "unknown") == 0,
                  "outcome of %s is %s", owed.id, reader_string(payload, "outcome"));
    gated_require(sim, json_integer_value(json_object_get(payload, "retry_after_ms")) > 0,
                  "nobody knows when to try %s again", owed.id);
}

void gated_told(struct gated *sim, struct visitor *visitor, const json_t *envelope)
{
    const char *kind = reader_string(envelope, "kind");

    if (strcmp(kind, "system/welcome") == 0)
        hear_welcome(sim, visitor, envelope);
    else if (strcmp(kind, "system/error") == 0)
        hear_error(sim, visitor, envelope);
    else if (strcmp(kind, "system/presence") == 0 || strcmp(kind, "system/position") == 0)
        hear_presence(sim, visitor, envelope);
    else
        gated_require(sim, false, "v%d is told %s", visitor->number, kind);
}

void gated_told_close(struct gated *sim, struct visitor *visitor, int code)
{
    bool is_meant = false;

    gated_say(sim, "    v%d < close %d", visitor->number, code);
    for (size_t i = 0; i < visitor->code_count; i++)
        is_meant |= visitor->codes[i] == code;
    if (code == mcpx_error_close(MCPX_ESLOW)) {
        is_meant = sim->config.backlog_bytes < 100000 && visitor->was_stalled;
        sim->tally->slow++;
    }
    gated_require(sim, is_meant, "v%d is told %d", visitor->number, code);
    gated_require(sim, visitor->owed_count == 0, "v%d is never told of %s", visitor->number,
                  visitor->owed[0].id);
    visitor->closed = true;
}
