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
        {"DELETE FROM entry WHERE topic = ?1 AND serial < ?2 RETURNING owner, length(text)",
         &retain->forget},
        {"SELECT seq, wall_ms FROM entry WHERE seq > ?1 ORDER BY seq LIMIT ?2",
         &retain->eldest},
        {"UPDATE topic SET first_serial = gone.last + 1, bytes = bytes - gone.size "
         "FROM (SELECT topic AS id, max(serial) AS last, sum(length(text)) AS size "
         "FROM entry WHERE seq <= ?1 GROUP BY topic) AS gone "
         "WHERE topic.topic = gone.id "
         "RETURNING topic, name, first_serial > last_serial",
         &retain->advance},
        {"UPDATE topic SET first_serial = ?2, bytes = bytes - ?3 WHERE topic = ?1 "
         "RETURNING topic, name, first_serial > last_serial",
         &retain->shift},
        {"DELETE FROM entry WHERE seq <= ?1 RETURNING owner, length(text)", &retain->purge},
        {"DELETE FROM topic WHERE topic = ?1", &retain->remove},
    };
    int code;

    *retain = (struct retain){.count = config->history_count,
                              .bytes = config->history_bytes,
                              .age_ms = config->history_age_ms};
    code = statements_make(db, rows, sizeof rows / sizeof *rows);
    return code == SQLITE_OK
               ? holdings_init(&retain->holdings, db, config->bytes_per_participant)
               : code;
}

/* Deletes a topic's entries before `first`. */
static int forget(struct retain *retain, int64_t topic, uint64_t first)
{
    uint64_t bytes = 0;
    int code = statement_say_numbers(retain->forget, (int64_t[]){topic, (int64_t)first}, 2);

    return code == SQLITE_OK ? holdings_delete(&retain->holdings, retain->forget, &bytes)
                             : code;
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
    return code == SQLITE_OK ? forget(retain, topic->now.row, topic->now.first) : code;
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
    uint64_t bytes = 0;
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
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(retain->purge, 1, seq);
    return code == SQLITE_OK ? holdings_delete(&retain->holdings, retain->purge, &bytes)
                             : code;
}

/* What retain_cut may still delete. */
struct cut {
    uint64_t bytes;
    size_t rows;
};

/* Finds the serial with which a topic begins after a cut, and the bytes that go. */
static int find_cut(struct retain *retain, int64_t topic, struct cut *left, uint64_t *first,
                    uint64_t *bytes)
{
    int code = sqlite3_bind_int64(retain->oldest, 1, topic);

    while (code == SQLITE_OK && left->bytes > 0 && left->rows > 0 &&
           (code = sqlite3_step(retain->oldest)) == SQLITE_ROW) {
        uint64_t size = (uint64_t)sqlite3_column_int64(retain->oldest, 1);

        *first = (uint64_t)sqlite3_column_int64(retain->oldest, 0) + 1;
        *bytes += size;
        left->bytes -= size < left->bytes ? size : left->bytes;
        left->rows--;
        code = SQLITE_OK;
    }
    (void)sqlite3_reset(retain->oldest);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int cut_topic(struct retain *retain, const struct open_topics *table, int64_t topic,
                     struct cut *left)
{
    uint64_t first = 0, bytes = 0;
    int code = find_cut(retain, topic, left, &first, &bytes);

    if (code == SQLITE_OK)
        code = statement_say_numbers(retain->shift,
                                     (int64_t[]){topic, (int64_t)first, (int64_t)bytes}, 3);
    if (code == SQLITE_OK && first > 0)
        code = advance(retain, table, retain->shift);
    return code == SQLITE_OK ? forget(retain, topic, first) : code;
}

int retain_cut(struct retain *retain, const struct open_topics *table, uint64_t bytes)
{
    struct cut left = {bytes, RETAIN_CUT_ROWS_MAX};
    size_t rows;
    int64_t topic;
    int code;

    do {
        rows = left.rows;
        code = holdings_largest(&retain->holdings, &topic);
        if (code == SQLITE_OK && topic > 0)
            code = cut_topic(retain, table, topic, &left);
    } while (code == SQLITE_OK && left.rows < rows && left.rows > 0 && left.bytes > 0);
    return code == SQLITE_OK && left.rows == RETAIN_CUT_ROWS_MAX ? SQLITE_FULL : code;
}

int retain_remove(struct retain *retain, int64_t topic)
{
    int code = statement_say_numbers(retain->remove, &topic, 1);

    return code == SQLITE_OK ? statement_finish(retain->remove) : code;
}
