/*
 * test_store.c - a real hub before real stages: what somebody received is there after a restart,
 * what was refused never is, and the audit knows of both.
 */
#include "lib/base/scoped.h"
#include "router/store/audit/audit.h"
#include "router/store/store.h"
#include "tests/support/audit_chain.h"
#include "tests/support/fault_vfs.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/outside.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <semaphore.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEADLINE_S = 120 };

/* A router without sockets: a hub in its world, and a store that keeps what it says. */
static struct world *world;
static struct store *store;
static struct store_config config;
static struct audit_config audit;
static struct hub_config hub_settings;
static sem_t woken;
static char folder[64], file[96], audit_folder[96], key_file[96];

static void wake(void *context)
{
    (void)sem_post(context);
}

static void start(void)
{
    struct hub_config hub = hub_settings;
    mx_scoped_text errors = {0};

    hub.needs_commit = true;
    hub.stored = config.file != NULL;
    hub.audited = config.audit != NULL;
    hub.pending_bytes = 64 << 20;
    hub.open_ms = 5000;
    world = world_with(&hub);
    cr_assert_eq(store_new(&config, wake, &woken, &errors, &store), MCPX_OK, "%s",
                 errors.text);
}

static void stop(void)
{
    struct mcpx_text rest = {0};

    store_free(store);
    store = NULL;
    world_read(world, &rest);
    mcpx_text_fini(&rest);
    world_end();
    world = NULL;
}

static void begin(void)
{
    struct mcpx_text pem = {0};

    fault_vfs_register();
    strcpy(folder, "/tmp/mcpx-store-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(file, sizeof file, "%s/messages.db", folder);
    (void)snprintf(audit_folder, sizeof audit_folder, "%s/audit", folder);
    (void)snprintf(key_file, sizeof key_file, "%s/key.pem", folder);
    audit_key_free(test_audit_key(&pem));
    file_write(key_file, pem.text, pem.len);
    mcpx_text_fini(&pem);
    config = (struct store_config){.file = file,
                                   .full = true,
                                   .history_count = 1000,
                                   .history_bytes = 32 << 20,
                                   .vfs = FAULT_VFS};
    hub_settings = hub_config_default();
    audit = (struct audit_config){.folder = audit_folder, .key_file = key_file};
    cr_assert_eq(sem_init(&woken, 0, 0), 0);
}

static void end(void)
{
    folder_remove(folder);
}

TestSuite(store, .init = begin, .fini = end);

static void turn(void)
{
    store_turn(store, world_hub(world), world_now(world));
}

static void wait_for_wake(void)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DEADLINE_S;
    while (sem_timedwait(&woken, &until) != 0)
        cr_assert_eq(errno, EINTR, "the stages told nothing in time");
}

/* Until nothing is under way. */
static void settle(void)
{
    turn();
    while (hub_pending(world_hub(world)) > 0) {
        wait_for_wake();
        turn();
    }
}

/* Opens a topic; whatever that ends with. */
static enum mcpx_err open_topic(const char *topic)
{
    const struct grant grant = {.identity = MCPX_SLICE("opener")};
    struct mcpx_slice name = mcpx_slice_of(topic);

    for (;;) {
        enum mcpx_err err = hub_open(world_hub(world), &grant, name, world_now(world));

        turn();
        if (err != MCPX_EOPENING)
            return err;
        if (hub_open(world_hub(world), &grant, name, world_now(world)) == MCPX_EOPENING)
            wait_for_wake();
    }
}

static void joins(const char *name)
{
    cr_assert_eq(open_topic("room"), MCPX_OK);
    world_joins(world, name, "chat");
    settle();
}

static void says(const char *name, const char *id)
{
    char text[80];

    (void)snprintf(text, sizeof text, "{\"id\":\"%s\",\"kind\":\"chat\"}", id);
    cr_assert_eq(world_says(world, name, text), MCPX_OK);
}

