/*
 * sqlite_maintenance.c - a database opened for reading is not written to at all: the WAL of a
 * killed router stays for the next router. A database opened for changes is locked.
 */
#include "router/store/sqlite/sqlite_maintenance.h"

#include "lib/base/scoped.h"
#include "lib/json/json_write.h"
#include "router/store/sqlite/sqlite_schema.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Steps of SQLite between two reports of progress. */
enum { PROGRESS_STEPS = 1000000 };

/*
 * lock       -1 = none
 * messages   for the progress of a walk: messages read so far; `expected`: all of them
 */
struct maintenance {
    const char *file;
    int lock;
    struct sqlite3 *db;
    const struct schema_progress *progress;
    uint64_t messages, expected;
};

static int tell_of_life(void *context)
{
    const struct schema_progress *progress = context;

    progress->tell(progress->context, 0, 0);
    return 0;
}

static enum mcpx_err connect_to(struct maintenance *maintenance, bool alone,
                                struct mcpx_text *errors)
{
    struct store_config config = {.file = maintenance->file};
    enum mcpx_err err;

    if (!alone) {
        err = schema_open_reader(&config, errors, &maintenance->db);
        if (err == MCPX_OK)
            (void)sqlite3_db_config(maintenance->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
                                    NULL);
        return err;
    }
    err = lock_new(maintenance->file, errors, &maintenance->lock);
    return err == MCPX_OK ? schema_open(&config, errors, &maintenance->db) : err;
}

enum mcpx_err maintenance_open(const char *file, bool alone,
                               const struct schema_progress *progress,
                               struct mcpx_text *errors, struct maintenance **out)
{
    struct maintenance *maintenance = calloc(1, sizeof *maintenance);
    bool is_there = false;
    enum mcpx_err err;

    if (!maintenance)
        return MCPX_ENOMEM;
    *maintenance = (struct maintenance){.file = file, .lock = -1, .progress = progress};
    err = sqlite_file_examine(file, errors, &is_there);
    if (err == MCPX_OK && !is_there)
        err = MCPX_ENOTFOUND;
    else if (err == MCPX_OK && (err = connect_to(maintenance, alone, errors)) == MCPX_ECONFIG)
        err = MCPX_ESYSTEM;
    if (err != MCPX_OK) {
        maintenance_close(maintenance);
        return err;
    }
    if (progress)
        sqlite3_progress_handler(maintenance->db, PROGRESS_STEPS, tell_of_life,
                                 (void *)progress);
    *out = maintenance;
    return MCPX_OK;
}

void maintenance_close(struct maintenance *maintenance)
{
    if (!maintenance)
        return;
    (void)sqlite3_close(maintenance->db);
    lock_free(maintenance->lock);
    free(maintenance);
}

enum mcpx_err maintenance_backup(struct maintenance *maintenance, const char *copy,
                                 struct mcpx_text *errors)
{
    /* One file without a WAL, so that it can be moved, and opened for reading only. */
    struct schema_copy how = {.path = copy,
                              .then = "PRAGMA journal_mode = DELETE;"
                                      "INSERT OR REPLACE INTO meta VALUES ('renew', 1)",
                              .progress = maintenance->progress};

    if (access(copy, F_OK) == 0) {
        mx_format(errors, "%q is there already, and nothing is replaced; move it away\n",
                  copy);
        return MCPX_ECONFIG;
    }
    return schema_copy(maintenance->db, &how, errors);
}

/*
 * The old WAL is moved last: a router that is started in between finds a WAL beside a backup, and
 * does not start.
 */
static enum mcpx_err put_in_place(const char *made, const char *file, const char *old,
                                  struct mcpx_text *errors)
{
    mx_scoped_text ahead = mx_formatted("%s-wal", file);
    mx_scoped_text old_ahead = mx_formatted("%s-wal", old);
    enum mcpx_err err = ahead.failed || old_ahead.failed ? MCPX_ENOMEM : MCPX_OK;
    struct stat about;
    bool is_there = stat(file, &about) == 0;

    if (err == MCPX_OK && is_there &&
        (chown(made, about.st_uid, about.st_gid) != 0 || link(file, old) != 0)) {
        mx_format(errors, "%q cannot replace %q: %s; be the user that the router runs as\n",
                  made, file, strerror(errno));
        err = MCPX_ESYSTEM;
    }
    if (err == MCPX_OK)
        err = sqlite_file_move(made, file, errors);
    if (err == MCPX_OK && access(ahead.text, F_OK) == 0)
        err = sqlite_file_move(ahead.text, old_ahead.text, errors);
    return err;
}

enum mcpx_err maintenance_restore(struct maintenance *maintenance, const char *file,
                                  struct mcpx_text *errors)
{
    mx_scoped_text made = mx_formatted("%s.restored", file);
    mx_scoped_text old = mx_formatted("%s.old", file);
    enum mcpx_err err =
        made.failed || old.failed ? MCPX_ENOMEM : lock_new(file, errors, &maintenance->lock);

