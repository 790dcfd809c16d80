/*
 * gated_state.h - what the files of the simulation behind gated.h share.
 */
#ifndef SUPPORT_GATED_STATE_H
#define SUPPORT_GATED_STATE_H

#include "tests/support/fake_store.h"
#include "tests/support/gated.h"
#include "tests/support/reader_place.h"
#include "tests/support/run_notes.h"

enum { VISITORS = 10, NOTES_MAX = 512, ROSTER_MAX = 32, CODES_MAX = 4 };

/** What a visitor remembers of a topic: its place, and in which count it has come how far. */
struct memory {
    struct reader_place place;
    char epoch[65];
    size_t next; /* serial of the first envelope that it was not handed */
};

/** A `system/error` that is owed: about which message, and what it has to say. */
struct owed {
    char id[FAKE_ID];
    enum mcpx_err err;
    bool is_certain;
};

enum visitor_state { AWAY, WAITING, THERE };

/**
 * Somebody who comes again and again, with one connection at a time.
 *
 * number          by which transcripts name it
 * identity, instance, key, directed
 *                 how it comes, always
 * asked           the place it named this time
 * waits           hub_waits when it asked last whether it may come in
 * connection      number of its connection
 * id              by which others know it
 * joined          its join is committed; joined_at is the newest serial before it
 * greeted         it has read its welcome; is_announced: its own join, too
 * next            serial of the next envelope to come
 * replay          serial of the next one inside history; up to joined_at
 * codes           close codes that it may be told
 * was_stalled     it did not read for a while
 */
struct visitor {
    int number;
    const char *identity, *key;
    unsigned instance;
    bool directed;
    struct memory memories[FAKE_TOPICS];
    enum visitor_state state;
    struct fake_topic *topic;
    struct grant *grant;
    bool may_call;
    struct admission admission;
    struct reader_place asked;
    uint64_t waits, connection;
    struct peer *peer;
    char id[FAKE_ID];
    bool joined, greeted, is_announced, stalled, was_stalled, closed;
    size_t joined_at, next, replay, replays;
    struct owed owed[NOTES_MAX];
    size_t owed_count;
    char roster[ROSTER_MAX][FAKE_ID];
    size_t roster_count;
    int codes[CODES_MAX];
    size_t code_count;
};

enum message_state { UNSAID, PENDING, SETTLED };

/**
 * A message, found by the number in its id.
 *
 * state         PENDING: accepted, and not answered
 * order         counts what was accepted
 * is_doubtful   somebody was told, or may believe, that it is not known whether it is stored
 */
struct message {
    enum message_state state;
    size_t visitor;
    struct fake_topic *topic;
    uint64_t connection, order;
    char from[FAKE_ID], kind_sent[FAKE_ID], kind[FAKE_ID], to[FAKE_ID], about[FAKE_ID];
    bool is_doubtful;
};

/** A simulation. */
struct gated {
    struct dice dice, chance;
    const char *name;
    struct gated_tally *tally;
    struct hub_config config;
    struct hub *hub;
    struct fake_store store;
    struct mcpx_now now;
    struct visitor visitors[VISITORS];
    struct message *messages;
    size_t message_count, message_size;
    uint64_t step, orders, connections;
    uint64_t pulled[FAKE_TOPICS]; /* order of the last message that was handed out */
    bool has_trouble;             /* the store fails now and then */
    bool has_faults;              /* memory runs out now and then */
    struct run_notes notes;
};

/* ---- gated_check.c: what is said about a run, and what everybody asks ---- */

/** Notes a line of the transcript. */
#define gated_say(sim, ...)                                                                   \
    run_notes_add(&(sim)->notes, (sim)->step, (sim)->now.mono_ms, __VA_ARGS__)

/** Prints the failure and the transcript, and aborts, unless `holds`. */
void gated_require(struct gated *sim, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Which topic it is. */
size_t gated_topic_number(const struct gated *sim, const struct fake_topic *topic);

/** True when the envelope with this serial is for this visitor. */
bool gated_wants(const struct visitor *visitor, size_t serial);

/** The first serial from `serial` on that is for this visitor; one behind the last if none is. */
size_t gated_next_wanted(const struct visitor *visitor, size_t serial);

/** The serial of the oldest envelope that is retained, when `newest` is the newest. */
size_t gated_oldest(const struct gated *sim, const struct fake_topic *topic, size_t newest);

/** Serial of the committed envelope with this id; 0 = none. */
size_t gated_find(const struct fake_topic *topic, const char *id);

/* ---- gated_visit.c: coming and going ---- */

/** A visitor that is away wants to come into some topic. */
void gated_arrive(struct gated *sim, struct visitor *visitor, struct fake_topic *topic);

/** Who waits asks again. */
void gated_retry(struct gated *sim);

/** The connection is gone, or who waits gives up. */
void gated_depart(struct gated *sim, struct visitor *visitor);

/** Somebody is thrown out; somebody's grants change. */
void gated_kick(struct gated *sim, struct visitor *visitor);
void gated_regrant(struct gated *sim, struct visitor *visitor);

/** A visitor may be told this at its end. */
void gated_may_close(struct visitor *visitor, enum mcpx_err err);

/** A grant without bearer is left: all connections are gone with the hub. */
void gated_scatter(struct gated *sim);

/* ---- gated_talk.c: messages ---- */

/** Somebody says something. */
void gated_talk(struct gated *sim, struct visitor *visitor);

/** The message with this id; NULL when it is not one of ours. */
struct message *gated_message(struct gated *sim, const char *id);

/* ---- gated_store.c: what the hub submits, and what it is answered ---- */

/** Takes what the hub has to do, at most `count`, and checks it. */
void gated_pull(struct gated *sim, size_t count);

/** The store writes, answers, and loads, all by chance. */
void gated_write(struct gated *sim);
void gated_answer(struct gated *sim, size_t count);
void gated_load(struct gated *sim);
void gated_spoil(struct gated *sim);

/** Everything that waits is stored, answered and loaded. */
void gated_store_all(struct gated *sim);

/* ---- gated_reader.c: what visitors receive ---- */

/** Reads at most `runs` runs for a visitor; true when nothing was left. */
bool gated_read(struct gated *sim, struct visitor *visitor, size_t runs);

/** Reads for everybody whose turn it is until nobody has one. */
void gated_read_all(struct gated *sim);

/* ---- gated_told.c: what the router says ---- */

/** Checks a message of the router that is no page of history. */
void gated_told(struct gated *sim, struct visitor *visitor, const json_t *envelope);

/** Checks a close frame. */
void gated_told_close(struct gated *sim, struct visitor *visitor, int code);

/* ---- gated_check.c: the whole ---- */

/** The store works; everything is served. Then checks that nothing is left and all agree. */
void gated_settle(struct gated *sim);

/** Compares a topic's history with what the HTTP API would show. */
void gated_check_history(struct gated *sim, const struct fake_topic *topic);

#endif
