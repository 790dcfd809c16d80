/*
 * table_talk.c - what those at the table say and hear, and the account of it. Every payload holds
 * the number of its note, so that an answer to another question shows.
 */
#include "tests/support/table_state.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

struct note *table_note(struct table *table, struct mcpx_slice id)
{
    for (size_t i = table->note_count; i > 0; i--)
        if (mcpx_slice_equal(mcpx_slice_of(table->notes[i - 1].id), id))
            return &table->notes[i - 1];
    return NULL;
}

/* ---- saying ---- */

static size_t draw_addressees(struct seat *seat, struct mcpx_slice to[SEATS], unsigned *mask)
{
    struct table *table = seat->table;
    size_t count = 0;

    *mask = dice_hits(&table->dice, 4) ? 0 : 1u << dice_below(&table->dice, SEATS);
    if (*mask && dice_hits(&table->dice, 4))
        *mask |= 1u << dice_below(&table->dice, SEATS);
    for (size_t i = 0; i < SEATS; i++)
        if (*mask >> i & 1)
            to[count++] = mcpx_slice_of(table->seats[i].name);
    return count;
}

static void say(struct seat *seat, enum note_type type, const struct mcpx_draft *draft,
                unsigned mask)
{
    struct table *table = seat->table;
    struct note *note = &table->notes[table->note_count];
    struct mcpx_draft tagged = *draft;
    struct mcpx_slice id;
    enum mcpx_err err;

    tagged.tag = note;
    err = mcpx_session_send(seat->session, &tagged, table->now, &id, NULL);
    if (err == MCPX_ECLOSED) /* for its haste */
        return;
    table_require(table, err == MCPX_OK, "a session does not send");
    *note = (struct note){.type = type, .seat = seat->index, .to = mask};
    snprintf(note->id, sizeof note->id, "%.*s", (int)id.len, id.text);
    note->number = ++table->note_count;
    note->quiet = seat->directed && mask && !(mask >> seat->index & 1);
    table->tally->sent++;
}

static void say_something(struct seat *seat, enum note_type type)
{
    static const struct {
        const char *type, *before, *after;
    } rows[] = {
        [NOTE_CHAT] = {"chat", "{\"n\":", "}"},
        [NOTE_REQUEST] = {"mcp/request", "{\"jsonrpc\":\"2.0\",\"id\":",
                          ",\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}"},
        [NOTE_PROPOSAL] = {"mcp/proposal",
                           "{\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"n\":",
                           "}}"},
    };
    struct mcpx_slice to[SEATS];
    struct mcpx_draft draft = {.type = rows[type].type, .to = to};
    unsigned mask;
    char payload[128];

    draft.to_count = draw_addressees(seat, to, &mask);
    snprintf(payload, sizeof payload, "%s%zu%s", rows[type].before,
             seat->table->note_count + 1, rows[type].after);
    draft.payload = mcpx_slice_of(payload);
    say(seat, type, &draft, mask);
}

static void answer(struct seat *seat, const struct todo *todo)
{
    struct table *table = seat->table;
    char payload[128];
    enum mcpx_err err;

    snprintf(payload, sizeof payload,
             "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"result\":{\"n\":%zu}}", todo->number,
             todo->number);
    err = mcpx_session_respond(seat->session, mcpx_slice_of(todo->id), mcpx_slice_of(payload),
                               table->now, NULL);
    table_require(table, err == MCPX_OK || err == MCPX_ECLOSED,
                  "a request that was told cannot be answered");
}

/* Does what was proposed, or rejects it. */
static void decide(struct seat *seat, const struct todo *todo)
{
    struct table *table = seat->table;
    size_t executor = dice_below(&table->dice, SEATS);
    struct mcpx_slice to = mcpx_slice_of(table->seats[executor].name);
    struct mcpx_draft draft = {.correlation_id = mcpx_slice_of(todo->id)};
    char payload[160];

    if (dice_hits(&table->dice, 3)) {
        draft.type = "mcp/reject";
        draft.payload = MCPX_SLICE("{\"reason\":\"no\"}");
        say(seat, NOTE_OTHER, &draft, 0);
        return;
    }
    snprintf(payload, sizeof payload,
             "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"tools/call\","
             "\"params\":{\"n\":%zu,\"name\":\"t\"}}",
             table->note_count + 1, todo->number);
    draft.type = "mcp/request";
    draft.to = &to;
    draft.to_count = 1;
    draft.payload = mcpx_slice_of(payload);
    say(seat, NOTE_REQUEST, &draft, 1u << executor);
}

void table_act(struct seat *seat)
{
    struct table *table = seat->table;
    size_t choice = dice_below(&table->dice, 10);

    if (table->note_count > NOTES_MAX - 2)
        return;
    if (seat->todo_count > 0 && choice < 7) {
        size_t at = dice_below(&table->dice, seat->todo_count);
        struct todo todo = seat->todo[at];

        seat->todo[at] = seat->todo[--seat->todo_count];
        if (dice_hits(&table->dice, 10))
            return; /* never */
        if (todo.is_proposal)
            decide(seat, &todo);
        else
            answer(seat, &todo);
    } else {
        say_something(seat, choice < 4   ? NOTE_CHAT
                            : choice < 8 ? NOTE_REQUEST
                                         : NOTE_PROPOSAL);
    }
}

/* ---- hearing ---- */

