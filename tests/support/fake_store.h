/*
 * fake_store.h - somebody who stores what a hub submits, without a disk: it keeps the order, takes
 * its time, fails when told to, and forgets at a crash what it had not stored by then.
 *
 * A submission waits, is written in a batch, and is answered. Its test decides when each of that
 * happens, and with which end.
 */
#ifndef SUPPORT_FAKE_STORE_H
#define SUPPORT_FAKE_STORE_H

#include "router/hub/hub.h"
#include "router/hub/topic/query.h"
#include "router/store/commit/submission.h"

enum { FAKE_TOPICS = 4, FAKE_HELD = 1024, FAKE_LOADS = 64, FAKE_ID = 40, FAKE_TO = 2 };

/** What becomes of a batch. Of FATE_UNKNOWN the next crash decides whether it was stored. */
enum fate { FATE_STORED, FATE_REFUSED, FATE_UNKNOWN };

/** A stored envelope; the first one of a topic has the serial 1. */
struct fake_row {
    char *text;
    size_t len;
    int64_t wall_ms;
    char id[FAKE_ID], from[FAKE_ID], kind[FAKE_ID];
    char to[FAKE_TO][FAKE_ID];
    size_t to_count;
};

/**
 * A topic.
 *
 * epoch       of its newest submission, or as it is stored
 * is_known    an envelope of it was stored
 * count       envelopes that were ever stored; rows[serial - 1]
 * ghosts      rows behind them of which it is unknown whether they are stored
 * committed   rows that the running hub has been told of
 * gone        rows of those that retention has removed
 * loaded_from serial of the first that the running hub was given, or would be
 * is_open     the running hub has it in memory
 * is_damaged  it cannot be loaded
 */
struct fake_topic {
    char name[8];
    char epoch[65];
    bool is_known, is_open, is_damaged;
    struct fake_row *rows;
    size_t count, size, ghosts, committed, gone, loaded_from;
};

/** A submission that is not answered; `sum` is that of what it lent. */
struct fake_held {
    struct submission *submission;
    struct fake_topic *topic;
    enum fate fate;
    uint64_t sum;
};

/** A topic that is being loaded, from the row `first` on; `next` is the row to come. */
struct fake_topic_load {
    uint64_t ticket;
    struct fake_topic *topic;
    size_t first, next;
    bool has_begun;
};

/**
 * The store.
 *
 * is_stored   it keeps topics; else it only says that it has seen them, as an audit does
 * has_failed  a batch ended FATE_UNKNOWN: everything is refused until a restart
 * losses      epochs that were renewed
 */
struct fake_store {
    bool is_stored, has_failed;
    unsigned losses;
    struct fake_topic topics[FAKE_TOPICS];
    struct fake_held waiting[FAKE_HELD], written[FAKE_HELD];
    size_t waiting_count, written_count;
    struct fake_topic_load loads[FAKE_LOADS];
    size_t load_count;
};

/** What a hub has just been answered: about which submission, and how. */
struct fake_answer {
    enum submission_what what;
    struct fake_topic *topic;
    char from[FAKE_ID], id[FAKE_ID];
    enum fate fate;
};

/** Makes a store without topics. */
void fake_store_init(struct fake_store *store, bool is_stored);

/** Frees what it keeps. */
void fake_store_fini(struct fake_store *store);

/** The topic with this name, which must be "t0" to "t3". */
struct fake_topic *fake_topic(struct fake_store *store, struct mcpx_slice name);

/** Takes the hub's next task and keeps it; false when there is none. */
bool fake_pull(struct fake_store *store, struct hub *hub, struct task *out);

/** Writes a batch: the first `count` that wait. */
void fake_write(struct fake_store *store, size_t count, enum fate fate);

/**
 * Answers the first that is written; false when there is none. Ends the program when what it lent
 * has changed.
 */
bool fake_answer(struct fake_store *store, struct hub *hub, struct mcpx_now now,
                 struct fake_answer *out);

/** Refuses one that waits, out of its turn. */
void fake_refuse(struct fake_store *store, struct hub *hub, size_t index, struct mcpx_now now,
                 struct fake_answer *out);

/**
 * Loads at most `rows` more rows of a topic; with the last one it is committed. Returns true
 * when that was all, or when the hub does not wait for it any more.
 */
bool fake_load(struct fake_store *store, struct hub *hub, size_t index, size_t rows,
               struct mcpx_now now);

/** Ends a load without success. Returns its topic. */
struct fake_topic *fake_refuse_load(struct fake_store *store, struct hub *hub, size_t index,
                                    struct mcpx_now now);

/** Forgets rows that are older than the newest `keep`. */
void fake_retain(struct fake_topic *topic, size_t keep);

/**
 * The hub is gone: nothing is under way any more, and the store works again.
 *
 * keeps_ghosts   what was unknown turns out to be stored
 */
void fake_crash(struct fake_store *store, bool keeps_ghosts);

/** The machine lost its power, and the newest rows with it: epochs are renewed. */
void fake_lose(struct fake_store *store, size_t rows);

#endif
