/*
 * bench_store.c - what the stage that writes costs: messages a second through its work queue, next
 * to a bare SQLite that commits the same batches, and a batch of one next to write and fdatasync of
 * the same bytes. In MCPX_BENCH_DIR, or /var/tmp: it has to be a disk.
 */
#include "router/store/sqlite/sqlite.h"
#include "tests/bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 7, TOPICS = 100, BATCH_MAX = 1000 };

static char folder[256];
static sem_t woken;
static char text[4096];
static struct submission messages[2][BATCH_MAX];
static char names[TOPICS][16];

static void check(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "bench_store: %s\n", what);
        exit(1);
    }
}

static const char *path_of(const char *name)
{
    static char path[320];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void wake(void *context)
{
    (void)sem_post(context);
}

/* ---- the stage ---- */

static struct sqlite *stage_new(void)
{
    struct store_config config = {.file = path_of("stage.db"),
                                  .full = true,
                                  .history_count = 1000,
                                  .history_bytes = 32 << 20,
                                  .history_age_ms = 86400000};
    struct mcpx_text errors = {0};
    struct sqlite *sqlite = NULL;

    check(sqlite_new(&config, wake, &woken, &errors, &sqlite) == MCPX_OK,
          errors.text ? errors.text : "no memory");
    return sqlite;
}

static void stage_put(struct sqlite *sqlite, struct submission *batch, size_t count,
                      size_t bytes)
{
    struct link list;
    struct timespec at;

    (void)clock_gettime(CLOCK_REALTIME, &at);
    list_init(&list);
    for (size_t i = 0; i < count; i++) {
        batch[i] = (struct submission){.topic = mcpx_slice_of(names[i % TOPICS]),
                                       .epoch = MCPX_SLICE("0123456789abcdef0123456789abcdef"),
                                       .text = {text, bytes},
                                       .wall_ms = (int64_t)at.tv_sec * 1000};
        list_init(&batch[i].link);
        list_append(&list, &batch[i].link);
    }
    work_queue_put(sqlite_queue(sqlite), &list, count);
}

static void stage_take(struct sqlite *sqlite, size_t count)
{
    static struct stage_report report;
    static size_t came;
    struct link answers;

    list_init(&answers);
    while (came < count) {
        work_queue_answers(sqlite_queue(sqlite), &answers, &report);
        if (list_is_empty(&answers))
            while (sem_wait(&woken) != 0)
                check(errno == EINTR, "cannot wait");
        for (; !list_is_empty(&answers); came++) {
            struct link *first = answers.next;

            check(LIST_ELEMENT(first, struct submission, link)->rejection.err == MCPX_OK,
                  "a message was refused");
            list_remove(first);
        }
    }
    came -= count;
}

/* Nanoseconds for `batches` of them, of which the next waits while one is written. */
static double stage_run(struct sqlite *sqlite, size_t batches, size_t count, size_t bytes)
{
    double begin = measure_now_ns();

    stage_put(sqlite, messages[0], count, bytes);
    for (size_t i = 1; i <= batches; i++) {
        if (i < batches)
            stage_put(sqlite, messages[i % 2], count, bytes);
        stage_take(sqlite, count);
    }
    return measure_now_ns() - begin;
}

/* ---- the others ---- */

static sqlite3 *bare;
static sqlite3_stmt *bare_add;

static void bare_new(void)
{
    check(sqlite3_open(path_of("bare.db"), &bare) == SQLITE_OK &&
              sqlite3_exec(bare,
                           "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                           "CREATE TABLE entry (seq INTEGER PRIMARY KEY, topic INTEGER,"
                           " serial INTEGER, wall_ms INTEGER, sum INTEGER, text BLOB);"
                           "CREATE UNIQUE INDEX entry_serial ON entry(topic, serial)",
                           NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(bare,
                                 "INSERT INTO entry (topic, serial, wall_ms, sum, text)"
                                 " VALUES (?1, ?2, ?3, ?4, ?5)",
                                 -1, &bare_add, NULL) == SQLITE_OK,
          "bare SQLite cannot be used");
}

static double bare_run(size_t batches, size_t count, size_t bytes)
{
    static sqlite3_int64 serial;
    double begin = measure_now_ns();
    bool good = true;

    for (size_t batch = 0; batch < batches; batch++) {
        good = good && sqlite3_exec(bare, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
        for (size_t i = 0; i < count; i++) {
            sqlite3_bind_int64(bare_add, 1, (sqlite3_int64)(i % TOPICS));
            sqlite3_bind_int64(bare_add, 2, ++serial);
            sqlite3_bind_int64(bare_add, 3, 1700000000000);
            sqlite3_bind_int64(bare_add, 4, serial * 7919);
            sqlite3_bind_blob64(bare_add, 5, text, bytes, SQLITE_STATIC);
            good = good && sqlite3_step(bare_add) == SQLITE_DONE;
            sqlite3_reset(bare_add);
        }
        good = good && sqlite3_exec(bare, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    }
    check(good, "bare SQLite failed");
    return measure_now_ns() - begin;
}

static double plain_run(int fd, size_t writes, size_t bytes)
{
    double begin = measure_now_ns();

    for (size_t i = 0; i < writes; i++)
        check(write(fd, text, bytes) == (ssize_t)bytes && fdatasync(fd) == 0,
              "cannot write to the disk");
    return measure_now_ns() - begin;
}

/* ---- rows ---- */

static void print_throughput(struct sqlite *sqlite, const char *name, size_t count,
                             size_t bytes)
{
    double values[ROUNDS];
    double bases[ROUNDS];
    double ratios[ROUNDS];
    size_t batches = count < 100 ? 100 : bytes > 1000 ? 16 : 40;

    (void)stage_run(sqlite, batches, count, bytes);
    for (size_t i = 0; i < ROUNDS; i++) {
        double total = (double)(batches * count) * 1e9;

        values[i] = total / stage_run(sqlite, batches, count, bytes);
        bases[i] = total / bare_run(batches, count, bytes);
        ratios[i] = bases[i] / values[i];
    }
    measure_print(&(struct measure_row){name, measure_median(values, ROUNDS), "messages/s",
                                        "bare SQLite", measure_median(bases, ROUNDS),
                                        1 / measure_median(ratios, ROUNDS), 0.6, true});
}

static void print_latency(struct sqlite *sqlite, int fd, const char *name, size_t bytes)
{
    enum { WRITES = 50 };
    double values[ROUNDS];
    double bases[ROUNDS];
    double ratios[ROUNDS];

    for (size_t i = 0; i < ROUNDS; i++) {
        values[i] = 0;
        for (size_t n = 0; n < WRITES; n++)
            values[i] += stage_run(sqlite, 1, 1, bytes) / WRITES / 1000;
        bases[i] = plain_run(fd, WRITES, bytes) / WRITES / 1000;
        ratios[i] = values[i] / bases[i];
    }
    measure_print(&(struct measure_row){name, measure_median(values, ROUNDS), "us",
                                        "write+fdatasync", measure_median(bases, ROUNDS),
                                        measure_median(ratios, ROUNDS), 6, false});
}

int main(void)
{
    const char *where = getenv("MCPX_BENCH_DIR");
    struct sqlite *sqlite;
    char command[400];
    int fd;

    (void)snprintf(folder, sizeof folder, "%s/mcpx-bench-XXXXXX", where ? where : "/var/tmp");
    check(mkdtemp(folder) != NULL, "cannot make a folder");
    memset(text, 'x', sizeof text);
    for (int i = 0; i < TOPICS; i++)
        (void)snprintf(names[i], sizeof names[i], "topic/%d", i);
    check(sem_init(&woken, 0, 0) == 0, "no semaphore");
    fd = open(path_of("plain"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    check(fd >= 0, "cannot make a file");
    sqlite = stage_new();
    bare_new();
    measure_title("store: the writer's stage, every batch synced");
    print_throughput(sqlite, "store-256-16", 16, 256);
    print_throughput(sqlite, "store-256", 256, 256);
    print_throughput(sqlite, "store-256-1000", 1000, 256);
    print_throughput(sqlite, "store-4k", 256, 4096);
    print_latency(sqlite, fd, "store-one-256", 256);
    print_latency(sqlite, fd, "store-one-4k", 4096);
    sqlite_free(sqlite);
    (void)sqlite3_finalize(bare_add);
    (void)sqlite3_close(bare);
    (void)close(fd);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? 0 : 1;
}
