/*
 * test_sqlite_files.c - what an operator may have put where the database belongs: a clear line that
 * names the path, and the file as it was. And which copies of a database may say that nothing is
 * missing.
 */
#include "lib/base/scoped.h"
#include "lib/edge/file.h"
#include "router/store/sqlite/sqlite_schema.h"
#include "tests/support/outside.h"
#include "tests/unit/store/keeper.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(sqlite_files, .init = keeper_begin, .fini = keeper_end);

static struct mcpx_text read_file(const char *path)
{
    struct mcpx_text text = {0};

    cr_assert_null(mx_file_read(path, SIZE_MAX, &text));
    return text;
}

static void make_one(void)
{
    keeper_start();
    keeper_says("a", "text");
    keeper_close(&keeper);
}

/* It is refused with a line that holds the path and these words; the file is as it was before. */
static void expect_refusal(const char *name, const char *words)
{
    mx_scoped_text before = read_file(keeper.file);
    struct mcpx_text after;

    cr_expect_neq(keeper_open(&keeper), MCPX_OK, "%s", name);
    cr_assert_not_null(keeper.errors.text, "%s", name);
    cr_expect_not_null(strstr(keeper.errors.text, keeper.file), "%s: %s", name,
                       keeper.errors.text);
    cr_expect_not_null(strstr(keeper.errors.text, words), "%s: %s", name, keeper.errors.text);
    after = read_file(keeper.file);
    cr_expect(mcpx_slice_equal(mcpx_text_view(&before), mcpx_text_view(&after)),
              "%s: the file was changed", name);
    mcpx_text_fini(&after);
}

/* While the keeper has the database open, nobody opens it under another name. */
static void expect_second(const char *name)
{
    struct keeper second = keeper;

    second.sqlite = NULL;
    second.errors = (struct mcpx_text){0};
    second.config.file = name;
    cr_expect_neq(keeper_open(&second), MCPX_OK);
    cr_assert_not_null(second.errors.text);
    cr_expect_not_null(strstr(second.errors.text, "is a symbolic link"), "%s",
                       second.errors.text);
    mcpx_text_fini(&second.errors);
}

Test(sqlite_files, what_is_no_database_is_refused)
{
    static const char jpeg[] = "\xff\xd8\xff\xe0\0\x10JFIF";
    static const char half[] = "SQLite format 3";

    file_write(keeper.file, "", 0);
    expect_refusal("zero length", "is empty");
    file_write(keeper.file, jpeg, sizeof jpeg);
    expect_refusal("a picture", "is not a SQLite database");
    file_write(keeper.file, half, sizeof half);
    expect_refusal("a beginning", "is not a SQLite database");
}

