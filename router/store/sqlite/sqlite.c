/*
 * sqlite.c - two threads on one database. The writer stores what the loop puts. Loads of topics
 * pass through it to the loader, so the loader sees all that was stored before. With two
 * connections, writing goes on while the loader reads a large topic.
 *
 * A mark is a random word in the database and in FILE.lock. Each start and each clean end makes a
 * new one. A file restored from a copy has another mark than its lock, and may lack delivered
 * messages. Then every epoch is renewed: no client may be told that it missed nothing (protocol
 * section 5). Both files cannot change at once: while the database changes, the lock holds the old
 * mark and the new one, and either will do. On a full disk, or while another program has locked the
 * database, the database is only read, until it can be marked.
 */
#include "router/store/sqlite/sqlite.h"

#include "lib/base/ident.h"
#include "lib/json/json_write.h"
#include "router/store/sqlite/sqlite_schema.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- marks: was the database set back since the last router used it? ---- */

enum { MARK_LEN = 32, BOOT_LEN = 36 };

/* The last use of the database, as recorded in meta. */
struct last {
    char mark[MARK_LEN + 1]; /* "" = never */
    char boot_id[BOOT_LEN + 1];
    bool clean; /* the router was ended properly */
    bool full;  /* every batch was synced */
    bool renew; /* it is a copy */
};

static struct last read_last(struct sqlite3 *db)
{
    static const char question[] = "SELECT max(iif(key = 'mark', value, '')),"
                                   " max(iif(key = 'boot_id', value, '')),"
                                   " max(key = 'clean' AND value = 1),"
                                   " max(key = 'full' AND value = 1),"
                                   " max(key = 'renew' AND value = 1) FROM meta";
    struct last last = {.clean = false};
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(db, question, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) &&
        sqlite3_column_text(statement, 1)) {
        (void)snprintf(last.mark, sizeof last.mark, "%s",
                       (const char *)sqlite3_column_text(statement, 0));
        (void)snprintf(last.boot_id, sizeof last.boot_id, "%s",
                       (const char *)sqlite3_column_text(statement, 1));
        last.clean = sqlite3_column_int(statement, 2) == 1;
        last.full = sqlite3_column_int(statement, 3) == 1;
        last.renew = sqlite3_column_int(statement, 4) == 1;
    }
    (void)sqlite3_finalize(statement);
    return last;
}

/* Reads the kernel's id of this boot of the machine; "" when it has none. */
static void read_boot_id(char out[BOOT_LEN + 1])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, out, BOOT_LEN) : 0;

    out[len > 0 ? len : 0] = '\0';
    if (fd >= 0)
        (void)close(fd);
}

static void make_mark(char out[MARK_LEN + 1])
{
    unsigned char bytes[MARK_LEN / 2];

    sqlite3_randomness(sizeof bytes, bytes);
    mx_hex_format(bytes, sizeof bytes, out);
}

/* Writes `now` to meta, with new epochs if it says so, in one transaction. SQLite's code. */
static int write_database(struct sqlite3 *db, const struct last *now)
{
    static const char form[] =
        "BEGIN IMMEDIATE;"
        "INSERT OR REPLACE INTO meta VALUES ('mark', %Q), ('boot_id', %Q), ('clean', %d),"
        " ('full', %d), ('renew', 0);"
        "UPDATE topic SET epoch = lower(hex(randomblob(16))) WHERE %d;"
        "COMMIT";
    char *statements =
        sqlite3_mprintf(form, now->mark, now->boot_id, now->clean, now->full, now->renew);
    int code = statements ? schema_run(db, statements) : SQLITE_NOMEM;

    if (!sqlite3_get_autocommit(db))
        (void)schema_run(db, "ROLLBACK");
    sqlite3_free(statements);
    return code;
}

static int change(struct sqlite3 *db, int lock, const char *before, struct last *now)
{
    char both[2 * MARK_LEN + 2];
    int code;

    make_mark(now->mark);
    read_boot_id(now->boot_id);
    (void)snprintf(both, sizeof both, "%s\n%s", before, now->mark);
    errno = 0;
    code = lock_write(lock, both) ? write_database(db, now) : SQLITE_IOERR_WRITE;
    return code == SQLITE_OK && !lock_write(lock, now->mark) ? SQLITE_IOERR_WRITE : code;
}

/*
 * Writes a new mark. Renews the epochs if the database is a copy (`renew` in meta), if it was set
 * back, or if the machine stopped before every batch was synced. All is on the disk when this
 * returns if `PRAGMA synchronous` is FULL. Returns SQLite's code; `renews` is filled in any case.
 */
static int mark_begin(struct sqlite3 *db, int lock, bool full, bool *renews)
{
    struct last last = read_last(db);
    struct last now = {.full = full};
    char boot_id[BOOT_LEN + 1];
    char marks[2 * MARK_LEN + 2];

    read_boot_id(boot_id);
    lock_read(lock, marks, sizeof marks);
    now.renew = last.renew || (last.mark[0] != '\0' && !strstr(marks, last.mark)) ||
                (!last.clean && !last.full &&
                 (boot_id[0] == '\0' || strcmp(boot_id, last.boot_id) != 0));
    *renews = now.renew;
    return change(db, lock, last.mark, &now);
}

