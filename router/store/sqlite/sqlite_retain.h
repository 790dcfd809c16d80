/*
 * sqlite_retain.h - the writer's open topics, and retention: how much of each topic stays in the
 * database. It is never less than the hub's log keeps, and at times a quarter more.
 */
#ifndef STORE_SQLITE_RETAIN_H
#define STORE_SQLITE_RETAIN_H

#include "lib/base/holders.h"
#include "lib/base/map.h"
#include "router/hub/log/list.h"
#include "router/store/commit/stage.h"
#include "router/store/sqlite/sqlite_schema.h"

/* ---- open topics ---- */

/**
 * An open topic.
 *
 * stale        the row must be read again: it may have changed
 */
struct open_topic {
    struct mcpx_slice name;
    struct extent now; /* as the current transaction sees it */
    bool stale, is_due;
    /* Bytes of each owner in the last `added_count` entries, and one byte for its row in `held`;
     * is_due: an owner has no row yet. */
    struct mx_holders added;
    uint64_t added_count;
    /* In the list of topics that the current transaction changes, or in none. */
    struct link changed;
    struct link link;
};

/** The open topics. */
struct open_topics {
    struct mx_map map;
    struct mx_map_key key;
    struct link all;
    struct link changed; /* by the current transaction */
};

/** Makes an empty table. */
void open_topics_init(struct open_topics *table);

/** Frees the table and all in it. */
void open_topics_fini(struct open_topics *table);

/** The topic of this name, or NULL. */
struct open_topic *open_topics_find(const struct open_topics *table, struct mcpx_slice name);

/** As open_topics_find; adds a missing topic as stale. NULL when memory runs out. */
struct open_topic *open_topics_get(struct open_topics *table, struct mcpx_slice name);

/** Removes a topic and frees it. */
void open_topics_drop(struct open_topics *table, struct open_topic *topic);

/** Ends the current transaction. Without commit, the topics that it changed are stale. */
void open_topics_settle(struct open_topics *table, bool committed);

/* ---- retention ---- */

/** Most rows that a call of retain_young, and one of retain_cut, may look at and delete. */
enum { RETAIN_ROWS_MAX = 1000, RETAIN_CUT_ROWS_MAX = 10000 };

/** Marks per maximum age: an entry may stay longer by one interval. */
enum { RETAIN_MARKS = 64 };

/** The last entry at an instant of the monotonic clock. */
struct retain_mark {
    int64_t mono_ms, seq;
};

/**
 * Limits of a topic's entries that `held` lacks, as each update costs a batch a page: COUNT_MOST or
 * COUNT_BYTES; COUNT_FEW while all topics together lack COUNT_ALL, which a start must read.
 */
enum { COUNT_FEW = 32, COUNT_MOST = 4096, COUNT_BYTES = 1 << 20, COUNT_ALL = 65536 };

/**
 * Bounds, and prepared statements. Zero-initialised is empty.
 *
 * ahead_ms   lead of the wall clock over the monotonic one, steady since `steady_from_ms`
 */
struct retain {
    uint64_t count, bytes; /* of a topic; 0 = no limit */
    int64_t age_ms;        /* 0 = no limit */
    int64_t last;          /* `seq` of the last entry; it always grows */
    int64_t begun;         /* the same at the start */
    /* Times of this start, `mark_count` of them, the oldest first. */
    struct retain_mark marks[RETAIN_MARKS + 2];
    size_t mark_count;
    int64_t ahead_ms, steady_from_ms;
    /* Entries up to this `seq` have a time in the future; 0 = none are known. */
    int64_t passed;
    int64_t old_to; /* entries up to this `seq` are old, regardless of their time */
    bool more;      /* retain_young has more work, for an idle moment */
    /* Bytes of each participant's texts, all its instances together. */
    struct mx_holders holders;
    struct mx_holders gone; /* bytes that the current deletion takes from them */
    int64_t uncounted;      /* entries that `held` lacks, about */
    bool took;              /* the current transaction has taken from `holders` */
    /* `holders` must be read again: such a transaction was rolled back. */
    bool recount;
    struct sqlite3_stmt *oldest, *forget, *eldest, *purged, *purge, *remove;
    struct sqlite3_stmt *sums, *change, *count_rest, *lessen, *drop, *fullest, *shift;
};

/**
 * Prepares the statements. In any case call statements_free, and mx_holders_fini for `holders` and
 * `gone`. Returns SQLite's code.
 */
int retain_init(struct retain *retain, struct sqlite3 *db, const struct store_config *config);

/** At the beginning of each transaction: reads `holders` again if needed. Returns SQLite's code. */
int retain_count(struct retain *retain);

/**
 * In a transaction: counts a participant's new entry of a topic, in memory. retain_newest writes
 * the counts of many entries at once. Returns SQLite's code.
 */
int retain_add(struct retain *retain, struct open_topic *topic, struct mcpx_slice owner,
               uint64_t bytes);

/**
 * At the end of a transaction that added entries to a topic: writes their counts to `held` when
 * they are many, or an owner has no row there. Deletes the oldest entries once the topic exceeds
 * its bounds by a quarter. Returns SQLite's code.
 */
int retain_newest(struct retain *retain, struct open_topic *topic);

/**
 * In a transaction: deletes the oldest entries of all topics, as far as they are older than
 * `age_ms`. The monotonic clock decides for entries of this start, as in the hub's log. The wall
 * clock decides for earlier ones, once both clocks have agreed for an hour. Emptied topics are
 * removed, except those in `table`.
 *
 * deleted   filled with the number of entries, at most RETAIN_ROWS_MAX
 *
 * Returns SQLite's code.
 */
int retain_young(struct retain *retain, const struct open_topics *table, struct mcpx_now now,
                 size_t *deleted);

/**
 * In a transaction, when the file is full: deletes the oldest entries of the topics in which the
 * largest holder has most, of all senders, as serials have no gaps. The newest entry may go, too.
 *
 * bytes   of texts to delete; fewer when the holder has fewer, or after RETAIN_CUT_ROWS_MAX entries
 *
 * Returns SQLite's code; SQLITE_FULL when there is nothing to delete.
 */
int retain_cut(struct retain *retain, const struct open_topics *table, uint64_t bytes);

/** Deletes the row of a topic without entries. Returns SQLite's code. */
int retain_remove(struct retain *retain, int64_t topic);

#endif