/* The ids of the topic's history, oldest first, with a blank behind each. */
static void expect_history(const char *expected)
{
    const struct topic *topic = hub_topic_find(world_hub(world), MCPX_SLICE("room"));
    mx_scoped_text page = {0};
    mx_scoped_text ids = {0};
    struct page_end end;
    json_t *history;

    cr_assert_not_null(topic);
    cr_assert_eq(
        topic_write_history(topic, &(struct page){.limit = 1000}, 1 << 20, &page, &end),
        MCPX_OK);
    history = json_loadb(page.text, page.len, 0, NULL);
    mcpx_text_puts(&ids, "");
    for (size_t i = json_array_size(history); i-- > 0;) {
        mcpx_text_puts(&ids,
                       json_string_value(json_object_get(json_array_get(history, i), "id")));
        mcpx_text_puts(&ids, " ");
    }
    cr_expect_str_eq(ids.text, expected, "%s", ids.text);
    json_decref(history);
}

static void expect_read(const char *words)
{
    mx_scoped_text read = {0};

    world_read(world, &read);
    cr_assert_not_null(read.text, "nothing was read");
    cr_expect_not_null(strstr(read.text, words), "%s is not in:\n%s", words, read.text);
}

Test(store, a_message_is_read_once_it_is_stored_and_is_there_after_a_restart)
{
    struct reader_place place;

    start();
    joins("alice");
    world_skip(world);
    says("alice", "m1");
    says("alice", "m2");
    settle();
    expect_history("m1 m2 ");
    expect_read("chat m2 from alice");
    place = world_place(world, "alice");
    stop();

    start();
    cr_assert_eq(open_topic("room"), MCPX_OK);
    expect_history("m1 m2 ");
    world_joins(world, "bob", "chat");
    settle();
    says("bob", "m3");
    settle();
    cr_assert_eq(world_says(world, "bob", "{\"id\":\"m1\",\"kind\":\"chat\"}"),
                 MCPX_EDUPLICATE);
    world_skip(world);
    cr_assert_eq(
        world_arrives(world, "alice",
                      &(struct arrival){.grants = "chat", .history = -1, .place = &place}),
        MCPX_OK);
    settle();
    expect_read("resumed");
    expect_history("m1 m2 m3 ");
    cr_expect_eq(store_figures(store)->refused_failed, 0);
    stop();
}

Test(store, while_the_disk_is_full_messages_are_refused_and_history_stays)
{
    start();
    joins("alice");
    world_skip(world);
    says("alice", "m1");
    settle();
    cr_expect_null(store_why(store));
    fault_vfs_set(FAULT_NO_ROOM, 0, "");
    says("alice", "m2");
    settle();
    cr_expect_str_eq(store_why(store), "store full");
    cr_expect_eq(store_figures(store)->refused_full, 1);
    expect_history("m1 ");
    world_skip(world);
    cr_expect_not_null(strstr(world_last_error(world, "alice"), "\"unavailable\""), "%s",
                       world_last_error(world, "alice"));
    fault_vfs_set(FAULT_NONE, 0, "");
    says("alice", "m2");
    settle();
    cr_expect_null(store_why(store));
    expect_history("m1 m2 ");
    stop();
}

Test(store, after_a_failed_sync_everything_is_refused)
{
    start();
    joins("alice");
    fault_vfs_set(FAULT_SYNC, 0, "-wal");
    says("alice", "m1");
    settle();
    fault_vfs_set(FAULT_NONE, 0, "");
    cr_expect_str_eq(store_why(store), "store failed");
    world_skip(world);
    cr_expect_not_null(strstr(world_last_error(world, "alice"), "\"unknown\""), "%s",
                       world_last_error(world, "alice"));
    says("alice", "m2");
    settle();
    world_skip(world);
    cr_expect_not_null(strstr(world_last_error(world, "alice"), "\"refused\""), "%s",
                       world_last_error(world, "alice"));
    cr_expect_eq(store_figures(store)->refused_failed, 2);
    stop();
}