/* Marks a clean end. All earlier writes are on the disk as well. As mark_begin. */
static int mark_end(struct sqlite3 *db, int lock)
{
    struct last last = read_last(db);
    struct last now = {.clean = true, .full = last.full};

    return change(db, lock, last.mark, &now);
}

/* The longest sleep of an idle thread, in milliseconds. */
enum { LONG_MS = 3600000 };

struct sqlite {
    struct work_queue *work, *reading; /* the work queues of the two threads */
    struct mcpx_text file, ahead;      /* paths: the database and its WAL */
    int lock;                          /* -1 = none */
    struct sqlite3 *db, *reader_db;
    struct writer *writer;
    struct loader loader;
    bool has_failed; /* the writer's final state is FAILED */
    bool full;       /* of the configuration: every batch is synced */
    bool is_marked;  /* the database has the mark of this start */
};

static struct stored_topic_load *topic_load_of(struct link *link)
{
    return LIST_ELEMENT(link, struct stored_topic_load, kept.link);
}

/* ---- the writer's thread ---- */

static uint64_t size_of(const struct mcpx_text *path)
{
    struct stat about;

    return stat(path->text, &about) == 0 ? (uint64_t)about.st_size : 0;
}

/* Passes loads of topics on to the loader: all submissions before them are stored by now. */
static void pass_on(struct sqlite *sqlite, struct batch *batch)
{
    while (!list_is_empty(&batch->kept_items)) {
        struct link *link = batch->kept_items.next;
        struct stored_topic_load *load = topic_load_of(link);
        struct link one;

        list_remove(link);
        if (load->closes) {
            writer_close(sqlite->writer, load->name);
            stored_topic_load_free(load);
            continue;
        }
        if (!writer_open(sqlite->writer, load->name))
            load->rejection = (struct rejection){MCPX_ENOMEM, 0, true};
        list_init(&one);
        list_append(&one, link);
        work_queue_put(sqlite->reading, &one, 1);
    }
}

static void write_all(void *context)
{
    struct sqlite *sqlite = context;
    struct stage_report report = {.bytes = size_of(&sqlite->file)};
    struct batch batch;
    int64_t wait_ms = 0;

    while (work_queue_take(sqlite->work, wait_ms, &batch)) {
        bool idle = batch.count == 0;
        enum stage_state told;

        if (!idle) {
            writer_store(sqlite->writer, &batch, &report);
            work_queue_answer(sqlite->work, &batch.items, &report);
        }
        pass_on(sqlite, &batch);
        told = report.state;
        wait_ms = writer_upkeep(sqlite->writer, idle, &report);
        report.bytes = size_of(&sqlite->file) + size_of(&sqlite->ahead);
        if (report.state != told)
            work_queue_answer(sqlite->work, &batch.items, &report);
    }
    sqlite->has_failed = report.state == STAGE_FAILED;
}

/* ---- the loader's thread ---- */

static void read_all(void *context)
{
    struct sqlite *sqlite = context;
    struct stage_report report = {0};
    struct batch batch;

    while (work_queue_take(sqlite->reading, LONG_MS, &batch)) {
        for (struct link *at = batch.items.next; at != &batch.items; at = at->next)
            if (topic_load_of(at)->rejection.err == MCPX_OK)
                loader_read(&sqlite->loader, topic_load_of(at));
        if (batch.count > 0)
            work_queue_answer(sqlite->reading, &batch.items, &report);
    }
}

/* One load per batch: the first load is answered before the next one is read. */
static size_t weigh_load(const struct link *item)
{
    (void)item;
    return BATCH_BYTES_MAX;
}

/* ---- beginning and end ---- */

/* Writes the mark that failed at the start. Returns SQLite's code. */
static int mark_late(void *context)
{
    struct sqlite *sqlite = context;
    bool renews;
    int code = schema_run(sqlite->db, "PRAGMA synchronous = FULL");

    if (code == SQLITE_OK)
        code = mark_begin(sqlite->db, sqlite->lock, sqlite->full, &renews);
    sqlite->is_marked = code == SQLITE_OK;
    return code == SQLITE_OK && !sqlite->full
               ? schema_run(sqlite->db, "PRAGMA synchronous = NORMAL")
               : code;
}

/* Marks the database. A full or locked one is accepted, unless its epochs must be renewed. */
static enum mcpx_err mark(struct sqlite *sqlite, const char *file, struct mcpx_text *errors)
{
    bool renews = false;
    int code = mark_begin(sqlite->db, sqlite->lock, sqlite->full, &renews);

    sqlite->is_marked = code == SQLITE_OK;
    if (code == SQLITE_OK ||
        (!renews && ((code & 0xff) == SQLITE_BUSY || error_is_full(sqlite->db, code))))
        return MCPX_OK;
    mx_format(errors, "store.file %q cannot be marked as in use: %s\n", file,
              sqlite3_errstr(code));
    return MCPX_ESYSTEM;
}