    if (err == MCPX_OK && access(old.text, F_OK) == 0) {
        mx_format(errors, "%q is there already, and nothing is replaced; move it away\n",
                  &old);
        err = MCPX_ECONFIG;
    }
    if (err == MCPX_OK &&
        (err = maintenance_backup(maintenance, made.text, errors)) == MCPX_OK)
        if ((err = put_in_place(made.text, file, old.text, errors)) != MCPX_OK)
            (void)unlink(made.text);
    return err;
}

enum mcpx_err maintenance_compact(struct maintenance *maintenance, struct mcpx_text *errors)
{
    if (schema_run(maintenance->db, "PRAGMA temp_store = FILE; VACUUM") ||
        !schema_checkpoint(maintenance->db))
        return schema_tell(maintenance->db, maintenance->file, errors);
    return MCPX_OK;
}

/* ---- erasing ---- */

static int erase(struct maintenance *maintenance, struct mcpx_slice topic, bool *found,
                 uint64_t *messages)
{
    static const char *const statements[] = {
        "DELETE FROM held WHERE topic = (SELECT topic FROM topic WHERE name = ?1)",
        "DELETE FROM entry WHERE topic = (SELECT topic FROM topic WHERE name = ?1)",
        "DELETE FROM topic WHERE name = ?1",
    };
    int code = schema_run(maintenance->db, "PRAGMA secure_delete = ON; BEGIN IMMEDIATE");

    for (size_t i = 0; code == SQLITE_OK && i < 3; i++) {
        sqlite3_stmt *statement = NULL;

        code = sqlite3_prepare_v2(maintenance->db, statements[i], -1, &statement, NULL);
        if (code == SQLITE_OK)
            code = statement_run(statement, NULL, 0, &topic, 1);
        (void)sqlite3_finalize(statement);
        if (i == 1)
            *messages = (uint64_t)sqlite3_changes(maintenance->db);
        else
            *found = sqlite3_changes(maintenance->db) > 0;
    }
    return code == SQLITE_OK ? schema_run(maintenance->db, "COMMIT") : code;
}

enum mcpx_err maintenance_erase(struct maintenance *maintenance, const char *topic,
                                uint64_t *messages, struct mcpx_text *errors)
{
    bool found = false;

    if (erase(maintenance, mcpx_slice_of(topic), &found, messages) ||
        !schema_checkpoint(maintenance->db)) {
        enum mcpx_err err = schema_tell(maintenance->db, maintenance->file, errors);

        (void)schema_run(maintenance->db, "ROLLBACK");
        return err;
    }
    return found ? MCPX_OK : MCPX_ENOTFOUND;
}

/* ---- checking the file ---- */

static void tell_damage(const struct maintenance_reader *reader, struct maintenance_sums *sums,
                        const struct maintenance_damage *damage)
{
    sums->damages++;
    if (reader->damage)
        reader->damage(reader->context, damage);
}

enum mcpx_err maintenance_check(struct maintenance *maintenance,
                                const struct maintenance_reader *reader,
                                struct maintenance_sums *sums, struct mcpx_text *errors)
{
    sqlite3_stmt *statement = NULL;
    int code =
        sqlite3_prepare_v2(maintenance->db, "PRAGMA integrity_check", -1, &statement, NULL);

    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct maintenance_damage damage = {
            .what = (const char *)sqlite3_column_text(statement, 0)};

        if (damage.what && strcmp(damage.what, "ok") != 0)
            tell_damage(reader, sums, &damage);
        code = SQLITE_OK;
    }
    (void)sqlite3_finalize(statement);
    return code == SQLITE_DONE ? MCPX_OK
                               : schema_tell(maintenance->db, maintenance->file, errors);
}

/* ---- walking through topics ---- */

/*
 * A topic being read.
 *
 * first, last   serials, as its row has them
 * next          the serial that comes next
 * bytes         of the texts so far
 */
struct walk {
    struct maintenance *maintenance;
    const struct maintenance_reader *reader;
    struct maintenance_sums *sums;
    struct mcpx_slice topic, epoch;
    uint64_t first, last, next, bytes;
};

static void note(struct walk *walk, uint64_t serial, const char *what)
{
    tell_damage(walk->reader, walk->sums,
                &(struct maintenance_damage){walk->topic, serial, what});
}

/* Reports the serials from the next one to before `end` as missing; a long gap as one. */
static void note_gap(struct walk *walk, uint64_t end)
{
    char what[80];

    if (end <= walk->next)
        return;
    (void)snprintf(what, sizeof what, "missing, with all up to serial %llu",
                   (unsigned long long)end - 1);
    note(walk, walk->next, end == walk->next + 1 ? "missing" : what);
}

