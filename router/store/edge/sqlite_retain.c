/*
 * sqlite_retain.c - a deletion for each entry would double the work of a busy topic, so a quarter
 * of its bound goes at once. The order of `seq` is the order of time, so what is too old for its
 * topic stands at the beginning of the table.
 *
 * When the clock was set back, entries have times in the future. Such an entry counts as old as the
 * one behind it: else it would keep all others for ever.
 */
#include "router/store/edge/sqlite_retain.h"

#include "router/store/edge/sqlite_statement.h"

#include <sqlite3.h>

/* What entries of participants and topics take. */
#define SUMS "SELECT owner, topic, sum(length(text)) FROM entry "

int retain_init(struct retain *retain, struct sqlite3 *db, const struct store_config *config)
{
    const struct statement rows[] = {
        {"SELECT serial, length(text) FROM entry WHERE topic = ?1 ORDER BY serial",
         &retain->oldest},
        {SUMS "WHERE topic = ?1 AND serial < ?2 GROUP BY owner", &retain->forgotten},
        {"DELETE FROM entry WHERE topic = ?1 AND serial < ?2", &retain->forget},
        {"SELECT seq, wall_ms FROM entry WHERE seq > ?1 ORDER BY seq LIMIT ?2",
         &retain->eldest},
        {"UPDATE topic SET first_serial = gone.last + 1, bytes = bytes - gone.size "
         "FROM (SELECT topic AS id, max(serial) AS last, sum(length(text)) AS size "
         "FROM entry WHERE seq <= ?1 GROUP BY topic) AS gone "
         "WHERE topic.topic = gone.id "
         "RETURNING topic, name, first_serial > last_serial",
         &retain->advance},
        {SUMS "WHERE seq <= ?1 GROUP BY owner, topic", &retain->purged},
        {"DELETE FROM entry WHERE seq <= ?1", &retain->purge},
        {"DELETE FROM topic WHERE topic = ?1", &retain->remove},
        {"SELECT owner, sum(bytes) FROM held GROUP BY owner", &retain->sums},
        {"INSERT INTO held " SUMS "WHERE topic = ?1 AND serial > ?2 GROUP BY owner "
         "ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes",
         &retain->added},
        {"UPDATE held SET bytes = bytes - ?2 WHERE owner = ?3 AND topic = ?1", &retain->take},
        {"DELETE FROM held WHERE owner = ?2 AND topic = ?1 AND bytes <= 0", &retain->drop},
        {"SELECT topic, max(serial) + 1, sum(size), count(*) FROM (SELECT topic, serial,"
         " length(text) AS size, sum(length(text)) OVER (ORDER BY serial) AS upto FROM entry"
         " WHERE topic = (SELECT topic FROM held WHERE owner = ?3 ORDER BY bytes DESC LIMIT 1)"
         " ORDER BY serial LIMIT ?2) WHERE upto - size < ?1",
         &retain->cut},
        {"UPDATE topic SET first_serial = ?2, bytes = bytes - ?3 WHERE topic = ?1 "
         "RETURNING topic, name, first_serial > last_serial",
         &retain->shift},
    };

    *retain = (struct retain){.count = config->history_count,
                              .bytes = config->history_bytes,
                              .age_ms = config->history_age_ms,
                              .holders.cap = config->bytes_per_participant,
                              .recount = true};
    sqlite3_randomness(sizeof retain->holders.key, &retain->holders.key);
    return statements_make(db, rows, sizeof rows / sizeof *rows);
}