static void plan_answer(struct seat *seat, const struct mcpx_event *event)
{
    struct todo *todo = &seat->todo[seat->todo_count];

    if (seat->todo_count == DUES_MAX)
        return;
    todo->is_proposal = event->type == MCPX_EVENT_PROPOSAL;
    todo->number = (size_t)strtoull(event->rpc->id.text ? event->rpc->id.text : "0", NULL, 10);
    if (todo->is_proposal)
        todo->number = table_note(seat->table, event->envelope->id)->number;
    snprintf(todo->id, sizeof todo->id, "%.*s", (int)event->envelope->id.len,
             event->envelope->id.text);
    seat->todo_count++;
}

static void hear_told(struct seat *seat, const struct mcpx_event *event)
{
    struct table *table = seat->table;
    struct note *note = table_note(table, event->envelope->id);

    table_require(table, note && note->accepted, "something was told that was not accepted");
    note->told[seat->index]++;
    table->tally->told++;
    table_require(table, note->told[seat->index] <= 1, "it was told twice");
    table_require(table, note->to == 0 || note->to >> seat->index & 1,
                  "it was told to somebody else");
    if (event->type != MCPX_EVENT_MESSAGE)
        plan_answer(seat, event);
}

static void hear_response(struct seat *seat, const struct mcpx_event *event, struct note *note)
{
    struct table *table = seat->table;
    struct mcpx_slice number = mcpx_json_get(event->rpc->result, "n");
    size_t answered = (size_t)strtoull(number.text, NULL, 10);

    table_require(table, note != NULL, "a response to nothing");
    table->tally->responses++;
    table->tally->fulfilled += note->type == NOTE_PROPOSAL;
    table_require(table, note->type == NOTE_PROPOSAL || answered == note->number,
                  "the response belongs to another request");
    table_require(table, note->type != NOTE_PROPOSAL || event->proposal.text,
                  "the proposal is not named");
}

static void hear_end(struct seat *seat, const struct mcpx_event *event, struct note *note)
{
    struct table_tally *tally = seat->table->tally;

    if (event->type == MCPX_EVENT_RESPONSE)
        hear_response(seat, event, note);
    if (!note)
        return; /* a response of ours was refused */
    note->ends++;
    note->refused += event->type == MCPX_EVENT_REFUSED;
    tally->expired += event->type == MCPX_EVENT_EXPIRED;
    tally->refused += event->type == MCPX_EVENT_REFUSED;
    tally->rejected += event->type == MCPX_EVENT_REJECTED;
    table_require(seat->table, note->ends == 1, "it ended twice");
    table_require(seat->table, note->seat == seat->index, "it is somebody else's");
}

static void hear_joined(struct seat *seat, const struct mcpx_event *event)
{
    struct table *table = seat->table;

    table->tally->resumed += event->resumed;
    if (event->resumed)
        return;
    table->tally->anew++;
    table_require(table, table->plan->forgetful || !seat->had_place,
                  "it could have resumed and did not");
    seat->since = seat->admitted;
}

static void hear(struct seat *seat, const struct mcpx_event *event)
{
    struct note *note = event->tag;

    if (event->type == MCPX_EVENT_JOINED)
        hear_joined(seat, event);
    else if (event->type == MCPX_EVENT_MESSAGE || event->type == MCPX_EVENT_REQUEST ||
             event->type == MCPX_EVENT_PROPOSAL)
        hear_told(seat, event);
    else if (event->type == MCPX_EVENT_RESPONSE || event->type == MCPX_EVENT_EXPIRED ||
             event->type == MCPX_EVENT_REFUSED ||
             (event->type == MCPX_EVENT_REJECTED && event->own.text))
        hear_end(seat, event, note);
    else if (event->type == MCPX_EVENT_DELIVERED && note)
        note->delivered++;
    table_require(seat->table, event->type != MCPX_EVENT_VIOLATION,
                  "somebody lies, yet nobody does");
}

void table_listen(struct seat *seat)
{
    struct mcpx_event event;

    while (mcpx_session_event(seat->session, &event))
        hear(seat, &event);
}

/* ---- the end ---- */

static void check_told(struct table *table, const struct note *note)
{
    for (size_t i = 0; i < SEATS; i++) {
        const struct seat *seat = &table->seats[i];
        bool is_here = seat->link != NULL;
        bool is_for = note->to ? note->to >> i & 1 : note->seat != i;

        if (note->type == NOTE_OTHER || !is_here || !is_for || note->order <= seat->since)
            continue;
        table_require(table, note->told[i] > 0, "it was accepted and never told");
    }
}

void table_check(struct table *table)
{
    for (size_t i = 0; i < SEATS; i++)
        table_require(table, mcpx_session_pending_count(table->seats[i].session) == 0,
                      "something is still awaited");
    for (size_t i = 0; i < table->note_count; i++) {
        const struct note *note = &table->notes[i];
        bool is_asked = note->type == NOTE_REQUEST || note->type == NOTE_PROPOSAL;

        table_require(table, note->accepted <= 1 || table->plan->forgetful,
                      "it was accepted twice");
        table_require(table, note->delivered <= 1, "it was delivered twice");
        table_require(table, !note->delivered || note->accepted || note->quiet,
                      "it was delivered but not accepted");
        table_require(table, !note->refused || !note->accepted, "it was refused but accepted");
        table_require(table, !is_asked || note->ends == 1, "it never ended");
        table_require(table,
                      is_asked || note->delivered + note->refused == 1 || note->quiet ||
                          !table->seats[note->seat].link,
                      "nobody knows what became of it");
        if (note->accepted && !table->plan->forgetful)
            check_told(table, note);
    }
}