static enum mcpx_err open_files(struct sqlite *sqlite, const struct store_config *config,
                                struct mcpx_text *errors)
{
    bool is_there;
    enum mcpx_err err = sqlite_file_examine(config->file, errors, &is_there);

    if (err == MCPX_OK)
        err = lock_new(config->file, errors, &sqlite->lock);
    if (err == MCPX_OK)
        err = schema_open(config, errors, &sqlite->db);
    if (err == MCPX_OK)
        err = mark(sqlite, config->file, errors);
    if (err == MCPX_OK && !config->full &&
        schema_run(sqlite->db, "PRAGMA synchronous = NORMAL"))
        err = schema_tell(sqlite->db, config->file, errors);
    if (err == MCPX_OK)
        err = schema_open_reader(config, errors, &sqlite->reader_db);
    if (err != MCPX_OK)
        return err;
    err = writer_new(sqlite->db, config, &sqlite->writer);
    if (err != MCPX_OK)
        return err == MCPX_ENOMEM ? err : schema_tell(sqlite->db, config->file, errors);
    if (!sqlite->is_marked)
        writer_await(sqlite->writer, mark_late, sqlite);
    return loader_init(&sqlite->loader, sqlite->reader_db) == SQLITE_OK
               ? MCPX_OK
               : schema_tell(sqlite->reader_db, config->file, errors);
}

static enum mcpx_err start(struct sqlite *sqlite, void (*wake)(void *context), void *context)
{
    struct work_queue_config work = {write_all, sqlite, submission_weight, wake, context};
    struct work_queue_config reading = {read_all, sqlite, weigh_load, wake, context};
    enum mcpx_err err = work_queue_new(&reading, &sqlite->reading);

    if (err == MCPX_OK)
        err = work_queue_new(&work, &sqlite->work);
    if (err == MCPX_OK)
        err = work_queue_start(sqlite->reading);
    return err == MCPX_OK ? work_queue_start(sqlite->work) : err;
}

enum mcpx_err sqlite_new(const struct store_config *config, void (*wake)(void *context),
                         void *context, struct mcpx_text *errors, struct sqlite **out)
{
    struct sqlite *sqlite = calloc(1, sizeof *sqlite);
    enum mcpx_err err;

    if (!sqlite)
        return MCPX_ENOMEM;
    sqlite->lock = -1;
    sqlite->full = config->full;
    mx_format(&sqlite->file, "%s", config->file);
    mx_format(&sqlite->ahead, "%s-wal", config->file);
    err = sqlite->file.failed || sqlite->ahead.failed ? MCPX_ENOMEM
                                                      : open_files(sqlite, config, errors);
    if (err == MCPX_OK) {
        err = start(sqlite, wake, context);
        if (err == MCPX_ESYSTEM)
            mcpx_text_puts(errors, "store: no more threads can be started\n");
    }
    if (err != MCPX_OK) {
        sqlite_free(sqlite);
        return err;
    }
    *out = sqlite;
    return MCPX_OK;
}

/* A failed database is left to the next start: its last writes are uncertain. */
static void close_files(struct sqlite *sqlite)
{
    writer_free(sqlite->writer);
    statements_free(sqlite->reader_db);
    (void)sqlite3_close(sqlite->reader_db);
    if (sqlite->has_failed)
        (void)sqlite3_db_config(sqlite->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (sqlite->writer && !sqlite->has_failed && sqlite->is_marked &&
        schema_run(sqlite->db, "PRAGMA synchronous = FULL") == SQLITE_OK &&
        mark_end(sqlite->db, sqlite->lock) == SQLITE_OK)
        (void)schema_checkpoint(sqlite->db);
    (void)sqlite3_close(sqlite->db);
    lock_free(sqlite->lock);
}

void sqlite_free(struct sqlite *sqlite)
{
    struct link loads;

    if (!sqlite)
        return;
    if (sqlite->work)
        work_queue_end(sqlite->work);
    if (sqlite->reading) {
        work_queue_end(sqlite->reading);
        list_init(&loads);
        sqlite_loads(sqlite, &loads);
        LIST_EACH(at, &loads)
            stored_topic_load_free(topic_load_of(at));
    }
    work_queue_free(sqlite->work);
    work_queue_free(sqlite->reading);
    close_files(sqlite);
    mcpx_text_fini(&sqlite->file);
    mcpx_text_fini(&sqlite->ahead);
    free(sqlite);
}

/* ---- the loop's side ---- */

struct work_queue *sqlite_queue(struct sqlite *sqlite)
{
    return sqlite->work;
}

enum mcpx_err sqlite_pass(struct sqlite *sqlite, const struct task *task)
{
    struct stored_topic_load *load = stored_topic_load_new(task);

    if (!load)
        return MCPX_ENOMEM;
    work_queue_put_kept(sqlite->work, &load->kept);
    return MCPX_OK;
}

void sqlite_loads(struct sqlite *sqlite, struct link *loads)
{
    struct stage_report report = {0};

    work_queue_answers(sqlite->reading, loads, &report);
}
