/*
 * test_sqlite_maintenance.c - what an operator does with a database. What breaks for whom: a backup
 * that is no copy of one moment loses messages when it is needed; a check that finds nothing wrong
 * with a damaged file lets it be backed up over the good ones; what was erased and is still in the
 * file is a broken promise. docs/storage.md.
 */
#include "router/store/sqlite/sqlite_maintenance.h"

#include "lib/json/json_write.h"
#include "tests/unit/store/keeper.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct mcpx_text told, errors;
static int stored;

static void begin(void)
{
    keeper_init(&keeper);
    keeper.config.history_count = 0;
    keeper.config.history_bytes = 0;
}

static void end(void)
{
    keeper_fini(&keeper);
    mcpx_text_fini(&told);
    mcpx_text_fini(&errors);
}

TestSuite(sqlite_maintenance, .init = begin, .fini = end);

/* Texts "0", "1" ... of this size, in turn for two topics. */
static void store_some(int count, size_t size)
{
    char *text = malloc(size + 1);

    for (int i = 0; i < count; i++, stored++) {
        (void)snprintf(text, size + 1, "%d%0*d", stored, (int)size - 12, 0);
        keeper_says(stored % 2 ? "odd" : "even", text);
    }
    free(text);
}

static struct maintenance *maintenance_for(const char *file, bool alone,
                                           const struct schema_progress *progress)
{
    struct maintenance *maintenance = NULL;

    mcpx_text_reset(&errors);
    cr_assert_eq(maintenance_open(file, alone, progress, &errors, &maintenance), MCPX_OK, "%s",
                 errors.text);
    return maintenance;
}

static bool tell_message(void *context, const struct maintenance_message *message)
{
    (void)context;
    cr_expect_eq(message->epoch.len, 32);
    mx_format(&told, "%s %s %s\n", message->topic, message->serial, message->text);
    return true;
}

static void tell_damage(void *context, const struct maintenance_damage *damage)
{
    (void)context;
    mx_format(&told, "%s %s: %s\n", damage->topic, damage->serial, damage->what);
}

static const struct maintenance_reader reader = {tell_message, tell_damage, NULL};
static const struct maintenance_reader checker = {NULL, tell_damage, NULL};

/* Checks a file; what is wrong stands in `told`. */
static struct maintenance_sums check(const char *file)
{
    struct maintenance *maintenance = maintenance_for(file, false, NULL);
    struct maintenance_sums sums = {0};

    mcpx_text_reset(&told);
    cr_assert_eq(maintenance_check(maintenance, &checker, &sums, &errors), MCPX_OK, "%s",
                 errors.text);
    cr_assert_eq(maintenance_walk(maintenance, NULL, &checker, &sums, &errors), MCPX_OK, "%s",
                 errors.text);
    maintenance_close(maintenance);
    return sums;
}

static void expect_told(const char *name, const char *expected)
{
    cr_expect_str_eq(told.text ? told.text : "", expected, "%s: %.300s", name, told.text);
}

/* ---- backup ---- */

static void store_more(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    cr_expect_leq(done, total);
    store_some(4, 400);
}

Test(sqlite_maintenance, a_backup_is_the_database_of_one_moment)
{
    struct schema_progress progress = {store_more, NULL};
    struct keeper restored;
    struct maintenance_sums sums;
    struct maintenance *maintenance;
    struct stored_topic_load *before;
    struct stored_topic_load *after;

    keeper_init(&restored);
    keeper_start();
    store_some(600, 8000);
    maintenance = maintenance_for(keeper.file, false, &progress);
    cr_assert_eq(maintenance_backup(maintenance, restored.file, &errors), MCPX_OK, "%s",
                 errors.text);
    maintenance_close(maintenance);
    cr_assert_gt(stored, 600, "messages came in while it was copied");
    sums = check(restored.file);
    cr_expect_eq(sums.messages, 600);
    expect_told("the copy", "");
    cr_expect_eq(keeper_size(&restored, "-wal"), -1, "the copy is one file");
    cr_assert_eq(keeper_open(&restored), MCPX_OK, "%s", restored.errors.text);
    before = keeper_load(&keeper, "odd");
    after = keeper_load(&restored, "odd");
    cr_expect_eq(after->count, 300);
    cr_expect_eq(after->topic.first, before->topic.first);
    cr_expect_neq(memcmp(before->topic.epoch.text, after->topic.epoch.text, 32), 0,
                  "nobody is told that nothing is missing");
    for (size_t i = 0; i < after->count; i++)
        cr_expect(mcpx_slice_equal(before->envelopes[i].text, after->envelopes[i].text));
    keeper_fini(&restored);
}

