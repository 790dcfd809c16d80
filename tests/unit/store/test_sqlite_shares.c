/*
 * test_sqlite_shares.c - one database for all. What breaks here: a participant that stores all
 * there is room for, so that nobody's messages are taken any more; or one who is refused for what
 * others have, or for what has long gone.
 */
#include "lib/json/json_write.h"
#include "router/store/sqlite/sqlite_maintenance.h"
#include "router/store/sqlite/sqlite_schema.h"
#include "tests/unit/store/keeper.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 50, TEXT_MAX = 20000 };

static char text[TEXT_MAX];

static void begin(void)
{
    keeper_init(&keeper);
    keeper.config.full = false;
    memset(text, 'x', sizeof text);
}

TestSuite(sqlite_shares, .init = begin, .fini = keeper_end);

static void restart(void)
{
    keeper_close(&keeper);
    keeper_start();
}

static struct submission message(const char *from, const char *topic, size_t bytes)
{
    struct submission submission = keeper_message(&keeper, topic, "");

    submission.from = mcpx_slice_of(from);
    submission.text = (struct mcpx_slice){text, bytes};
    return submission;
}

static enum mcpx_err says(const char *from, const char *topic, size_t bytes)
{
    struct submission submission = message(from, topic, bytes);

    keeper_put(&keeper, &submission, 1);
    cr_expect(submission.rejection.err == MCPX_OK || submission.rejection.certain);
    return submission.rejection.err;
}

/* How many envelopes of a topic are there, without a hole. */
static size_t count_of(const char *topic)
{
    struct stored_topic_load *load = keeper_load(&keeper, topic);
    size_t count = load->count;

    cr_expect_eq(load->rejection.err, MCPX_OK, "%s: %s", topic, load->reason);
    return count;
}

/* What `held` and the entries that it lacks say of owners and topics is what is there. */
static void expect_counted(const char *when)
{
    cr_expect_eq(
        keeper_ask(&keeper,
                   "SELECT count(*) FROM (SELECT owner, topic, sum(bytes) FROM (SELECT"
                   " owner, topic, bytes FROM held UNION ALL SELECT owner, topic,"
                   " length(text) FROM entry JOIN topic USING (topic) WHERE serial >"
                   " counted_serial) GROUP BY 1, 2 EXCEPT SELECT owner, topic,"
                   " sum(length(text)) FROM entry GROUP BY 1, 2)"),
        0, "%s", when);
    cr_expect_eq(keeper_ask(&keeper, "SELECT (SELECT total(bytes) FROM topic) ="
                                     " (SELECT total(length(text)) FROM entry)"),
                 1, "%s", when);
}

Test(sqlite_shares, who_has_too_much_is_refused_and_nobody_else)
{
    struct submission batch[2];

    keeper.config.bytes_per_participant = 10000;
    keeper_start();
    for (int i = 0; i < 10; i++)
        cr_expect_eq(says(i % 2 ? "ann" : "ann~2", i % 3 ? "a" : "b", 1000), MCPX_OK, "%d", i);
    for (int run = 0; run < 2; run++) {
        cr_expect_eq(says("ann", "c", 1), MCPX_ESHARE, "also where she has said nothing");
        cr_expect_eq(says("ann~7", "a", 1), MCPX_ESHARE, "instances are one participant");
        batch[0] = message("ann", "a", 1);
        batch[1] = message("bob", "a", 1000);
        keeper_put(&keeper, batch, 2);
        cr_expect_eq(batch[0].rejection.err, MCPX_ESHARE);
        cr_expect_eq(batch[1].rejection.err, MCPX_OK);
        cr_expect_eq(keeper.report.state, STAGE_READY);
        restart();
    }
    cr_expect_eq(count_of("a") + count_of("b"), 12);
    cr_expect_eq(says("cid", "a", 10001), MCPX_ESHARE, "a single one");
}

