/*
 * test_sqlite_write.c - what the writer knows of topics that are open, without its thread: each
 * step happens when the test says so, and it is as late as the test says.
 */
#include "lib/edge/timer.h"
#include "router/store/sqlite/sqlite.h"
#include "router/store/sqlite/sqlite_schema.h"
#include "tests/unit/store/keeper.h"

#include <criterion/criterion.h>
#include <sqlite3.h>

static struct sqlite3 *db;
static struct writer *writer;

enum { MINUTE_MS = 60000, HOUR_MS = 60 * MINUTE_MS, DAY_MS = 24 * HOUR_MS };

static const int64_t today_ms = 1795303080000;
static int64_t mono_ms, wall_ms;

/* In the place of lib/edge/timer.c. */
uint64_t mx_clock_us(void)
{
    return (uint64_t)mono_ms * 1000;
}

struct mcpx_now mx_clock_now(void)
{
    return (struct mcpx_now){mono_ms, wall_ms};
}

static void begin(void)
{
    mono_ms = HOUR_MS;
    wall_ms = today_ms;
    keeper_init(&keeper);
    keeper.config.history_age_ms = DAY_MS;
    cr_assert_eq(schema_open(&keeper.config, &keeper.errors, &db), MCPX_OK, "%s",
                 keeper.errors.text);
    cr_assert_eq(writer_new(db, &keeper.config, &writer), MCPX_OK);
}

static void end(void)
{
    writer_free(writer);
    (void)sqlite3_close(db);
    keeper_fini(&keeper);
}

TestSuite(sqlite_write, .init = begin, .fini = end);

/* Stores messages of a topic, as if they had been accepted at that time. */
static void store_at(int64_t at_ms, const char *topic, size_t count)
{
    struct submission messages[100];
    struct stage_report report = {0};

    while (count > 0) {
        struct batch batch = {.count = count < 100 ? count : 100};

        list_init(&batch.items);
        list_init(&batch.kept_items);
        for (size_t i = 0; i < batch.count; i++) {
            messages[i] = keeper_message(&keeper, topic, "text");
            messages[i].wall_ms = at_ms;
            list_init(&messages[i].link);
            list_append(&batch.items, &messages[i].link);
        }
        writer_store(writer, &batch, &report);
        for (size_t i = 0; i < batch.count; i++)
            cr_assert_eq(messages[i].rejection.err, MCPX_OK, "%s", report.reason);
        count -= batch.count;
    }
}

static void store(const char *topic, size_t count)
{
    store_at(wall_ms, topic, count);
}

static void upkeep(void)
{
    struct stage_report report = {0};

    (void)writer_upkeep(writer, true, &report);
    cr_assert_eq(report.state, STAGE_READY, "%s", report.reason);
}

/* So much time passes on both clocks, with what is done once a minute. */
static void pass(int64_t ms)
{
    for (; ms > 0; ms -= MINUTE_MS) {
        mono_ms += MINUTE_MS;
        wall_ms += MINUTE_MS;
        upkeep();
    }
}

static void restart(void)
{
    writer_free(writer);
    cr_assert_eq(writer_new(db, &keeper.config, &writer), MCPX_OK);
    upkeep();
}

static long long count_entries(void)
{
    return keeper_ask(&keeper, "SELECT count(*) FROM entry");
}

Test(sqlite_write, an_open_topic_goes_on_with_its_serials_when_all_its_entries_have_gone)
{
    cr_assert(writer_open(writer, MCPX_SLICE("a")));
    store("a", 10);
    pass(2 * DAY_MS);
    cr_expect_eq(count_entries(), 0);
    cr_expect_eq(
        keeper_ask(&keeper, "SELECT first_serial = 11 AND last_serial = 10 FROM topic"), 1);
    store("a", 1);
    cr_expect_eq(keeper_ask(&keeper, "SELECT serial FROM entry"), 11);
    cr_expect_eq(keeper_ask(&keeper, "SELECT bytes FROM topic"), 4);
}

Test(sqlite_write, an_empty_topic_goes_when_it_is_closed)
{
    cr_assert(writer_open(writer, MCPX_SLICE("a")));
    store("a", 10);
    pass(2 * DAY_MS);
    cr_expect_eq(keeper_ask(&keeper, "SELECT count(*) FROM topic"), 1);
    writer_close(writer, MCPX_SLICE("a"));
    cr_expect_eq(keeper_ask(&keeper, "SELECT count(*) FROM topic"), 0);
    cr_assert(writer_open(writer, MCPX_SLICE("a")));
    store("a", 1);
    cr_expect_eq(keeper_ask(&keeper, "SELECT serial FROM entry"), 1, "it begins anew");
}

