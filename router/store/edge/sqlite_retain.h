/*
 * sqlite_retain.h - retention: how much of each topic stays in the database. Never less than the
 * hub's log keeps, a quarter more at times.
 */
#ifndef STORE_SQLITE_RETAIN_H
#define STORE_SQLITE_RETAIN_H

#include "lib/core/holders.h"
#include "router/store/edge/sqlite_topics.h"
#include "router/store/edge/store.h"

struct sqlite3;
struct sqlite3_stmt;

/** Most rows that retain_young and retain_cut look at, and delete, at once. */
enum { RETAIN_ROWS_MAX = 1000, RETAIN_CUT_ROWS_MAX = 10000 };

/**
 * Bounds, and statements that are ready. Zero-initialised is empty.
 *
 * passed   `seq` up to which all entries have a time in the future; 0 = not known of any
 * old_to   `seq` up to which all entries are old, whatever time they have
 * more     retain_young has more to do, as soon as there is time for it
 * holders  bytes of each participant's texts, all its instances together
 * recount  `holders` is not what the database has: a transaction was rolled back
 */
struct retain {
    uint64_t count, bytes; /* of a topic; 0 = no limit */
    int64_t age_ms;        /* 0 = no limit */
    int64_t passed, old_to;
    bool more;
    struct mx_holders holders;
    bool recount;
    struct sqlite3_stmt *oldest, *forgotten, *forget, *eldest, *advance, *purged, *purge,
        *remove;
    struct sqlite3_stmt *sums, *added, *take, *drop, *cut, *shift;
};

/**
 * Prepares the statements, which statements_free frees in any case; mx_holders_fini frees the
 * holders. Returns SQLite's code.
 */
int retain_init(struct retain *retain, struct sqlite3 *db, const struct store_config *config);

/** At the beginning of each transaction: counts who holds how much, if need be. SQLite's code. */
int retain_count(struct retain *retain);

/**
 * In a transaction that has added to a topic: writes who holds how much more, of which `holders`
 * were told, and deletes the oldest entries once the topic has a quarter more than its bounds.
 * Returns SQLite's code.
 */
int retain_newest(struct retain *retain, struct open_topic *topic);

/**
 * In a transaction: deletes the oldest entries of all topics, as far as they are from before
 * `before_ms`, which is `age_ms` ago. Topics that have none left go, but for those in `table`.
 *
 * deleted   filled: entries, at most RETAIN_ROWS_MAX
 *
 * Returns SQLite's code.
 */
int retain_young(struct retain *retain, const struct open_topics *table, int64_t before_ms,
                 size_t *deleted);

/**
 * In a transaction, when the file is full: deletes the oldest entries of the topics in which the
 * largest holder has most, whoever sent them: serials have no hole. The newest may go, too. Open
 * topics are stale then.
 *
 * bytes   of texts that are wanted; fewer go when the holder has fewer, or they are many
 *
 * Returns SQLite's code; SQLITE_FULL when there is nothing to delete.
 */
int retain_cut(struct retain *retain, const struct open_topics *table, uint64_t bytes);

/** Deletes the row of a topic, which has no entries. Returns SQLite's code. */
int retain_remove(struct retain *retain, int64_t topic);

#endif