Test(sqlite_shares, what_has_gone_is_given_back)
{
    mx_scoped_text errors = {0};
    struct maintenance *maintenance;
    uint64_t messages;

    keeper.config.bytes_per_participant = 15000;
    keeper.config.history_count = 10;
    keeper_start();
    for (int i = 0; i < 100; i++)
        cr_expect_eq(says("ann", "a", 1000), MCPX_OK, "%d", i);
    while (says("ann", "b", 1000) == MCPX_OK)
        ;
    keeper_close(&keeper);
    cr_assert_eq(maintenance_open(keeper.file, true, NULL, &errors, &maintenance), MCPX_OK,
                 "%s", errors.text);
    cr_assert_eq(maintenance_erase(maintenance, "a", &messages, &errors), MCPX_OK, "%s",
                 errors.text);
    maintenance_close(maintenance);
    keeper_start();
    cr_expect_eq(says("ann", "c", 1000 * messages), MCPX_OK);
    cr_expect_eq(says("ann", "c", 1000), MCPX_ESHARE);
    expect_counted("after erasing");
}

/* Entries are counted once in a while, and the router may end or fail, and entries go, before. */
Test(sqlite_shares, nobody_is_counted_twice_or_not_at_all)
{
    static const char *const names[] = {"ann", "bob", "cid", "dan", "eve~2"};
    static const uint64_t bounds[] = {10, 40, 1000};

    for (size_t row = 0; row < sizeof bounds / sizeof *bounds; row++) {
        keeper_fini(&keeper);
        begin();
        keeper.config.history_count = bounds[row];
        keeper.config.bytes_per_participant = 200000;
        keeper_start();
        for (size_t i = 1; i < 500; i++) {
            struct submission batch[2] = {message(names[i % 5], i % 3 ? "a" : "b", 900),
                                          message(names[i % 4], "a", 500)};

            if (i % 90 < 50) /* they are too old at the next restart */
                batch[0].wall_ms = batch[1].wall_ms = 1;
            keeper_put(&keeper, batch, 1 + i % 2);
            if (i % 7 == 0)
                expect_counted("while it runs");
            if (i % 45 == 0)
                restart();
        }
        expect_counted("in the end");
        for (int i = 0; i < 5; i++) { /* and memory knows as much */
            struct mcpx_text question = {0};
            long long held;

            mx_format(&question,
                      "SELECT coalesce(sum(length(text)), 0) FROM entry WHERE owner ="
                      " CAST('%s' AS BLOB)",
                      i == 4 ? "eve" : names[i]);
            held = keeper_ask(&keeper, question.text);
            mcpx_text_fini(&question);
            for (; held + 19000 <= 200000; held += 19000)
                cr_assert_eq(says(names[i], names[i], 19000), MCPX_OK, "%s", names[i]);
            cr_expect_eq(says(names[i], names[i], (size_t)(200000 - held + 1)), MCPX_ESHARE);
            cr_expect_eq(says(names[i], names[i], (size_t)(200000 - held)), MCPX_OK);
        }
    }
}

/* Stores so many batches of somebody in many topics. All are taken. */
static void flood(const char *from, size_t bytes, int batches)
{
    struct submission batch[BATCH];
    char topics[13][16];

    for (int i = 0; i < 13; i++)
        snprintf(topics[i], sizeof topics[i], "%s-%d", from, i);
    for (int n = 0; n < batches; n++) {
        for (int i = 0; i < BATCH; i++)
            batch[i] = message(from, topics[i % 13], bytes);
        keeper_put(&keeper, batch, BATCH);
        for (int i = 0; i < BATCH; i++)
            cr_assert_eq(batch[i].rejection.err, MCPX_OK, "%d: %s", n, keeper.report.reason);
        cr_assert_eq(keeper.report.state, STAGE_READY, "%d: %s", n, keeper.report.reason);
    }
}

