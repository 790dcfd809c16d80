/*
 * test_sqlite_faults.c - a disk that is full, and one that fails: what was answered as refused is
 * never seen, what was answered as stored always is.
 */
#include "tests/support/fault_vfs.h"
#include "tests/unit/store/keeper.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void begin(void)
{
    fault_vfs_register();
    keeper_init(&keeper);
    keeper.config.vfs = FAULT_VFS;
}

static void end(void)
{
    fault_vfs_set(FAULT_NONE, 0, "");
    keeper_fini(&keeper);
}

TestSuite(sqlite_faults, .init = begin, .fini = end);

static void expect_refused(const char *name, struct rejection rejection, bool certain)
{
    cr_expect_eq(rejection.err, MCPX_EUNAVAILABLE, "%s", name);
    cr_expect_eq(rejection.certain, certain, "%s", name);
}

Test(sqlite_faults, a_full_disk_refuses_and_then_serves_again)
{
    static const struct {
        const char *name, *behind;
        int after;
    } rows[] = {
        {"the first write", "-wal", 0},
        {"in the middle of a page", "-wal", 1},
        {"a later page", "-wal", 4},
        {"wherever it is", "", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char large[20000];

        memset(large, 'x', sizeof large);
        large[sizeof large - 1] = '\0';
        keeper_end();
        begin();
        keeper_start();
        keeper_says("a", "before");
        fault_vfs_set(FAULT_NO_ROOM, rows[i].after, rows[i].behind);
        for (int n = 0; n < 3; n++) {
            struct rejection rejection = keeper_store(&keeper, "a", large);

            expect_refused(rows[i].name, rejection, true);
            cr_expect_gt(rejection.retry_ms, 0, "%s: it can be tried again", rows[i].name);
            cr_expect_eq(keeper.report.state, STAGE_FULL, "%s", rows[i].name);
            cr_expect_neq(keeper.report.reason[0], '\0', "%s", rows[i].name);
            fault_vfs_set(FAULT_NO_ROOM, rows[i].after, rows[i].behind);
        }
        keeper_expect("a", "before", "what was stored can be read");
        fault_vfs_set(FAULT_NONE, 0, "");
        cr_expect_eq(keeper_store(&keeper, "a", "after").err, MCPX_OK, "%s", rows[i].name);
        cr_expect_eq(keeper.report.state, STAGE_READY, "%s", rows[i].name);
        keeper_expect("a", "before after", rows[i].name);
        keeper_close(&keeper);
        keeper_start();
        keeper_expect("a", "before after", rows[i].name);
        cr_expect_eq(keeper_ask(&keeper, "SELECT last_serial FROM topic"), 2);
    }
}

Test(sqlite_faults, that_there_is_room_again_is_noticed_without_a_message)
{
    keeper_start();
    fault_vfs_set(FAULT_NO_ROOM, 0, "");
    expect_refused("full", keeper_store(&keeper, "a", "text"), true);
    keeper_wait_for(&keeper, STAGE_FULL);
    fault_vfs_set(FAULT_NONE, 0, "");
    keeper_wait_for(&keeper, STAGE_READY);
    cr_expect_eq(keeper_ask(&keeper, "SELECT count(*) FROM entry"), 0);
    keeper_says("a", "text");
}

/* A shell with an open transaction, and somebody who has forgotten it. */
Test(sqlite_faults, a_database_that_another_program_has_locked_says_so)
{
    sqlite3 *other;

    keeper_start();
    keeper_says("a", "before");
    cr_assert_eq(sqlite3_open(keeper.file, &other), SQLITE_OK);
    for (int again = 0; again < 2; again++) {
        struct rejection rejection;

        cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
        if (again) { /* and the router is started again meanwhile */
            keeper_close(&keeper);
            keeper_start();
            keeper_wait_for(&keeper, STAGE_LOCKED);
        }
        rejection = keeper_store(&keeper, "a", "text");
        expect_refused("locked", rejection, true);
        cr_expect_gt(rejection.retry_ms, 0, "it can be tried again");
        cr_expect_eq(keeper.report.state, STAGE_LOCKED);
        cr_expect_str_eq(keeper.report.reason, "database is locked (5)");
        keeper_expect("a", again ? "before after" : "before", "what was stored can be read");
        cr_assert_eq(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
        keeper_wait_for(&keeper, STAGE_READY);
        keeper_says("a", "after");
    }
    cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    keeper_close(&keeper);
    cr_assert_eq(sqlite3_exec(other,
                              "UPDATE meta SET value = 1 WHERE key = 'renew'; COMMIT;"
                              "BEGIN IMMEDIATE",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    cr_expect_eq(keeper_open(&keeper), MCPX_ESYSTEM, "old epochs are served to nobody");
    cr_expect(strstr(keeper.errors.text, "cannot be marked as in use: database is locked"),
              "%s", keeper.errors.text);
    (void)sqlite3_close(other);
}

/* The disk is full of what is not ours, and the machine is started again. */
Test(sqlite_faults, on_a_full_disk_a_start_serves_what_is_there)
{
    static const struct {
        const char *name, *behind;
        bool before; /* the router before it, too, ended on the full disk */
    } rows[] = {
        {"nothing can be written", "", false},
        {"nothing could be brought in", "", true},
        {"nothing can be written ahead", "-wal", false},
        {"nothing was marked at the end", "-wal", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        keeper_end();
        begin();
        keeper_start();
        keeper_says("a", "before");
        if (rows[i].before)
            fault_vfs_set(FAULT_NO_ROOM, 0, rows[i].behind);
        keeper_close(&keeper);
        fault_vfs_set(FAULT_NO_ROOM, 0, rows[i].behind);
        keeper_start();
        keeper_wait_for(&keeper, STAGE_FULL);
        keeper_expect("a", "before", rows[i].name);
        expect_refused(rows[i].name, keeper_store(&keeper, "a", "text"), true);
        cr_expect_str_eq(keeper.report.reason, "database or disk is full (13)");
        fault_vfs_set(FAULT_NONE, 0, "");
        keeper_wait_for(&keeper, STAGE_READY);
        cr_expect_eq(keeper_ask(&keeper, "SELECT value FROM meta WHERE key = 'clean'"), 0,
                     "%s: the mark of this start is there", rows[i].name);
        cr_expect_eq(keeper_store(&keeper, "a", "after").err, MCPX_OK, "%s", rows[i].name);
        keeper_close(&keeper);
        keeper_start();
        keeper_expect("a", "before after", rows[i].name);
    }
    keeper_close(&keeper);
    keeper_run(&keeper, "UPDATE meta SET value = 'of a copy' WHERE key = 'mark'");
    fault_vfs_set(FAULT_NO_ROOM, 0, "-wal");
    cr_expect_eq(keeper_open(&keeper), MCPX_ESYSTEM, "old epochs are served to nobody");
    cr_expect(
        strstr(keeper.errors.text, "cannot be marked as in use: database or disk is full"),
        "%s", keeper.errors.text);
}

/* A program that reads keeps what is written ahead, until that has filled the disk. */
Test(sqlite_faults, what_a_reader_has_kept_is_no_full_disk_once_it_has_gone)
{
    char large[20000];
    sqlite3 *reader;

    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = '\0';
    keeper.config.full = false;
    keeper_start();
    keeper_says("a", large);
    cr_assert_eq(sqlite3_open_v2(keeper.file, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM entry", NULL, NULL, NULL),
                 SQLITE_OK);
    fault_vfs_set(FAULT_LARGE, 17 << 10, "-wal");
    while (keeper_store(&keeper, "a", large).err == MCPX_OK)
        ;
    keeper_wait_for(&keeper, STAGE_FULL);
    (void)sqlite3_close(reader);
    keeper_wait_for(&keeper, STAGE_READY);
    for (int i = 0; i < 100; i++)
        keeper_says("a", large);
    cr_expect_lt(keeper_size(&keeper, "-wal"), 8 << 20, "and the room is given back");
}

Test(sqlite_faults, a_batch_is_refused_as_a_whole)
{
    struct submission row[3];

    keeper_start();
    keeper_says("a", "before");
    fault_vfs_set(FAULT_NO_ROOM, 0, "");
    row[0] = keeper_message(&keeper, "a", "one");
    row[1] = keeper_message(&keeper, "a", "");
    row[1].what = SUBMIT_LEAVE;
    row[2] = keeper_message(&keeper, "b", "two");
    keeper_put(&keeper, row, 3);
    expect_refused("one", row[0].rejection, true);
    expect_refused("two", row[2].rejection, true);
    cr_expect_eq(row[1].rejection.err, MCPX_OK, "that somebody has left is told all the same");
    fault_vfs_set(FAULT_NONE, 0, "");
    keeper_put(&keeper, row, 3);
    cr_expect_eq(row[2].rejection.err, MCPX_OK);
    keeper_expect("a", "before one", "again");
}

/* Messages until one is refused; how many were stored. */
static int fill_up(const char *text)
{
    int stored = 0;

    while (keeper_store(&keeper, "a", text).err == MCPX_OK) {
        cr_assert_lt(stored, 10000, "it never gets full");
        stored++;
    }
    return stored;
}

static size_t count_texts(void)
{
    struct stored_topic_load *load = keeper_load(&keeper, "a");
    size_t count = load->count;

    cr_assert_eq(load->rejection.err, MCPX_OK, "%s", load->reason);
    return count;
}

Test(sqlite_faults, a_limit_of_the_system_is_a_full_disk)
{
    struct rlimit limit;
    struct rlimit small;
    char large[2000];
    int stored;

    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = '\0';
    keeper.config.vfs = NULL;
    (void)signal(SIGXFSZ, SIG_IGN);
    keeper_start();
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 300000;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    stored = fill_up(large);
    cr_expect_eq(keeper.report.state, STAGE_FULL, "%s", keeper.report.reason);
    cr_expect_eq(count_texts(), (size_t)stored);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    keeper_says("a", "more");
    keeper_close(&keeper);
    keeper_start();
    cr_expect_eq(count_texts(), (size_t)stored + 1);
}

Test(sqlite_faults, after_a_failed_sync_nothing_is_taken_until_a_restart)
{
    static const struct {
        const char *name;
        enum fault_vfs_fault fault;
        bool certain;
    } rows[] = {
        {"sync", FAULT_SYNC, false},
        {"write", FAULT_WRITE, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *texts;

        keeper_end();
        begin();
        keeper_start();
        keeper_says("a", "before");
        fault_vfs_set(rows[i].fault, 0, "-wal");
        expect_refused(rows[i].name, keeper_store(&keeper, "a", "unknown"), rows[i].certain);
        cr_expect_eq(keeper.report.state, STAGE_FAILED, "%s", rows[i].name);
        fault_vfs_set(FAULT_NONE, 0, "");
        expect_refused(rows[i].name, keeper_store(&keeper, "a", "refused"), true);
        cr_expect_eq(keeper.report.state, STAGE_FAILED, "%s", rows[i].name);
        keeper_expect("a", "before", "what was stored can be read");
        keeper_close(&keeper);
        keeper_start();
        cr_expect_eq(keeper_store(&keeper, "a", "after").err, MCPX_OK, "%s", rows[i].name);
        texts = keeper_texts(&keeper, "a");
        cr_expect(strcmp(texts, "before after") == 0 ||
                      strcmp(texts, "before unknown after") == 0,
                  "%s: %s", rows[i].name, texts);
    }
}

Test(sqlite_faults, a_failed_checkpoint_is_noticed)
{
    keeper.config.full = false;
    keeper_start();
    keeper_says("a", "before");
    fault_vfs_set(FAULT_SYNC, 0, "");
    for (int i = 0; i < 5000 && keeper.report.state != STAGE_FAILED; i++)
        (void)keeper_store(&keeper, "a", "text");
    cr_expect_eq(keeper.report.state, STAGE_FAILED);
    cr_expect_not_null(strstr(keeper.report.reason, "disk I/O error"), "%s",
                       keeper.report.reason);
}

Test(sqlite_faults, a_topic_that_cannot_be_read_is_unavailable_and_the_next_may_be)
{
    struct stored_topic_load *load;

    keeper_start();
    keeper_says("a", "text");
    keeper_close(&keeper);
    keeper_start();
    fault_vfs_set(FAULT_READ, 0, "");
    load = keeper_load(&keeper, "a");
    expect_refused("read", load->rejection, true);
    cr_expect_neq(load->reason[0], '\0');
    fault_vfs_set(FAULT_NONE, 0, "");
    keeper_expect("a", "text", "afterwards");
}

Test(sqlite_faults, one_damaged_topic_does_not_refuse_the_others)
{
    struct submission row[3];

    keeper.config.vfs = NULL;
    keeper_start();
    keeper_says("a", "text");
    keeper_close(&keeper);
    keeper_run(&keeper, "INSERT INTO entry (topic, serial, wall_ms, sum, text)"
                        " VALUES (1, 2, 0, 0, x'00')");
    keeper_start();
    row[0] = keeper_message(&keeper, "b", "one");
    row[1] = keeper_message(&keeper, "a", "two");
    row[2] = keeper_message(&keeper, "b", "three");
    keeper_put(&keeper, row, 3);
    expect_refused("damaged", row[1].rejection, true);
    cr_expect_eq(row[0].rejection.err, MCPX_OK);
    cr_expect_eq(row[2].rejection.err, MCPX_OK);
    cr_expect_eq(keeper.report.state, STAGE_READY);
}