Test(sqlite_files, the_database_of_another_program_is_refused)
{
    sqlite3 *db;

    cr_assert_eq(sqlite3_open(keeper.file, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "CREATE TABLE entry (a)", NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
    expect_refusal("another program", "of another program");
}

Test(sqlite_files, a_newer_version_is_refused)
{
    make_one();
    keeper_run(&keeper, "PRAGMA user_version = 7");
    expect_refusal("newer", "newer mcpx-router (version 7)");
}

Test(sqlite_files, a_database_without_its_tables_is_refused)
{
    make_one();
    keeper_run(&keeper, "DROP TABLE entry; PRAGMA wal_checkpoint(TRUNCATE)");
    keeper_expect_refusal("is damaged");
}

/* Its lock would be another one than that of the file: two routers would write to it. */
Test(sqlite_files, a_second_name_of_a_database_is_refused)
{
    char other[120];

    keeper_start();
    snprintf(other, sizeof other, "%s.other", keeper.file);
    cr_assert_eq(symlink(keeper.file, other), 0);
    expect_second(other);
    keeper_close(&keeper);
    cr_assert_eq(unlink(other), 0);
}

static void a_folder(void)
{
    cr_assert_eq(mkdir(keeper.file, 0700), 0);
}

static void a_pipe(void)
{
    cr_assert_eq(mkfifo(keeper.file, 0600), 0);
}

static void no_folder(void)
{
    keeper.config.file = "/nowhere/at/all/messages.db";
}

Test(sqlite_files, what_is_no_file_is_refused)
{
    static const struct {
        void (*happens)(void);
        const char *words;
    } rows[] = {{a_folder, "is a folder"},
                {a_pipe, "a pipe or a socket"},
                {no_folder, "/nowhere/at/all/messages.db"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        keeper_end();
        keeper_begin();
        rows[i].happens();
        keeper_expect_refusal(rows[i].words);
    }
}

Test(sqlite_files, without_the_right_to_read_or_write_it_is_refused)
{
    if (geteuid() == 0)
        cr_assert(setgid(65534) == 0 && chown(keeper.folder, 65534, 65534) == 0 &&
                  seteuid(65534) == 0);
    make_one();
    cr_assert_eq(chmod(keeper.file, 0400), 0);
    expect_refusal("read only", "cannot be written");
    cr_assert_eq(chmod(keeper.file, 0), 0);
    keeper_expect_refusal("cannot be read");
    if (getuid() == 0)
        cr_assert_eq(seteuid(0), 0);
}

Test(sqlite_files, nobody_else_may_read_it)
{
    struct stat about;

    (void)umask(0);
    keeper_start();
    keeper_says("a", "text");
    for (size_t i = 0; i < 3; i++) {
        static const char *const behind[] = {"", "-wal", ".lock"};
        char path[128];

        (void)snprintf(path, sizeof path, "%s%s", keeper.file, behind[i]);
        cr_assert_eq(stat(path, &about), 0, "%s", path);
        cr_expect_eq(about.st_mode & 077, 0, "%s", path);
    }
}

Test(sqlite_files, a_second_router_is_told_who_has_the_file)
{
    int begun[2];
    int ended[2];
    char byte = 0;
    char words[80];
    pid_t first;

    cr_assert(pipe(begun) == 0 && pipe(ended) == 0);
    first = fork();
    if (first == 0) {
        bool opened = keeper_open(&keeper) == MCPX_OK;

        (void)close(ended[1]);
        (void)!write(begun[1], opened ? "y" : "n", 1);
        (void)!read(ended[0], &byte, 1);
        _exit(0);
    }
    (void)close(ended[0]);
    cr_assert_eq(read(begun[0], &byte, 1), 1);
    cr_assert_eq(byte, 'y');
    (void)snprintf(words, sizeof words, "in use by process %d", (int)first);
    expect_refusal("second router", words);
    (void)close(ended[1]);
    cr_assert_eq(waitpid(first, NULL, 0), first);
    cr_expect_eq(keeper_open(&keeper), MCPX_OK, "after a sudden end it can be opened: %s",
                 keeper.errors.text);
}

Test(sqlite_files, an_unfinished_new_file_is_no_obstacle)
{
    char path[128];

    (void)snprintf(path, sizeof path, "%s.new", keeper.file);
    file_write(path, "half of it", 10);
    make_one();
    cr_expect_neq(access(path, F_OK), 0, "it is gone");
}

Test(sqlite_files, an_older_version_is_copied_and_migrated)
{
    char path[128];
    sqlite3 *db;

    (void)snprintf(path, sizeof path, "%s.v0", keeper.file);
    cr_assert_eq(sqlite3_open(keeper.file, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db,
                              "PRAGMA application_id = 0x4D435058; CREATE TABLE old (a);"
                              "INSERT INTO old VALUES (1)",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    (void)sqlite3_close(db);
    file_write(path, "in the way", 10);
    expect_refusal("its copy is in the way", "move that away");
    cr_assert_eq(unlink(path), 0);
    make_one();
    keeper_start();
    keeper_expect("a", "text", "text");
    cr_expect_eq(keeper_ask(&keeper, "PRAGMA user_version"), SCHEMA_VERSION);
    cr_expect_eq(keeper_ask(&keeper, "SELECT count(*) FROM old"), 1);
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_expect_eq(sqlite3_exec(db, "SELECT a FROM old", NULL, NULL, NULL), SQLITE_OK);
    cr_expect_neq(sqlite3_exec(db, "SELECT * FROM entry", NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

/* Bytes that are not as they were written, anywhere: refused at the start, or the topic is. */
Test(sqlite_files, a_changed_byte_is_never_handed_out)
{
    enum { PLACES = 1000, ENTRIES = 60 };
    const char *expected;
    struct mcpx_text whole;
    int refused = 0;
    int unavailable = 0;

    keeper_start();
    for (int i = 0; i < ENTRIES; i++) {
        char text[512];

        (void)snprintf(text, sizeof text, "{\"n\":%d,\"pad\":\"%0400d\"}", i, i);
        keeper_says(i % 2 ? "a" : "b", text);
    }
    expected = keeper_texts(&keeper, "a");
    keeper_close(&keeper);
    whole = read_file(keeper.file);
    for (size_t i = 0; i < PLACES; i++) {
        size_t place = i * whole.len / PLACES + i % 7;
        struct stored_topic_load *load;

        whole.text[place] = (char)(whole.text[place] ^ 0x5a);
        file_write(keeper.file, whole.text, whole.len);
        whole.text[place] = (char)(whole.text[place] ^ 0x5a);
        if (keeper_open(&keeper) != MCPX_OK) {
            refused++;
            continue;
        }
        load = keeper_load(&keeper, "a");
        if (load->rejection.err != MCPX_OK) {
            cr_expect_eq(load->rejection.err, MCPX_EUNAVAILABLE);
            cr_expect_neq(load->reason[0], '\0');
            unavailable++;
        } else {
            const char *text = expected;

            for (size_t n = 0; n < load->count; n++) {
                struct mcpx_slice found = load->envelopes[n].text;

                cr_expect(strncmp(text, found.text, found.len) == 0, "byte %zu", place);
                text += found.len + 1;
            }
            cr_expect(load->count == 0 || text == expected + strlen(expected) + 1,
                      "byte %zu: entries are missing", place);
        }
        keeper_close(&keeper);
    }
    cr_expect_gt(refused, 0);
    cr_expect_gt(unavailable, PLACES / 5, "%d", unavailable); /* how many depends on pages */
    mcpx_text_fini(&whole);
}

/* Else whoever reads the one topic would be told what was said in the other. */
Test(sqlite_files, messages_of_a_topic_that_bears_another_name_are_not_handed_out)
{
    struct stored_topic_load *load;

    keeper_start();
    keeper_says("room-1", "secret");
    keeper_close(&keeper);
    keeper_run(&keeper, "UPDATE topic SET name = CAST('room-2' AS BLOB)");
    keeper_start();
    load = keeper_load(&keeper, "room-2");
    cr_expect_eq(load->rejection.err, MCPX_EUNAVAILABLE);
    cr_expect_neq(load->reason[0], '\0');
    keeper_close(&keeper);
}

Test(sqlite_files, a_file_that_was_cut_off_is_refused_or_its_topics_are)
{
    enum { PLACES = 100 };
    struct mcpx_text whole;

    keeper_start();
    for (int i = 0; i < 100; i++)
        keeper_says("a", "some text that takes a little room");
    keeper_close(&keeper);
    whole = read_file(keeper.file);
    for (size_t i = 0; i < PLACES; i++) {
        struct stored_topic_load *load;

        file_write(keeper.file, whole.text, i * whole.len / PLACES);
        if (keeper_open(&keeper) != MCPX_OK)
            continue;
        load = keeper_load(&keeper, "a");
        cr_expect_eq(load->rejection.err, MCPX_EUNAVAILABLE, "cut at %zu of %d", i, PLACES);
        keeper_close(&keeper);
    }
    mcpx_text_fini(&whole);
}

Test(sqlite_files, the_whole_file_is_checked_where_that_is_wanted)
{
    struct mcpx_text whole;

    make_one();
    whole = read_file(keeper.file);
    memset(whole.text + whole.len - 4096, 0xee, 4096);
    file_write(keeper.file, whole.text, whole.len);
    mcpx_text_fini(&whole);
    memset(&whole, 0, sizeof whole);
    keeper.config.check = true;
    keeper_expect_refusal("is damaged");
}

/* ---- epochs ---- */

/* Of topic "a", after a start. */
static void read_epoch(char epoch[TOPIC_EPOCH_LEN + 1])
{
    struct mcpx_slice found;

    keeper_start();
    found = keeper_load(&keeper, "a")->topic.epoch;
    cr_assert_eq(found.len, TOPIC_EPOCH_LEN);
    snprintf(epoch, TOPIC_EPOCH_LEN + 1, "%.*s", TOPIC_EPOCH_LEN, found.text);
    keeper_close(&keeper);
}

static void copy_file(const char *from, const char *to)
{
    mx_scoped_text whole = read_file(from);

    file_write(to, whole.text, whole.len);
}

/* The process ends between two instructions, as kill -9 does it. */
static void end_suddenly(void)
{
    pid_t child = fork();

    if (child == 0) {
        if (keeper_open(&keeper) == MCPX_OK)
            (void)keeper_store(&keeper, "a", "more");
        _exit(0);
    }
    cr_assert_eq(waitpid(child, NULL, 0), child);
}

static void set_back(void)
{
    char copy[128];

    (void)snprintf(copy, sizeof copy, "%s.copy", keeper.file);
    copy_file(keeper.file, copy);
    make_one();
    copy_file(copy, keeper.file);
}

static void lose_lock(void)
{
    char lock[128];

    (void)snprintf(lock, sizeof lock, "%s.lock", keeper.file);
    cr_assert_eq(unlink(lock), 0);
}

static void mark_as_copy(void)
{
    keeper_run(&keeper, "UPDATE meta SET value = 1 WHERE key = 'renew'");
}

static void boot(void)
{
    keeper_run(&keeper, "UPDATE meta SET value = 'another' WHERE key = 'boot_id'");
}

static void end_suddenly_and_boot(void)
{
    end_suddenly();
    boot();
}

Test(sqlite_files, epochs_are_renewed_when_something_may_be_missing)
{
    static const struct {
        const char *name;
        void (*happens)(void);
        bool full, renewed;
    } rows[] = {
        {"an ordinary restart", make_one, true, false},
        {"the same without syncs", make_one, false, false},
        {"kill -9", end_suddenly, true, false},
        {"kill -9 without syncs: the kernel has it", end_suddenly, false, false},
        {"the machine was started again, after a clean end", boot, false, false},
        {"kill -9 and a new start of the machine", end_suddenly_and_boot, true, false},
        {"the same without syncs", end_suddenly_and_boot, false, true},
        {"a copy that says so", mark_as_copy, true, true},
        {"an older copy in its place", set_back, true, true},
        {"the file alone, on another machine", lose_lock, true, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char before[TOPIC_EPOCH_LEN + 1], after[TOPIC_EPOCH_LEN + 1],
            later[TOPIC_EPOCH_LEN + 1];

        keeper.config.full = rows[i].full;
        make_one();
        read_epoch(before);
        rows[i].happens();
        read_epoch(after);
        cr_expect_eq(strcmp(before, after) != 0, rows[i].renewed, "%s", rows[i].name);
        read_epoch(later);
        cr_expect_str_eq(after, later, "%s: once", rows[i].name);
    }
}