Test(store, a_topic_that_is_larger_than_a_portion_is_loaded_whole)
{
    enum { COUNT = 9000 };
    const struct topic *topic;
    struct mcpx_text last = {0};
    struct page_end end;

    hub_settings.messages_per_minute = 0;
    hub_settings.history_count = 0;
    config.history_count = 0;
    start();
    joins("alice");
    for (int i = 0; i < COUNT; i++) {
        char id[16];

        (void)snprintf(id, sizeof id, "m%d", i);
        says("alice", id);
        if (i % 1000 == 999)
            settle();
    }
    stop();
    start();
    cr_assert_eq(open_topic("room"), MCPX_OK);
    topic = hub_topic_find(world_hub(world), MCPX_SLICE("room"));
    cr_assert_not_null(topic);
    cr_assert_eq(
        topic_write_history(topic, &(struct page){.limit = COUNT, .before = MCPX_SLICE("m1")},
                            1 << 20, &last, &end),
        MCPX_OK);
    cr_expect_not_null(strstr(last.text, "\"m0\""), "the oldest is there");
    cr_assert_eq(topic_write_history(topic, &(struct page){.limit = 1}, 1 << 20, &last, &end),
                 MCPX_OK);
    cr_expect_not_null(strstr(last.text, "\"m8999\""), "and the newest");
    mcpx_text_fini(&last);
    stop();
}

Test(store, a_damaged_topic_is_unavailable_and_the_log_is_told_once)
{
    struct mcpx_text line = {0};
    sqlite3 *db;

    start();
    joins("alice");
    says("alice", "m1");
    settle();
    stop();
    cr_assert_eq(sqlite3_open(file, &db), SQLITE_OK);
    cr_assert_eq(
        sqlite3_exec(db, "UPDATE entry SET text = CAST('{}' AS BLOB)", NULL, NULL, NULL),
        SQLITE_OK);
    (void)sqlite3_close(db);
    start();
    cr_expect_eq(open_topic("room"), MCPX_EUNAVAILABLE);
    line = store_take_lines(store);
    cr_assert(line.len > 0 && strstr(line.text, "\"room\""), "%s", line.text);
    world_waits(world, 2000);
    cr_expect_eq(open_topic("room"), MCPX_EUNAVAILABLE);
    cr_expect_eq(store_take_lines(store).len, 0);
    cr_expect_eq(open_topic("another"), MCPX_OK);
    mcpx_text_fini(&line);
    stop();
}

/* All lines of the audit. */
static const char *read_audit(void)
{
    static char lines[262144];
    char command[160];

    (void)snprintf(command, sizeof command, "cat '%s'/*.jsonl", audit_folder);
    cr_assert_eq(command_run(command, lines, sizeof lines), 0);
    return lines;
}

Test(store, the_audit_knows_what_was_allowed_and_what_then_could_not_be_stored)
{
    const char *lines, *allowed;

    config.audit = &audit;
    start();
    joins("alice");
    says("alice", "m1");
    settle();
    fault_vfs_set(FAULT_NO_ROOM, 0, "");
    says("alice", "m2");
    settle();
    fault_vfs_set(FAULT_NONE, 0, "");
    expect_history("m1 ");
    stop();
    lines = read_audit();
    allowed = strstr(lines, "\"id\":\"m2\"");
    cr_assert_not_null(allowed, "%s", lines);
    cr_expect_not_null(strstr(allowed, "\"undelivered\""), "%s", lines);
    cr_expect_not_null(strstr(lines, "\"join\""));
}

Test(store, the_audit_alone_keeps_nothing_and_delivers)
{
    const char *lines;

    config.audit = &audit;
    config.file = NULL;
    start();
    joins("alice");
    world_skip(world);
    says("alice", "m1");
    settle();
    expect_read("chat m1 from alice");
    expect_history("m1 ");
    stop();
    lines = read_audit();
    cr_expect_not_null(strstr(lines, "\"id\":\"m1\""), "%s", lines);
}
