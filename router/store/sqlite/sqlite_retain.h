/*
 * sqlite_retain.h - what the writer knows of the topics that are open, and retention: how much of
 * each topic stays in the database. Never less than the hub's log keeps, a quarter more at times.
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
 * stale        the database may have changed: look again
 */
struct open_topic {
    struct mcpx_slice name;
    struct extent now; /* as the transaction at hand sees it */
    bool stale, is_due;
    /* Who has sent how much of the last `added_count` entries, with one byte for a row in
     * `held`; is_due: not all of them have one. */
    struct mx_holders added;
    uint64_t added_count;
    /* In the list of those that the transaction at hand changes, or in none. */
    struct link changed;
    struct link link;
};

/** All of them. */
struct open_topics {
    struct mx_map map;
    struct mx_map_key key;
    struct link all;
    struct link changed; /* by the transaction at hand */
};

/** Makes an empty table. */
void open_topics_init(struct open_topics *table);

/** Frees the table and all in it. */
void open_topics_fini(struct open_topics *table);

/** The topic of this name, or NULL. */
struct open_topic *open_topics_find(const struct open_topics *table, struct mcpx_slice name);

/** The same; added, and stale, if it is not there. NULL when memory runs out. */
struct open_topic *open_topics_get(struct open_topics *table, struct mcpx_slice name);

/** Takes one out and frees it. */
void open_topics_drop(struct open_topics *table, struct open_topic *topic);

/** The transaction has ended: committed, or rows are again as they were. */
void open_topics_settle(struct open_topics *table, bool committed);

/* ---- retention ---- */

/** Most rows that retain_young and retain_cut look at, and delete, at once. */
enum { RETAIN_ROWS_MAX = 1000, RETAIN_CUT_ROWS_MAX = 10000 };

/** Marks at one time: an entry may stay for a part of the age longer. */
enum { RETAIN_MARKS = 64 };

/** The last entry at some time of the monotonic clock. */
struct retain_mark {
    int64_t mono_ms, seq;
};

/**
 * Entries of a topic that `held` may lack, since a row of it is a page more in each batch: so many,
 * or so many bytes of them; and fewer once all topics together lack COUNT_ALL, which a start reads.
 */
enum { COUNT_FEW = 32, COUNT_MOST = 4096, COUNT_BYTES = 1 << 20, COUNT_ALL = 65536 };

/**
 * Bounds, and statements that are ready. Zero-initialised is empty.
 *
 * ahead_ms   how far the wall clock is ahead of the monotonic one, and since when it has been
 */
struct retain {
    uint64_t count, bytes; /* of a topic; 0 = no limit */
    int64_t age_ms;        /* 0 = no limit */
    int64_t last;  /* `seq` of the last entry; each has a higher one than those before */
    int64_t begun; /* the same at the start */
    /* Times of this start, `mark_count` of them, the oldest first. */
    struct retain_mark marks[RETAIN_MARKS + 2];
    size_t mark_count;
    int64_t ahead_ms, steady_from_ms;
    /* `seq` up to which all entries have a time in the future; 0 = not known of any. */
    int64_t passed;
    int64_t old_to; /* `seq` up to which all entries are old, whatever time they have */
    bool more;      /* retain_young has more to do, as soon as there is time for it */
    /* Bytes of each participant's texts, all its instances together. */
    struct mx_holders holders;
    struct mx_holders gone; /* of those, what a deletion at hand takes */
    int64_t uncounted;      /* entries that `held` lacks, about */
    bool took;              /* the transaction at hand has taken from `holders` */
    /* `holders` is not what the database has: such a transaction was rolled back. */
    bool recount;
    struct sqlite3_stmt *oldest, *forget, *eldest, *purged, *purge, *remove;
    struct sqlite3_stmt *sums, *change, *count_rest, *lessen, *drop, *fullest, *shift;
};

/**
 * Prepares the statements, which statements_free frees in any case; mx_holders_fini frees
 * `holders` and `gone`. Returns SQLite's code.
 */
int retain_init(struct retain *retain, struct sqlite3 *db, const struct store_config *config);

/** At the beginning of each transaction: counts who holds how much, if need be. SQLite's code. */
int retain_count(struct retain *retain);

/**
 * In a transaction: an entry of a participant comes to a topic. It is counted in memory;
 * retain_newest writes that once for many. SQLite's code.
 */
int retain_add(struct retain *retain, struct open_topic *topic, struct mcpx_slice owner,
               uint64_t bytes);

/**
 * At the end of a transaction that has added to a topic: once there are enough of them, or
 * somebody has none that are counted, writes who holds how much more of it; and deletes the oldest
 * entries once the topic has a quarter more than its bounds. SQLite's code.
 */
int retain_newest(struct retain *retain, struct open_topic *topic);

/**
 * In a transaction: deletes the oldest entries of all topics, as far as they are older than
 * `age_ms`: those of this start by the monotonic clock, as the hub's log; earlier ones by the wall
 * clock, once that has gone with the monotonic one for an hour. Topics that have none left go, but
 * for those in `table`.
 *
 * mono_ms, wall_ms   what the clocks say
 * deleted            filled: entries, at most RETAIN_ROWS_MAX
 *
 * Returns SQLite's code.
 */
int retain_young(struct retain *retain, const struct open_topics *table, int64_t mono_ms,
                 int64_t wall_ms, size_t *deleted);

/**
 * In a transaction, when the file is full: deletes the oldest entries of the topics in which the
 * largest holder has most, whoever sent them: serials have no hole. The newest may go, too.
 *
 * bytes   of texts that are wanted; fewer go when the holder has fewer, or they are many
 *
 * Returns SQLite's code; SQLITE_FULL when there is nothing to delete.
 */
int retain_cut(struct retain *retain, const struct open_topics *table, uint64_t bytes);

/** Deletes the row of a topic, which has no entries. Returns SQLite's code. */
int retain_remove(struct retain *retain, int64_t topic);

#endif