static bool take_message(struct walk *walk, sqlite3_stmt *read)
{
    struct maintenance *maintenance = walk->maintenance;
    struct maintenance_message message = {.topic = walk->topic,
                                          .epoch = walk->epoch,
                                          .serial = (uint64_t)sqlite3_column_int64(read, 0),
                                          .wall_ms = sqlite3_column_int64(read, 1),
                                          .text = statement_text(read, 3)};

    if (message.serial < walk->next || message.serial > walk->last)
        note(walk, message.serial, "not one of the topic's serials");
    else
        note_gap(walk, message.serial);
    walk->next = message.serial + 1;
    walk->bytes += message.text.len;
    walk->sums->messages++;
    if (maintenance->progress && ++maintenance->messages % 1024 == 0)
        maintenance->progress->tell(maintenance->progress->context, maintenance->messages,
                                    maintenance->expected);
    if (schema_sum(walk->topic, message.serial, message.text) !=
        sqlite3_column_int64(read, 2)) {
        note(walk, message.serial, "not what was written");
        return true;
    }
    return !walk->reader->message || walk->reader->message(walk->reader->context, &message);
}

static int read_messages(struct walk *walk, int64_t row, bool *goes_on)
{
    static const char question[] =
        "SELECT serial, wall_ms, sum, text FROM entry WHERE topic = ?1 ORDER BY serial";
    sqlite3_stmt *read = NULL;
    int code = sqlite3_prepare_v2(walk->maintenance->db, question, -1, &read, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(read, 1, row);
    while (code == SQLITE_OK && *goes_on && (code = sqlite3_step(read)) == SQLITE_ROW) {
        *goes_on = take_message(walk, read);
        code = SQLITE_OK;
    }
    (void)sqlite3_finalize(read);
    return code;
}

/* Reads the topic in the statement's current row. Returns SQLite's code, except for damage. */
static int walk_topic(struct walk *walk, sqlite3_stmt *topics, bool *goes_on)
{
    uint64_t bytes = (uint64_t)sqlite3_column_int64(topics, 5);
    int code;

    walk->topic = statement_text(topics, 1);
    walk->epoch = statement_text(topics, 2);
    walk->first = (uint64_t)sqlite3_column_int64(topics, 3);
    walk->last = (uint64_t)sqlite3_column_int64(topics, 4);
    walk->next = walk->first;
    walk->bytes = 0;
    walk->sums->topics++;
    if (sqlite3_column_int64(topics, 3) < 1 || walk->last + 1 < walk->first) {
        note(walk, 0, "its row is damaged");
        walk->next = 1;
    }
    code = read_messages(walk, sqlite3_column_int64(topics, 0), goes_on);
    if (code == SQLITE_CORRUPT) {
        note(walk, walk->next, sqlite3_errmsg(walk->maintenance->db));
        code = SQLITE_DONE;
    } else if (code == SQLITE_DONE) {
        note_gap(walk, walk->last + 1);
        if (walk->bytes != bytes)
            note(walk, 0, "its messages have not the size that its row says");
    }
    walk->sums->bytes += walk->bytes;
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int walk_topics(struct walk *walk, const char *topic)
{
    static const char question[] =
        "SELECT topic, name, epoch, first_serial, last_serial, bytes,"
        " sum(last_serial - first_serial + 1) OVER () FROM topic"
        " WHERE ?1 IS NULL OR name = ?1 ORDER BY topic";
    struct maintenance *maintenance = walk->maintenance;
    sqlite3_stmt *topics = NULL;
    bool goes_on = true;
    int code = sqlite3_prepare_v2(maintenance->db, question, -1, &topics, NULL);

    if (code == SQLITE_OK && topic)
        code = statement_say_text(topics, 1, mcpx_slice_of(topic));
    while (code == SQLITE_OK && goes_on && (code = sqlite3_step(topics)) == SQLITE_ROW) {
        maintenance->expected = (uint64_t)sqlite3_column_int64(topics, 6);
        code = walk_topic(walk, topics, &goes_on);
    }
    (void)sqlite3_finalize(topics);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

enum mcpx_err maintenance_walk(struct maintenance *maintenance, const char *topic,
                               const struct maintenance_reader *reader,
                               struct maintenance_sums *sums, struct mcpx_text *errors)
{
    struct walk walk = {.maintenance = maintenance, .reader = reader, .sums = sums};
    int code = schema_run(maintenance->db, "BEGIN");
    enum mcpx_err err;

    maintenance->messages = 0;
    if (code == SQLITE_OK)
        code = walk_topics(&walk, topic);
    err =
        code == SQLITE_OK ? MCPX_OK : schema_tell(maintenance->db, maintenance->file, errors);
    (void)schema_run(maintenance->db, "COMMIT");
    return err;
}
