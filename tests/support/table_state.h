/*
 * table_state.h - what the files of the table share: seats, wires, and the account.
 */
#ifndef TESTS_TABLE_STATE_H
#define TESTS_TABLE_STATE_H

#include "router/hub/hub.h"
#include "router/hub/topic/query.h"
#include "tests/support/table.h"
#include <mcpx/session.h>

enum { SEATS = 4, NOTES_MAX = 6000, DUES_MAX = 64, LINKS_MAX = 256 };

enum note_type { NOTE_CHAT, NOTE_REQUEST, NOTE_PROPOSAL, NOTE_OTHER };

/**
 * One envelope that somebody sent.
 *
 * number     its place in the account + 1, also in its payload
 * to         seats it is addressed to; 0 = everyone
 * accepted   how often the router let it pass; `order` is its place then
 * told       how often each seat was told to act on it
 * ends       RESPONSE, EXPIRED, REFUSED or REJECTED
 */
struct note {
    char id[64];
    enum note_type type;
    size_t seat, number;
    unsigned to;
    unsigned accepted, delivered, ends, refused;
    uint64_t order;
    unsigned told[SEATS];
    bool quiet;
};

struct seat;

/**
 * One connection. The router may not have noticed yet that it broke.
 *
 * down   frames on their way to the participant, from `down_at` on
 * up     messages on their way to the router, each behind its length
 */
struct link {
    struct seat *seat; /* NULL once it broke */
    struct peer *peer;
    struct mcpx_text down, up;
    size_t down_at, up_at;
};

/** A request to be answered, or a proposal to be acted on. */
struct todo {
    char id[64];
    size_t number;
    bool is_proposal;
};

/**
 * A participant.
 *
 * since      order from which on it must be told everything
 * admitted   order at its last admission
 * had_place   it had something to resume after at its last admission
 */
struct seat {
    struct table *table;
    size_t index;
    char name[8];
    struct grant *grant;
    struct mcpx_session *session;
    struct link *link;
    bool directed;
    uint64_t since, admitted;
    bool had_place;
    struct todo todo[DUES_MAX];
    size_t todo_count;
};

struct table {
    const struct table_plan *plan;
    struct table_tally *tally;
    struct dice dice, chance;
    struct mcpx_now now;
    struct hub *hub;
    uint64_t order;
    struct seat seats[SEATS];
    struct link *links[LINKS_MAX];
    size_t link_count;
    struct note notes[NOTES_MAX];
    size_t note_count;
};

/** Fails the test when the condition does not hold, with the seed. */
void table_require(const struct table *table, bool holds, const char *what);

/** Tells the session's events to the account. */
void table_listen(struct seat *seat);

/** Does one thing that an application may do. */
void table_act(struct seat *seat);

/** The note with that id, or NULL. */
struct note *table_note(struct table *table, struct mcpx_slice id);

/** Compares what everybody was told with the account, at the end of a run. */
void table_check(struct table *table);

#endif