int retain_count(struct retain *retain)
{
    int code = SQLITE_DONE;

    if (!retain->recount)
        return SQLITE_OK;
    mx_holders_fini(&retain->holders);
    while ((code = sqlite3_step(retain->sums)) == SQLITE_ROW)
        if (!mx_holders_add(&retain->holders, statement_text(retain->sums, 0),
                            (uint64_t)sqlite3_column_int64(retain->sums, 1))) {
            code = SQLITE_NOMEM;
            break;
        }
    (void)sqlite3_reset(retain->sums);
    retain->recount = code != SQLITE_DONE;
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int take(struct retain *retain, struct mcpx_slice owner, int64_t topic, int64_t bytes)
{
    int code = statement_say_numbers(retain->take, (int64_t[]){topic, bytes}, 2);

    mx_holders_remove(&retain->holders, owner, (uint64_t)bytes);
    if (code == SQLITE_OK)
        code = statement_say_text(retain->take, 3, owner);
    if (code == SQLITE_OK)
        code = statement_finish(retain->take);
    if (code == SQLITE_OK)
        code = statement_say_numbers(retain->drop, &topic, 1);
    if (code == SQLITE_OK)
        code = statement_say_text(retain->drop, 2, owner);
    return code == SQLITE_OK ? statement_finish(retain->drop) : code;
}

/* Deletes entries, and takes them from their holders; `sums` finds the same ones (SUMS). */
static int delete_entries(struct retain *retain, sqlite3_stmt *sums, sqlite3_stmt *deletion,
                          const int64_t *numbers, int count)
{
    int code = statement_say_numbers(sums, numbers, count);

    while (code == SQLITE_OK && (code = sqlite3_step(sums)) == SQLITE_ROW)
        code = take(retain, statement_text(sums, 0), sqlite3_column_int64(sums, 1),
                    sqlite3_column_int64(sums, 2));
    (void)sqlite3_reset(sums);
    if (code == SQLITE_DONE)
        code = statement_say_numbers(deletion, numbers, count);
    return code == SQLITE_OK ? statement_finish(deletion) : code;
}

static int forget(struct retain *retain, int64_t topic, int64_t first)
{
    return delete_entries(retain, retain->forgotten, retain->forget, (int64_t[]){topic, first},
                          2);
}

static uint64_t entries(const struct extent *extent)
{
    return extent->last + 1 - extent->first;
}

static bool is_beyond(uint64_t value, uint64_t bound)
{
    return bound > 0 && value > bound;
}

/* Moves the beginning of an extent behind what is beyond the bounds. The newest always stays. */
static int shorten(struct retain *retain, struct extent *extent)
{
    int code = sqlite3_bind_int64(retain->oldest, 1, extent->row);

    if (code != SQLITE_OK)
        return code;
    while (extent->first < extent->last && (is_beyond(entries(extent), retain->count) ||
                                            is_beyond(extent->bytes, retain->bytes))) {
        code = sqlite3_step(retain->oldest);
        if (code != SQLITE_ROW)
            break;
        extent->first = (uint64_t)sqlite3_column_int64(retain->oldest, 0) + 1;
        extent->bytes -= (uint64_t)sqlite3_column_int64(retain->oldest, 1);
    }
    (void)sqlite3_reset(retain->oldest);
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

int retain_newest(struct retain *retain, struct open_topic *topic)
{
    int64_t added[] = {topic->now.row, (int64_t)topic->stored.last};
    int code = statement_say_numbers(retain->added, added, 2);

    if (code == SQLITE_OK)
        code = statement_finish(retain->added);
    if (code != SQLITE_OK)
        return code;
    if (!is_beyond(entries(&topic->now), retain->count + retain->count / 4) &&
        !is_beyond(topic->now.bytes, retain->bytes + retain->bytes / 4))
        return SQLITE_OK;
    code = shorten(retain, &topic->now);
    return code == SQLITE_OK ? forget(retain, topic->now.row, (int64_t)topic->now.first)
                             : code;
}

/*
 * Finds the last entry that is old, of those from `passed` on; 0 = there is none.
 *
 * count    entries up to that one
 * looked   the last one looked at, when that was not enough to know; 0 = it was
 */
static int find_old(struct retain *retain, int64_t before_ms, int64_t *seq, size_t *count,
                    int64_t *looked)
{
    int64_t numbers[] = {retain->passed, RETAIN_ROWS_MAX};
    int code = statement_say_numbers(retain->eldest, numbers, 2);
    size_t rows = 0;

    *seq = *looked = 0;
    *count = 0;
    while (code == SQLITE_OK && (code = sqlite3_step(retain->eldest)) == SQLITE_ROW) {
        int64_t at = sqlite3_column_int64(retain->eldest, 0);
        int64_t wall_ms = sqlite3_column_int64(retain->eldest, 1);
        bool is_old = wall_ms < before_ms || at <= retain->old_to;

        if (!is_old && wall_ms <= before_ms + retain->age_ms)
            break;
        rows++;
        if (is_old) {
            *seq = at;
            *count = rows;
        }
        if (rows == RETAIN_ROWS_MAX)
            *looked = at;
        code = SQLITE_OK;
    }
    (void)sqlite3_reset(retain->eldest);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

/*
 * Topics begin behind what is deleted: runs a statement that knows where. Those that are then empty
 * go, unless they are open; open ones are to be looked at again.
 */
static int advance(struct retain *retain, const struct open_topics *table,
                   sqlite3_stmt *statement)
{
    int code;

    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct open_topic *open = open_topics_find(table, statement_text(statement, 1));

        code = SQLITE_OK;
        if (open)
            open->stale = true;
        else if (sqlite3_column_int(statement, 2))
            code = retain_remove(retain, sqlite3_column_int64(statement, 0));
        if (code != SQLITE_OK)
            break;
    }
    (void)sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int retain_young(struct retain *retain, const struct open_topics *table, int64_t before_ms,
                 size_t *deleted)
{
    bool from_first = retain->passed == 0;
    int64_t seq, looked;
    int code = find_old(retain, before_ms, &seq, deleted, &looked);

    if (code == SQLITE_OK) {
        retain->more = looked > 0 || (seq > 0 && !from_first);
        retain->passed = seq > 0 ? 0 : looked;
    }
    if (code != SQLITE_OK || seq == 0 || !from_first) {
        retain->old_to = code == SQLITE_OK && seq > 0 ? seq : retain->old_to;
        *deleted = 0; /* from the first one on, the next time */
        return code;
    }
    if (seq >= retain->old_to)
        retain->old_to = 0; /* SQLite may use the numbers again */
    code = sqlite3_bind_int64(retain->advance, 1, seq);
    if (code == SQLITE_OK)
        code = advance(retain, table, retain->advance);
    return code == SQLITE_OK ? delete_entries(retain, retain->purged, retain->purge, &seq, 1)
                             : code;
}

/* A cut: the topic, the serial with which it begins then, and what goes. */
struct cut {
    int64_t topic, first, bytes, rows;
};

/* Finds the topic of the largest holder that is cut, and where; no rows when there is none. */
static int find_cut(struct retain *retain, const int64_t wanted[2], struct cut *cut)
{
    int code = statement_say_numbers(retain->cut, wanted, 2);

    if (code == SQLITE_OK)
        code = statement_say_text(retain->cut, 3, mx_holders_largest(&retain->holders));
    if (code == SQLITE_OK && (code = sqlite3_step(retain->cut)) == SQLITE_ROW)
        *cut = (struct cut){
            sqlite3_column_int64(retain->cut, 0), sqlite3_column_int64(retain->cut, 1),
            sqlite3_column_int64(retain->cut, 2), sqlite3_column_int64(retain->cut, 3)};
    (void)sqlite3_reset(retain->cut);
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

int retain_cut(struct retain *retain, const struct open_topics *table, uint64_t bytes)
{
    int64_t left[2] = {(int64_t)bytes, RETAIN_CUT_ROWS_MAX};
    struct cut cut = {.rows = 1};
    int code = SQLITE_OK;

    while (code == SQLITE_OK && cut.rows > 0 && left[0] > 0 && left[1] > 0) {
        code = find_cut(retain, left, &cut);
        if (code == SQLITE_OK)
            code = forget(retain, cut.topic, cut.first);
        if (code == SQLITE_OK)
            code = statement_say_numbers(retain->shift,
                                         (int64_t[]){cut.topic, cut.first, cut.bytes}, 3);
        if (code == SQLITE_OK)
            code = advance(retain, table, retain->shift);
        left[0] -= cut.bytes;
        left[1] -= cut.rows;
    }
    return code == SQLITE_OK && left[1] == RETAIN_CUT_ROWS_MAX ? SQLITE_FULL : code;
}

int retain_remove(struct retain *retain, int64_t topic)
{
    int code = statement_say_numbers(retain->remove, &topic, 1);

    return code == SQLITE_OK ? statement_finish(retain->remove) : code;
}