Test(sqlite_maintenance, a_backup_replaces_nothing)
{
    struct maintenance *maintenance;
    char copy[128];

    keeper_start();
    store_some(2, 20);
    (void)snprintf(copy, sizeof copy, "%s.lock", keeper.file);
    maintenance = maintenance_for(keeper.file, false, NULL);
    cr_expect_eq(maintenance_backup(maintenance, copy, &errors), MCPX_ECONFIG);
    cr_expect_not_null(strstr(errors.text, copy), "%s", errors.text);
    mcpx_text_reset(&errors);
    cr_expect_eq(maintenance_backup(maintenance, "/nowhere/at/all", &errors), MCPX_ESYSTEM);
    cr_expect_not_null(strstr(errors.text, "/nowhere/at/all"), "%s", errors.text);
    maintenance_close(maintenance);
}

static void die_with_some(void)
{
    pid_t child = fork();

    if (child == 0) {
        keeper_start();
        store_some(10, 100);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_assert_gt(keeper_size(&keeper, "-wal"), 0);
}

static void run(const char *form)
{
    char command[1024];

    (void)snprintf(command, sizeof command, "set -e; f='%s'; %s", keeper.file, form);
    cr_assert_eq(system(command), 0, "%s", command);
}

static void begin_with_backup(char copy[128])
{
    struct maintenance *maintenance;

    keeper_start();
    keeper_says("a", "early");
    (void)snprintf(copy, 128, "%s.copy", keeper.file);
    maintenance = maintenance_for(keeper.file, false, NULL);
    cr_assert_eq(maintenance_backup(maintenance, copy, &errors), MCPX_OK, "%s", errors.text);
    maintenance_close(maintenance);
    keeper_says("a", "late");
    keeper_close(&keeper);
}

static void expect_early(const char *name)
{
    cr_assert_eq(keeper_open(&keeper), MCPX_OK, "%s: %s", name, keeper.errors.text);
    keeper_expect("a", "early", name);
    keeper_close(&keeper);
}

/* SQLite would write what was ahead of the old file over the backup. */
Test(sqlite_maintenance, a_backup_beside_what_is_ahead_of_another_file_is_refused)
{
    struct maintenance *maintenance = NULL;
    char copy[128];

    begin_with_backup(copy);
    die_with_some();
    run("cp $f.copy $f; cp $f-wal $f.ahead");
    for (int alone = 0; alone < 2; alone++) {
        mcpx_text_reset(&errors);
        cr_expect_eq(maintenance_open(keeper.file, alone, NULL, &errors, &maintenance),
                     MCPX_ECONFIG);
        cr_expect(strstr(errors.text, "move the -wal away, too"), "%s", errors.text);
    }
    cr_expect_eq(keeper_open(&keeper), MCPX_ECONFIG);
    cr_expect(strstr(keeper.errors.text, "move the -wal away, too"), "%s", keeper.errors.text);
    run("cmp $f.copy $f; cmp $f-wal $f.ahead; mv $f-wal $f.ahead");
    expect_early("without it");
}

Test(sqlite_maintenance, restore_puts_a_backup_in_place_and_keeps_what_was_there)
{
    static const struct {
        const char *name, *happens;
        bool whole; /* what was there can be read afterwards, with what was ahead of it */
    } rows[] = {
        {"a killed router", "true", true},
        {"a damaged file", "truncate -s 5000 $f", false},
        {"no file", "rm $f $f-wal $f-shm", false},
        {"a file that went alone", "rm $f", false},
        {"a machine where nothing was yet", "rm $f $f-wal $f-shm $f.lock", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maintenance *maintenance;
        char copy[128], old[128];

        keeper_fini(&keeper);
        begin();
        begin_with_backup(copy);
        stored = 0;
        die_with_some();
        run(rows[i].happens);
        maintenance = maintenance_for(copy, false, NULL);
        cr_assert_eq(maintenance_restore(maintenance, keeper.file, &errors), MCPX_OK, "%s: %s",
                     rows[i].name, errors.text);
        maintenance_close(maintenance);
        cr_expect_eq(keeper_size(&keeper, ".restored"), -1);
        expect_early(rows[i].name);
        (void)snprintf(old, sizeof old, "%s.old", keeper.file);
        if (rows[i].whole)
            cr_expect_eq(check(old).messages, 12, "%s", rows[i].name);
    }
}

Test(sqlite_maintenance,
     restore_is_refused_while_a_router_runs_and_replaces_nothing_it_has_kept)
{
    struct maintenance *maintenance;
    char copy[128];
    pid_t child;
    int ends[2];
    char byte;

    begin_with_backup(copy);
    run("echo kept > $f.old; cp $f $f.before");
    maintenance = maintenance_for(copy, false, NULL);
    cr_expect_eq(maintenance_restore(maintenance, keeper.file, &errors), MCPX_ECONFIG);
    cr_expect(strstr(errors.text, ".old\" is there already"), "%s", errors.text);
    maintenance_close(maintenance);
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    child = fork();
    if (child == 0) {
        (void)close(ends[1]);
        keeper_start();
        (void)!write(ends[0], "y", 1);
        (void)!read(ends[0], &byte, 1);
        _exit(0);
    }
    (void)close(ends[0]);
    cr_assert_eq(read(ends[1], &byte, 1), 1);
    maintenance = maintenance_for(copy, false, NULL);
    cr_expect_eq(maintenance_restore(maintenance, keeper.file, &errors), MCPX_ESYSTEM);
    cr_expect(strstr(errors.text, "stop that router first"), "%s", errors.text);
    maintenance_close(maintenance);
    (void)close(ends[1]);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    run("test $(cat $f.old) = kept; test ! -e $f.restored");
}

/* ---- check and export ---- */

Test(sqlite_maintenance, check_names_what_is_damaged)
{
    static const struct {
        const char *name, *damage, *expected;
    } rows[] = {
        {"nothing", "SELECT 1", ""},
        {"a changed text", "UPDATE entry SET text = x'00' WHERE seq = 3",
         "even 2: not what was written\n"
         "even 0: its messages have not the size that its row says\n"},
        {"a changed sum", "UPDATE entry SET sum = sum + 1 WHERE topic = 2 AND serial = 1",
         "odd 1: not what was written\n"},
        {"one is missing",
         "UPDATE topic SET bytes = bytes - (SELECT length(text) FROM entry WHERE seq = 4) "
         "WHERE name = CAST('odd' AS BLOB); DELETE FROM entry WHERE seq = 4",
         "odd 2: missing\n"},
        {"several are missing", "DELETE FROM entry WHERE topic = 1 AND serial BETWEEN 2 AND 5",
         "even 2: missing, with all up to serial 5\n"
         "even 0: its messages have not the size that its row says\n"},
        {"the last ones are missing", "DELETE FROM entry WHERE topic = 2 AND serial > 8",
         "odd 9: missing, with all up to serial 10\n"
         "odd 0: its messages have not the size that its row says\n"},
        {"a row of a topic", "UPDATE topic SET first_serial = -4 WHERE topic = 2",
         "odd 0: its row is damaged\n"},
        {"one too many",
         "UPDATE topic SET last_serial = 9,"
         " bytes = bytes - (SELECT length(text) FROM entry WHERE topic = 1 AND serial = 10)"
         " WHERE topic = 1",
         "even 10: not one of the topic's serials\n"
         "even 0: its messages have not the size that its row says\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maintenance_sums sums;

        keeper_fini(&keeper);
        begin();
        keeper_start();
        stored = 0;
        store_some(20, 30);
        keeper_close(&keeper);
        keeper_run(&keeper, rows[i].damage);
        sums = check(keeper.file);
        expect_told(rows[i].name, rows[i].expected);
        cr_expect_eq(sums.topics, 2);
        cr_expect_eq(sums.damages > 0, rows[i].expected[0] != '\0');
    }
}

static void cut_file(const char *file)
{
    cr_assert_eq(truncate(file, (off_t)keeper_size(&keeper, "") / 2), 0);
}

Test(sqlite_maintenance, check_names_a_file_that_is_cut_off)
{
    struct maintenance *maintenance = NULL;
    struct maintenance_sums sums = {0};
    enum mcpx_err err;

    keeper_start();
    store_some(200, 400);
    keeper_close(&keeper);
    cut_file(keeper.file);
    err = maintenance_open(keeper.file, false, NULL, &errors, &maintenance);
    if (err == MCPX_OK)
        err = maintenance_check(maintenance, &checker, &sums, &errors);
    maintenance_close(maintenance);
    cr_expect(sums.damages > 0 || strstr(errors.text, "is damaged"), "%d %s", err,
              errors.text);
}

Test(sqlite_maintenance, export_tells_the_messages_of_one_topic_or_of_all)
{
    struct maintenance *maintenance;
    struct maintenance_sums sums = {0};

    keeper_start();
    for (int i = 0; i < 3; i++)
        keeper_says(i == 1 ? "b" : "a", "text");
    maintenance = maintenance_for(keeper.file, false, NULL);
    mcpx_text_reset(&told);
    cr_expect_eq(maintenance_walk(maintenance, NULL, &reader, &sums, &errors), MCPX_OK);
    expect_told("all", "a 1 text\na 2 text\nb 1 text\n");
    mcpx_text_reset(&told);
    cr_expect_eq(maintenance_walk(maintenance, "b", &reader, &sums, &errors), MCPX_OK);
    expect_told("one", "b 1 text\n");
    sums = (struct maintenance_sums){0};
    cr_expect_eq(maintenance_walk(maintenance, "c", &reader, &sums, &errors), MCPX_OK);
    cr_expect_eq(sums.topics, 0);
    keeper_run(&keeper, "UPDATE entry SET text = x'41' WHERE seq = 1");
    mcpx_text_reset(&told);
    cr_expect_eq(maintenance_walk(maintenance, "a", &reader, &sums, &errors), MCPX_OK);
    expect_told("what is damaged is not handed out",
                "a 1: not what was written\na 2 text\n"
                "a 0: its messages have not the size that its row says\n");
    maintenance_close(maintenance);
}

/* What a router that was killed left ahead of the file stays for the next one. */
Test(sqlite_maintenance, who_only_reads_changes_no_file)
{
    long long size;
    long long ahead;

    die_with_some();
    size = keeper_size(&keeper, "");
    ahead = keeper_size(&keeper, "-wal");
    cr_expect_eq(check(keeper.file).messages, 10);
    cr_expect_eq(keeper_size(&keeper, ""), size);
    cr_expect_eq(keeper_size(&keeper, "-wal"), ahead);
}

/* ---- what changes the file ---- */

static bool file_holds(const char *text)
{
    char command[400];

    (void)snprintf(command, sizeof command, "grep -aq '%s' '%s' '%s-wal' 2> /dev/null", text,
                   keeper.file, keeper.file);
    return system(command) == 0;
}

Test(sqlite_maintenance, what_is_erased_is_in_the_file_no_more)
{
    struct stored_topic_load *load;
    struct maintenance *maintenance;
    uint64_t messages = 0;

    keeper_start();
    keeper_says("a", "confidential");
    keeper_says("b", "ordinary");
    keeper_close(&keeper);
    cr_assert(file_holds("confidential"));
    maintenance = maintenance_for(keeper.file, true, NULL);
    cr_expect_eq(maintenance_erase(maintenance, "c", &messages, &errors), MCPX_ENOTFOUND);
    cr_expect_eq(maintenance_erase(maintenance, "a", &messages, &errors), MCPX_OK, "%s",
                 errors.text);
    maintenance_close(maintenance);
    cr_expect_eq(messages, 1);
    cr_expect_not(file_holds("confidential"));
    cr_expect_eq(check(keeper.file).damages, 0);
    keeper_start();
    keeper_expect("b", "ordinary", "ordinary");
    load = keeper_load(&keeper, "a");
    cr_expect_not(load->is_known);
}

Test(sqlite_maintenance, compact_gives_back_what_is_not_needed)
{
    struct maintenance *maintenance;
    struct stored_topic_load *load;
    uint64_t messages;
    long long before;

    keeper_start();
    store_some(400, 4000);
    keeper_close(&keeper);
    maintenance = maintenance_for(keeper.file, true, NULL);
    cr_assert_eq(maintenance_erase(maintenance, "odd", &messages, &errors), MCPX_OK, "%s",
                 errors.text);
    before = keeper_size(&keeper, "");
    cr_expect_eq(maintenance_compact(maintenance, &errors), MCPX_OK, "%s", errors.text);
    maintenance_close(maintenance);
    cr_expect_lt(keeper_size(&keeper, ""), before * 6 / 10);
    cr_expect_eq(check(keeper.file).damages, 0);
    keeper_start();
    load = keeper_load(&keeper, "even");
    cr_expect_eq(load->count, 200);
}

Test(sqlite_maintenance, a_file_that_is_not_there_is_not_made)
{
    struct maintenance *maintenance = NULL;

    cr_expect_eq(maintenance_open(keeper.file, true, NULL, &errors, &maintenance),
                 MCPX_ENOTFOUND);
    cr_expect_eq(maintenance_open(keeper.file, false, NULL, &errors, &maintenance),
                 MCPX_ENOTFOUND);
    cr_expect_eq(keeper_size(&keeper, ""), -1);
}