Test(sqlite_write, a_topic_with_entries_stays_when_it_is_closed)
{
    store("a", 10);
    writer_close(writer, MCPX_SLICE("a"));
    writer_close(writer, MCPX_SLICE("never seen"));
    store("a", 1);
    cr_expect_eq(keeper_ask(&keeper, "SELECT max(serial) FROM entry"), 11);
}

Test(sqlite_write, what_is_too_old_goes_up_to_what_is_not)
{
    store_at(1000, "old", 2500);
    writer_close(writer, MCPX_SLICE("old"));
    store_at(1000, "mixed", 10);
    store("mixed", 5);
    store_at(1000, "mixed", 3);
    restart();
    pass(2 * HOUR_MS);
    cr_expect_eq(keeper_ask(&keeper, "SELECT count(*) FROM topic"), 1);
    cr_expect_eq(count_entries(), 8);
    cr_expect_eq(keeper_ask(&keeper, "SELECT first_serial = 11 AND bytes = 32 FROM topic"), 1);
    pass(DAY_MS);
    cr_expect_eq(count_entries(), 0);
}

/* A clock that was wrong for a day must not keep for ever what was to be forgotten. */
Test(sqlite_write, what_bears_a_time_to_come_is_as_old_as_what_follows_it)
{
    static const size_t counts[] = {5, 999, 1000, 2500}; /* before what is old */

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        store_at(4102444800000, "gone", counts[i]); /* 2100 */
        store_at(1000, "gone", 1);
        store_at(4102444800000, "half", 2);
        store("half", 1);
        restart();
        pass(2 * HOUR_MS);
        cr_expect_eq(count_entries(), 3, "%zu: %lld", counts[i], count_entries());
        writer_free(writer);
        keeper_run(&keeper, "DELETE FROM entry; DELETE FROM topic; DELETE FROM held");
        cr_assert_eq(writer_new(db, &keeper.config, &writer), MCPX_OK);
    }
}

/* What topics retain in memory, by a clock that is never set, has to be there after a restart. */
Test(sqlite_write, a_clock_that_is_set_deletes_nothing)
{
    static const struct {
        const char *name;
        int64_t at_first_ms, jump_ms,
            for_ms; /* then it is right again; 0 = it was wrong before */
    } rows[] = {
        {"ahead for two minutes", today_ms, 2 * DAY_MS, 2 * MINUTE_MS},
        {"ahead for ten hours", today_ms, 2 * DAY_MS, 10 * HOUR_MS},
        {"behind for ten hours", today_ms, -2 * DAY_MS, 10 * HOUR_MS},
        {"a machine without a battery begins in 1970", 5000, today_ms, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        end();
        begin();
        wall_ms = rows[i].at_first_ms;
        upkeep();
        store("a", 10);
        wall_ms += rows[i].jump_ms;
        store("a", 10);
        pass(rows[i].for_ms);
        if (rows[i].for_ms > 0)
            wall_ms -= rows[i].jump_ms;
        store("a", 10);
        pass(DAY_MS - rows[i].for_ms - HOUR_MS);
        cr_expect_eq(count_entries(), 30, "%s: %lld", rows[i].name, count_entries());
        pass(12 * HOUR_MS);
        cr_expect_eq(count_entries(), 0, "%s: %lld", rows[i].name, count_entries());
    }
}

/* At a start the wall clock alone knows how old something is, and it may not be set yet. */
Test(sqlite_write, a_start_believes_the_clock_after_an_hour)
{
    store_at(today_ms - 2 * DAY_MS, "a", 10);
    store("a", 1);
    wall_ms += 7 * DAY_MS;
    restart();
    pass(50 * MINUTE_MS);
    cr_expect_eq(count_entries(), 11, "%lld", count_entries());
    wall_ms -= 7 * DAY_MS;
    pass(HOUR_MS);
    cr_expect_eq(count_entries(), 11, "%lld", count_entries());
    pass(10 * MINUTE_MS);
    cr_expect_eq(count_entries(), 1, "%lld", count_entries());
}

Test(sqlite_write, what_is_written_ahead_is_brought_in_before_it_grows_large)
{
    cr_assert_eq(schema_run(db, "PRAGMA synchronous = OFF"), SQLITE_OK);
    for (int i = 0; i < 2000; i++) {
        store("a", 1);
        upkeep();
    }
    cr_expect_lt(keeper_size(&keeper, "-wal"), 8 << 20, "%lld", keeper_size(&keeper, "-wal"));
    cr_expect_gt(keeper_size(&keeper, ""), 40000);
}
