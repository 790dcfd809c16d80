/*
 * test_sqlite_write.c - what the writer knows of topics that are open, without its thread: each
 * step happens when the test says so.
 */
#include "router/store/edge/sqlite.h"
#include "router/store/edge/sqlite_schema.h"
#include "tests/unit/store/keeper.h"

#include <criterion/criterion.h>
#include <sqlite3.h>

static struct keeper keeper;
static struct sqlite3 *db;
static struct writer *writer;

static void begin(void)
{
    keeper_init(&keeper);
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

/* Stores messages of a topic, as if they had been accepted in the year 1970 or now. */
static void store(const char *topic, size_t count, bool old)
{
    struct submission messages[20];
    struct stage_report report = {0};
    struct batch batch = {.count = count};

    list_init(&batch.items);
    list_init(&batch.oneways);
    for (size_t i = 0; i < count; i++) {
        messages[i] = keeper_message(&keeper, topic, "text");
        messages[i].wall_ms = old ? 1000 : messages[i].wall_ms;
        list_init(&messages[i].link);
        list_append(&batch.items, &messages[i].link);
    }
    writer_store(writer, &batch, &report);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(messages[i].rejection.err, MCPX_OK, "%s", report.reason);
}

static void upkeep(void)
{
    struct stage_report report = {0};

    (void)writer_upkeep(writer, true, &report);
    cr_assert_eq(report.state, STAGE_READY, "%s", report.reason);
}

Test(sqlite_write, an_open_topic_goes_on_with_its_serials_when_all_its_entries_have_gone)
{
    cr_assert(writer_open(writer, MCPX_SLICE("a")));
    store("a", 10, true);
    upkeep();
    cr_expect_eq(keeper_ask(&keeper, "SELECT count(*) FROM entry"), 0);
    cr_expect_eq(
        keeper_ask(&keeper, "SELECT first_serial = 11 AND last_serial = 10 FROM topic"), 1);
    store("a", 1, false);
    cr_expect_eq(keeper_ask(&keeper, "SELECT serial FROM entry"), 11);
    cr_expect_eq(keeper_ask(&keeper, "SELECT bytes FROM topic"), 4);
}

Test(sqlite_write, an_empty_topic_goes_when_it_is_closed)
{
    cr_assert(writer_open(writer, MCPX_SLICE("a")));
    store("a", 10, true);
    upkeep();
    cr_expect_eq(keeper_ask(&keeper, "SELECT count(*) FROM topic"), 1);
    writer_close(writer, MCPX_SLICE("a"));
    cr_expect_eq(keeper_ask(&keeper, "SELECT count(*) FROM topic"), 0);
    cr_assert(writer_open(writer, MCPX_SLICE("a")));
    store("a", 1, false);
    cr_expect_eq(keeper_ask(&keeper, "SELECT serial FROM entry"), 1, "it begins anew");
}

Test(sqlite_write, a_topic_with_entries_stays_when_it_is_closed)
{
    store("a", 10, false);
    writer_close(writer, MCPX_SLICE("a"));
    writer_close(writer, MCPX_SLICE("never seen"));
    store("a", 1, false);
    cr_expect_eq(keeper_ask(&keeper, "SELECT max(serial) FROM entry"), 11);
}

Test(sqlite_write, what_is_too_old_goes_up_to_what_is_not)
{
    store("old", 10, true);
    writer_close(writer, MCPX_SLICE("old"));
    store("mixed", 10, true);
    store("mixed", 5, false);
    store("mixed", 3, true);
    upkeep();
    cr_expect_eq(keeper_ask(&keeper, "SELECT count(*) FROM topic"), 1);
    cr_expect_eq(keeper_ask(&keeper, "SELECT count(*) FROM entry"), 8);
    cr_expect_eq(keeper_ask(&keeper, "SELECT first_serial = 11 AND bytes = 32 FROM topic"), 1);
}

Test(sqlite_write, what_is_written_ahead_is_brought_in_before_it_grows_large)
{
    cr_assert_eq(schema_run(db, "PRAGMA synchronous = OFF"), SQLITE_OK);
    for (int i = 0; i < 2000; i++) {
        store("a", 1, false);
        upkeep();
    }
    cr_expect_lt(keeper_size(&keeper, "-wal"), 8 << 20, "%lld", keeper_size(&keeper, "-wal"));
    cr_expect_gt(keeper_size(&keeper, ""), 40000);
}
