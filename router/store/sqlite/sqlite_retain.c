/*
 * sqlite_retain.c - a deletion for each entry would double the work of a busy topic, so a quarter
 * of its bound is deleted at once. The order of `seq` is the order of time, so entries above the
 * maximum age are at the beginning of the table.
 *
 * A wall clock may be set, so entries of this start age by the monotonic clock. After the wall
 * clock was set back, entries of earlier starts have times in the future. They count as old as the
 * entry behind them: else they would keep all later entries for ever.
 *
 * A topic without entries keeps its row, and so its epoch and serials, for as long as the hub has
 * it. Therefore the writer must know the open topics.
 */
#include "router/store/sqlite/sqlite_retain.h"

#include <sqlite3.h>
#include <stdlib.h>

/* ---- open topics ---- */

void open_topics_init(struct open_topics *table)
{
    *table = (struct open_topics){0};
    sqlite3_randomness(sizeof table->key, &table->key);
    list_init(&table->all);
    list_init(&table->changed);
}

void open_topics_fini(struct open_topics *table)
{
    LIST_EACH(link, &table->all)
        open_topics_drop(table, LIST_ELEMENT(link, struct open_topic, link));
    mx_map_fini(&table->map);
}

struct open_topic *open_topics_find(const struct open_topics *table, struct mcpx_slice name)
{
    return mx_map_find(&table->map, mx_map_hash(table->key, name),
                       offsetof(struct open_topic, name), name);
}

struct open_topic *open_topics_get(struct open_topics *table, struct mcpx_slice name)
{
    struct open_topic *topic = open_topics_find(table, name);

    if (topic || !mx_map_reserve(&table->map))
        return topic;
    topic = malloc(sizeof *topic + name.len);
    if (!topic)
        return NULL;
    *topic = (struct open_topic){
        .name = {(char *)(topic + 1), name.len}, .stale = true, .added.key = table->key};
    memcpy(topic + 1, name.text, name.len);
    list_init(&topic->changed);
    list_append(&table->all, &topic->link);
    mx_map_put(&table->map, mx_map_hash(table->key, name), (uint64_t)(uintptr_t)topic);
    return topic;
}

void open_topics_drop(struct open_topics *table, struct open_topic *topic)
{
    mx_map_remove(&table->map, mx_map_hash(table->key, topic->name),
                  (uint64_t)(uintptr_t)topic);
    list_remove(&topic->changed);
    list_remove(&topic->link);
    mx_holders_fini(&topic->added);
    free(topic);
}

void open_topics_settle(struct open_topics *table, bool committed)
{
    LIST_EACH(link, &table->changed) {
        LIST_ELEMENT(link, struct open_topic, changed)->stale |= !committed;
        list_remove(link);
    }
}

/* ---- retention ---- */

/* The clocks must agree for STEADY_MS, and differ by at most SLACK_MS between two looks. */
enum { STEADY_MS = 3600000, SLACK_MS = 1000 };

/* A higher `seq` is damaged: the entries behind it would run out of numbers. */
#define SEQ_MAX "0x3fffffffffffffff"

int retain_init(struct retain *retain, struct sqlite3 *db, const struct store_config *config)
{
    const struct statement rows[] = {
        {"SELECT serial, length(text), owner FROM entry WHERE topic = ?1 ORDER BY serial",
         &retain->oldest},
        {"DELETE FROM entry WHERE topic = ?1 AND serial < ?2", &retain->forget},
        {"SELECT seq, wall_ms FROM entry WHERE seq > ?1 ORDER BY seq LIMIT ?2",
         &retain->eldest},
        {"SELECT topic, max(serial) + 1, sum(length(text)), owner FROM entry NOT INDEXED"
         " WHERE seq <= ?1 GROUP BY topic, owner",
         &retain->purged},
        {"DELETE FROM entry WHERE seq <= ?1", &retain->purge},
        {"DELETE FROM topic WHERE topic = ?1", &retain->remove},
        {"SELECT owner, sum(bytes), sum(one) FROM (SELECT owner, bytes, 0 AS one FROM held"
         " UNION ALL SELECT owner, length(text), 1 FROM topic CROSS JOIN entry USING (topic)"
         " WHERE serial > counted_serial) GROUP BY owner",
         &retain->sums}, /* CROSS: topics first */
        {"INSERT INTO held (topic, bytes, owner) VALUES (?1, ?2, ?3) "
         "ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes",
         &retain->change},
        {"INSERT INTO held (topic, bytes, owner) SELECT ?1, sum(length(text)), owner"
         " FROM entry WHERE topic = ?1 AND serial > ?2 GROUP BY owner"
         " ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes",
         &retain->count_rest},
        {"UPDATE held SET bytes = bytes - ?2 WHERE topic = ?1 AND owner = ?3",
         &retain->lessen},
        {"DELETE FROM held WHERE topic = ?1 AND owner = ?3 AND bytes <= ?2", &retain->drop},
        {"SELECT " EXTENT_COLUMNS " FROM topic WHERE topic = (SELECT topic FROM held"
         " WHERE owner = ?1 ORDER BY bytes DESC LIMIT 1)",
         &retain->fullest},
        {"UPDATE topic SET first_serial = max(first_serial, ?2), bytes = bytes - ?3,"
         " counted_serial = max(counted_serial, ?2 - 1)"
         " WHERE topic = ?1 RETURNING topic, name, first_serial > last_serial",
         &retain->shift},
    };

    *retain = (struct retain){.count = config->history_count,
                              .bytes = config->history_bytes,
                              .age_ms = config->history_age_ms,
                              .holders.cap = config->bytes_per_participant,
                              .recount = true};
    sqlite3_randomness(sizeof retain->holders.key, &retain->holders.key);
    retain->last = schema_ask(db, "SELECT max(seq) FROM entry WHERE seq < " SEQ_MAX);
    if (retain->last < 0)
        retain->last = 0;
    retain->begun = retain->last;
    return statements_make(db, rows, sizeof rows / sizeof *rows);
}

