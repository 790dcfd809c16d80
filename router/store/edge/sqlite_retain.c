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

int retain_init(struct retain *retain, struct sqlite3 *db, const struct store_config *config)
{
    const struct statement rows[] = {
        {"SELECT serial, length(text) FROM entry WHERE topic = ?1 ORDER BY serial",
         &retain->oldest},
        {"DELETE FROM entry WHERE topic = ?1 AND serial < ?2", &retain->forget},
        {"SELECT seq, wall_ms FROM entry WHERE seq > ?1 ORDER BY seq LIMIT ?2",
         &retain->eldest},
        {"UPDATE topic SET first_serial = gone.last + 1, bytes = bytes - gone.size "
         "FROM (SELECT topic AS id, max(serial) AS last, sum(length(text)) AS size "
         "FROM entry WHERE seq <= ?1 GROUP BY topic) AS gone "
         "WHERE topic.topic = gone.id "
         "RETURNING topic, name, first_serial > last_serial",
         &retain->advance},
        {"DELETE FROM entry WHERE seq <= ?1", &retain->purge},
        {"DELETE FROM topic WHERE topic = ?1", &retain->remove},
    };

    *retain = (struct retain){.count = config->history_count,
                              .bytes = config->history_bytes,
                              .age_ms = config->history_age_ms};
    return statements_make(db, rows, sizeof rows / sizeof *rows);
}

/* Runs a statement that has one number to be told, and no rows to give. */
static int run_with(sqlite3_stmt *statement, int64_t number)
{
    int code = statement_say_numbers(statement, &number, 1);

    return code == SQLITE_OK ? statement_finish(statement) : code;
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
    int code;

    if (!is_beyond(entries(&topic->now), retain->count + retain->count / 4) &&
        !is_beyond(topic->now.bytes, retain->bytes + retain->bytes / 4))
        return SQLITE_OK;
    code = shorten(retain, &topic->now);
    if (code != SQLITE_OK)
        return code;
    code = statement_say_numbers(retain->forget,
                                 (int64_t[]){topic->now.row, (int64_t)topic->now.first}, 2);
    return code == SQLITE_OK ? statement_finish(retain->forget) : code;
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

/* Topics begin behind the entries up to `seq`; those that are then empty go, unless open. */
static int advance(struct retain *retain, const struct open_topics *table, int64_t seq)
{
    int code = sqlite3_bind_int64(retain->advance, 1, seq);

    while (code == SQLITE_OK && (code = sqlite3_step(retain->advance)) == SQLITE_ROW) {
        code = SQLITE_OK;
        if (sqlite3_column_int(retain->advance, 2) &&
            !open_topics_find(table, statement_text(retain->advance, 1)))
            code = retain_remove(retain, sqlite3_column_int64(retain->advance, 0));
    }
    (void)sqlite3_reset(retain->advance);
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
    code = advance(retain, table, seq);
    return code == SQLITE_OK ? run_with(retain->purge, seq) : code;
}

int retain_remove(struct retain *retain, int64_t topic)
{
    return run_with(retain->remove, topic);
}