/* The one who has filled the file has left; the others have not even said much. */
Test(sqlite_shares, in_a_full_file_who_holds_most_makes_room)
{
    static const size_t sizes[] = {200, 3000, 19000};

    for (size_t row = 0; row < sizeof sizes / sizeof *sizes; row++) {
        keeper_fini(&keeper);
        begin();
        keeper.config.file_bytes = 4 << 20;
        keeper_start();
        for (int i = 0; i < 20; i++)
            cr_assert_eq(says("bob", "bobs", 1000), MCPX_OK);
        flood("mallory", sizes[row], (int)((12 << 20) / sizes[row] / BATCH));
        restart();
        flood("cid", 500, 10);
        cr_expect_eq(count_of("bobs"), 20, "%zu", sizes[row]);
        for (int i = 0; i < 13; i++) {
            char topic[16];

            snprintf(topic, sizeof topic, "cid-%d", i);
            cr_expect_geq(count_of(topic), 10 * (BATCH / 13), "%zu: %s", sizes[row], topic);
            snprintf(topic, sizeof topic, "mallory-%d", i);
            (void)count_of(topic);
        }
        expect_counted("in a full file");
        keeper_close(&keeper);
        cr_expect_leq(keeper_size(&keeper, ""), 4 << 20);
    }
}

static const char version_1[] =
    "PRAGMA application_id = 0x4D435058; PRAGMA user_version = 1;"
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE topic (topic INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE,"
    " epoch TEXT NOT NULL, first_serial INTEGER NOT NULL, last_serial INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL) STRICT;"
    "CREATE TABLE entry (seq INTEGER PRIMARY KEY, topic INTEGER NOT NULL,"
    " serial INTEGER NOT NULL, wall_ms INTEGER NOT NULL, sum INTEGER NOT NULL,"
    " text BLOB NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX entry_serial ON entry(topic, serial);";

/* Who has sent what is known of messages that were stored before anybody counted. */
Test(sqlite_shares, messages_of_version_1_get_their_owners)
{
    static const struct {
        const char *from, *owner;
    } rows[] = {
        {"{\"from\":\"ann\"}", "ann"},
        {"{\"from\":\"ann~2\"}", "ann"},
        {"{\"from\":\"2~a9\"}", "2~a9"},
        {"{\"from\":\"\\u00e9v\"}", "\xc3\xa9v"},
        {"{\"payload\":{}}", ""},
        {"{\"from\":7}", ""},
        {"not JSON, as nothing is that has been damaged", ""},
    };
    enum { COUNT = sizeof rows / sizeof *rows };
    char statement[800];
    sqlite3 *db;

    cr_assert_eq(sqlite3_open(keeper.file, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, version_1, NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < COUNT; i++) {
        long long sum =
            schema_sum(MCPX_SLICE("a"), (uint64_t)i + 1, mcpx_slice_of(rows[i].from));

        (void)snprintf(statement, sizeof statement,
                       "INSERT INTO entry VALUES (%d, 1, %d, unixepoch() * 1000, %lld, "
                       "CAST('%s' AS BLOB))",
                       i + 1, i + 1, sum, rows[i].from);
        cr_assert_eq(sqlite3_exec(db, statement, NULL, NULL, NULL), SQLITE_OK, "%s",
                     sqlite3_errmsg(db));
    }
    cr_assert_eq(sqlite3_exec(db,
                              "INSERT INTO topic SELECT 1, CAST('a' AS BLOB),"
                              " '0123456789abcdef0123456789abcdef', 1, count(*),"
                              " sum(length(text)) FROM entry",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    (void)sqlite3_close(db);
    keeper_start();
    cr_expect_eq(says("bob", "a", 10), MCPX_OK);
    cr_expect_eq(count_of("a"), COUNT + 1);
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(statement, sizeof statement,
                       "SELECT owner = CAST('%s' AS BLOB) FROM entry WHERE serial = %d",
                       rows[i].owner, i + 1);
        cr_expect_eq(keeper_ask(&keeper, statement), 1, "%s", rows[i].from);
    }
    cr_expect_eq(keeper_ask(&keeper, "SELECT count(*) FROM held"), 5);
    expect_counted("after the migration");
}