int retain_count(struct retain *retain)
{
    int code = SQLITE_DONE;

    if (!retain->recount)
        return SQLITE_OK;
    mx_holders_fini(&retain->holders);
    mx_holders_fini(&retain->gone);
    retain->uncounted = 0;
    while ((code = sqlite3_step(retain->sums)) == SQLITE_ROW) {
        retain->uncounted += sqlite3_column_int64(retain->sums, 2);
        if (!mx_holders_add(&retain->holders, statement_text(retain->sums, 0),
                            (uint64_t)sqlite3_column_int64(retain->sums, 1))) {
            code = SQLITE_NOMEM;
            break;
        }
    }
    (void)sqlite3_reset(retain->sums);
    retain->recount = code != SQLITE_DONE;
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* ---- bytes of each owner in a topic ---- */

static int change_held(sqlite3_stmt *statement, int64_t topic, struct mcpx_slice owner,
                       uint64_t bytes)
{
    return statement_run(statement, (int64_t[]){topic, (int64_t)bytes}, 2, &owner, 1);
}

/* Writes a topic's missing counts to `held`. Owners with a row there keep one byte in `added`. */
static int count_rest(struct retain *retain, struct open_topic *topic)
{
    struct extent *now = &topic->now;
    int code = SQLITE_OK;

    if (topic->added_count != now->last - now->counted) {
        code = statement_run(retain->count_rest, (int64_t[]){now->row, (int64_t)now->counted},
                             2, NULL, 0);
        mx_holders_fini(&topic->added);
    }
    while (code == SQLITE_OK && topic->added.held > topic->added.count) {
        struct mcpx_slice owner = mx_holders_largest(&topic->added);
        uint64_t bytes = mx_holders_held(&topic->added, owner) - 1;

        code = change_held(retain->change, now->row, owner, bytes);
        mx_holders_remove(&topic->added, owner, bytes);
    }
    retain->uncounted -= (int64_t)(now->last - now->counted);
    topic->is_due = false;
    topic->added_count = 0;
    now->counted = now->last;
    return code;
}

int retain_add(struct retain *retain, struct open_topic *topic, struct mcpx_slice owner,
               uint64_t bytes)
{
    size_t owners = topic->added.count;

    topic->added_count++;
    retain->uncounted++;
    if (!mx_holders_add(&retain->holders, owner, bytes) ||
        !mx_holders_add(&topic->added, owner, bytes))
        return SQLITE_NOMEM;
    if (topic->added.count == owners)
        return SQLITE_OK;
    topic->is_due = true;
    return mx_holders_add(&topic->added, owner, 1) ? SQLITE_OK : SQLITE_NOMEM;
}

/*
 * Subtracts deleted bytes from the counts. Deletions start at a topic's first entry, so all counted
 * entries go before any that `held` lacks.
 */
static int take(struct retain *retain, int64_t topic, struct mcpx_slice owner, uint64_t bytes)
{
    int code = change_held(retain->drop, topic, owner, bytes);

    if (code == SQLITE_OK)
        code = change_held(retain->lessen, topic, owner, bytes);
    mx_holders_remove(&retain->holders, owner, bytes);
    retain->took = true;
    return code;
}

/* ---- the oldest of one topic ---- */

/* Takes the next oldest entry out of the extent, and adds its bytes to `gone`. */
static int give_up(struct retain *retain, struct extent *extent)
{
    int code = sqlite3_step(retain->oldest);
    uint64_t bytes = (uint64_t)sqlite3_column_int64(retain->oldest, 1);

    if (code != SQLITE_ROW)
        return code == SQLITE_DONE ? SQLITE_CORRUPT : code;
    if (!mx_holders_add(&retain->gone, statement_text(retain->oldest, 2), bytes))
        return SQLITE_NOMEM;
    extent->first = (uint64_t)sqlite3_column_int64(retain->oldest, 0) + 1;
    extent->bytes -= bytes;
    return SQLITE_OK;
}

static int forget(struct retain *retain, const struct extent *extent)
{
    int code = SQLITE_OK;

    (void)sqlite3_reset(retain->oldest);
    while (code == SQLITE_OK && retain->gone.count > 0) {
        struct mcpx_slice owner = mx_holders_largest(&retain->gone);
        uint64_t bytes = mx_holders_held(&retain->gone, owner);

        code = take(retain, extent->row, owner, bytes);
        mx_holders_remove(&retain->gone, owner, bytes);
    }
    if (code != SQLITE_OK)
        return code;
    return statement_run(retain->forget, (int64_t[]){extent->row, (int64_t)extent->first}, 2,
                         NULL, 0);
}

static uint64_t entries(const struct extent *extent)
{
    return extent->last + 1 - extent->first;
}

static bool is_beyond(uint64_t value, uint64_t bound)
{
    return bound > 0 && value > bound;
}

static bool is_to_count(const struct retain *retain, const struct open_topic *topic)
{
    uint64_t most = retain->uncounted < COUNT_ALL ? COUNT_MOST : COUNT_FEW;

    return topic->is_due || topic->now.last - topic->now.counted >= most ||
           topic->added.held >= COUNT_BYTES;
}

/* The newest entry stays, even when it is beyond the bounds. */
int retain_newest(struct retain *retain, struct open_topic *topic)
{
    struct extent *now = &topic->now;
    bool is_much = is_beyond(entries(now), retain->count + retain->count / 4) ||
                   is_beyond(now->bytes, retain->bytes + retain->bytes / 4);
    int code = SQLITE_OK;

    if (is_much || is_to_count(retain, topic))
        code = count_rest(retain, topic);
    if (code != SQLITE_OK || !is_much)
        return code;
    mx_holders_fini(&topic->added); /* rows of `held` may go */
    code = sqlite3_bind_int64(retain->oldest, 1, now->row);
    while (code == SQLITE_OK && now->first < now->last &&
           (is_beyond(entries(now), retain->count) || is_beyond(now->bytes, retain->bytes)))
        code = give_up(retain, now);
    return code == SQLITE_OK ? forget(retain, now) : code;
}

/* Notes since when the wall clock has not been set. True when that is long enough. */
static bool is_steady(struct retain *retain, int64_t mono_ms, int64_t ahead_ms)
{
    if (llabs(ahead_ms - retain->ahead_ms) > SLACK_MS)
        retain->steady_from_ms = mono_ms;
    retain->ahead_ms = ahead_ms;
    return mono_ms - retain->steady_from_ms >= STEADY_MS;
}

/* Sets a mark now and then. Entries up to a mark are old once it is as old as the maximum age. */
static void pass_marks(struct retain *retain, int64_t mono_ms)
{
    struct retain_mark *marks = retain->marks;
    size_t passed = 0;

    while (passed < retain->mark_count && mono_ms - marks[passed].mono_ms >= retain->age_ms)
        retain->old_to = marks[passed++].seq;
    retain->mark_count -= passed;
    memmove(marks, marks + passed, retain->mark_count * sizeof *marks);
    if (retain->mark_count == 0 ||
        mono_ms - marks[retain->mark_count - 1].mono_ms > retain->age_ms / RETAIN_MARKS)
        marks[retain->mark_count++] = (struct retain_mark){mono_ms, retain->last};
}

/*
 * Finds the last old entry, from `passed` on; 0 = none.
 *
 * wall_ms   the wall clock; 0 = it cannot be trusted
 * count     entries up to that one
 * looked    the last of RETAIN_ROWS_MAX entries read; 0 = fewer were read
 */
static int find_old(struct retain *retain, int64_t wall_ms, int64_t *seq, size_t *count,
                    int64_t *looked)
{
    int64_t numbers[] = {retain->passed, RETAIN_ROWS_MAX};
    int code = statement_say_numbers(retain->eldest, numbers, 2);
    size_t rows = 0;

    *seq = *looked = 0;
    *count = 0;
    while (code == SQLITE_OK && (code = sqlite3_step(retain->eldest)) == SQLITE_ROW) {
        int64_t at = sqlite3_column_int64(retain->eldest, 0);
        int64_t at_ms = sqlite3_column_int64(retain->eldest, 1);
        bool has_time = wall_ms && at <= retain->begun;
        bool is_old = at <= retain->old_to || (has_time && at_ms < wall_ms - retain->age_ms);

        if (!is_old && !(has_time && at_ms > wall_ms))
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
 * Moves the beginning of a topic behind its deleted entries. An empty topic is deleted unless it is
 * open; an open one becomes stale.
 */
static int advance(struct retain *retain, const struct open_topics *table,
                   const int64_t numbers[3])
{
    int code = statement_say_numbers(retain->shift, numbers, 3);
    bool is_empty = false;

    if (code == SQLITE_OK && (code = sqlite3_step(retain->shift)) == SQLITE_ROW) {
        struct open_topic *open = open_topics_find(table, statement_text(retain->shift, 1));

        if (open)
            open->stale = true;
        is_empty = !open && sqlite3_column_int(retain->shift, 2);
        code = sqlite3_step(retain->shift);
    }
    (void)sqlite3_reset(retain->shift);
    if (code != SQLITE_DONE)
        return code;
    return is_empty ? retain_remove(retain, numbers[0]) : SQLITE_OK;
}

static int purge(struct retain *retain, const struct open_topics *table, int64_t seq)
{
    sqlite3_stmt *purged = retain->purged;
    int code = sqlite3_bind_int64(purged, 1, seq);

    while (code == SQLITE_OK && (code = sqlite3_step(purged)) == SQLITE_ROW) {
        int64_t numbers[3];

        for (int i = 0; i < 3; i++)
            numbers[i] = sqlite3_column_int64(purged, i);
        code = take(retain, numbers[0], statement_text(purged, 3), (uint64_t)numbers[2]);
        if (code == SQLITE_OK)
            code = advance(retain, table, numbers);
    }
    (void)sqlite3_reset(purged);
    return code == SQLITE_DONE ? statement_run(retain->purge, &seq, 1, NULL, 0) : code;
}

int retain_young(struct retain *retain, const struct open_topics *table, struct mcpx_now now,
                 size_t *deleted)
{
    bool from_first = retain->passed == 0;
    int64_t seq, looked;
    int code;

    pass_marks(retain, now.mono_ms);
    if (!is_steady(retain, now.mono_ms, now.wall_ms - now.mono_ms))
        now.wall_ms = 0;
    code = find_old(retain, now.wall_ms, &seq, deleted, &looked);
    if (code == SQLITE_OK) {
        retain->more = looked > 0 || (seq > 0 && !from_first);
        retain->passed = seq > 0 ? 0 : looked;
    }
    if (code != SQLITE_OK || seq == 0 || !from_first) {
        retain->old_to = code == SQLITE_OK && seq > retain->old_to ? seq : retain->old_to;
        *deleted = 0; /* the next call begins at the first entry */
        return code;
    }
    return purge(retain, table, seq);
}

/* Finds the topic in which the largest holder has most. No row: SQLITE_DONE. */
static int find_fullest(struct retain *retain, struct extent *extent)
{
    sqlite3_stmt *fullest = retain->fullest;
    int code = statement_say_text(fullest, 1, mx_holders_largest(&retain->holders));

    if (code == SQLITE_OK && (code = sqlite3_step(fullest)) == SQLITE_ROW)
        *extent = extent_of(fullest);
    (void)sqlite3_reset(fullest);
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

int retain_cut(struct retain *retain, const struct open_topics *table, uint64_t bytes)
{
    uint64_t rows = 0;
    int code = SQLITE_OK;

    while (code == SQLITE_OK && bytes > 0 && rows < RETAIN_CUT_ROWS_MAX) {
        struct extent extent = {0}, before;

        code = find_fullest(retain, &extent);
        if (code == SQLITE_OK && extent.first > extent.last)
            code = SQLITE_CORRUPT; /* the topic has no entries */
        if (code != SQLITE_OK)
            break;
        before = extent;
        code = sqlite3_bind_int64(retain->oldest, 1, extent.row);
        for (; code == SQLITE_OK && extent.first <= extent.last &&
               before.bytes - extent.bytes < bytes && rows < RETAIN_CUT_ROWS_MAX;
             rows++)
            code = give_up(retain, &extent);
        if (code == SQLITE_OK)
            code = forget(retain, &extent);
        before.bytes -= extent.bytes;
        bytes -= before.bytes < bytes ? before.bytes : bytes;
        if (code == SQLITE_OK)
            code =
                advance(retain, table,
                        (int64_t[]){extent.row, (int64_t)extent.first, (int64_t)before.bytes});
    }
    if (code == SQLITE_DONE)
        return rows == 0 ? SQLITE_FULL : SQLITE_OK;
    return code;
}

int retain_remove(struct retain *retain, int64_t topic)
{
    return statement_run(retain->remove, &topic, 1, NULL, 0);
}
