/*
 * sqlite_schema.c - the tables of a database, in each version.
 *
 *     meta    about the file itself (sqlite.c)
 *     topic   its epoch, and the serials of its first and last entry. Without entries the last is
 *             one less than the first. Entries behind `counted_serial` are not in `held` yet
 *     entry   an envelope, byte for byte, and its sender. Serials of a topic have no gap
 *     held    bytes of each participant in each topic
 *
 * Versions are steps: the first one makes the tables, each one after it changes them.
 */
#include "router/store/sqlite/sqlite_schema.h"

#include "lib/base/map.h"
#include "lib/base/scoped.h"
#include "lib/json/json_write.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

/* steps[n] makes version n + 1 of version n. */
static const char *const steps[SCHEMA_VERSION] = {
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE topic (topic INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE,"
    " epoch TEXT NOT NULL, first_serial INTEGER NOT NULL, last_serial INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL) STRICT;"
    "CREATE TABLE entry (seq INTEGER PRIMARY KEY, topic INTEGER NOT NULL,"
    " serial INTEGER NOT NULL, wall_ms INTEGER NOT NULL, sum INTEGER NOT NULL,"
    " text BLOB NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX entry_serial ON entry(topic, serial);"
    "INSERT INTO meta VALUES ('created', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));",

    /* "ann" owns entries of "ann" and of its instance "ann~2". Unreadable texts have no owner. */
    "ALTER TABLE entry ADD COLUMN owner BLOB NOT NULL DEFAULT x'';"
    "UPDATE entry SET owner = (SELECT CAST(iif(name <> base AND base GLOB '?*~',"
    " substr(base, 1, length(base) - 1), name) AS BLOB)"
    " FROM (SELECT name, rtrim(name, '0123456789') AS base FROM"
    " (SELECT json_extract(CAST(text AS TEXT), '$.from') AS name)))"
    " WHERE json_type(iif(json_valid(CAST(text AS TEXT)), CAST(text AS TEXT), '{}'), '$.from')"
    " = 'text';"
    "CREATE TABLE held (owner BLOB NOT NULL, topic INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " PRIMARY KEY (owner, topic)) WITHOUT ROWID, STRICT;"
    "INSERT INTO held SELECT owner, topic, sum(length(text)) FROM entry GROUP BY 1, 2;"
    "ALTER TABLE topic ADD COLUMN counted_serial INTEGER NOT NULL DEFAULT 0;"
    "UPDATE topic SET counted_serial = last_serial;",
};

/* Pages of a copy between two reports of its progress. */
enum { COPY_PAGES = 1000 };

int64_t schema_sum(struct mcpx_slice topic, uint64_t serial, struct mcpx_slice text)
{
    static const struct mx_map_key fixed = {{0x6d637078, 1}};
    struct mx_map_key key = {{mx_map_hash(fixed, topic), serial}};

    return (int64_t)mx_map_hash(key, text);
}

int schema_run(struct sqlite3 *db, const char *statements)
{
    return sqlite3_exec(db, statements, NULL, NULL, NULL);
}

static int set_pragma(struct sqlite3 *db, const char *name, long long number)
{
    char statement[80];

    (void)snprintf(statement, sizeof statement, "PRAGMA %s = %lld", name, number);
    return schema_run(db, statement);
}

enum mcpx_err schema_tell(struct sqlite3 *db, const char *file, struct mcpx_text *errors)
{
    int code = sqlite3_errcode(db);

    if (code == SQLITE_NOMEM)
        return MCPX_ENOMEM;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR) {
        mx_format(
            errors,
            "store.file %q is damaged: %s; put a backup in its place, or move it away and "
            "begin anew\n",
            file, sqlite3_errmsg(db));
        return MCPX_ECONFIG;
    }
    mx_format(errors, "store.file %q cannot be used: %s", file, sqlite3_errmsg(db));
    if (sqlite3_system_errno(db))
        mx_format(errors, " (%s)", strerror(sqlite3_system_errno(db)));
    if ((code & 0xff) == SQLITE_BUSY)
        mcpx_text_puts(errors, "; end the program that has locked it");
    mcpx_text_puts(errors, "\n");
    return MCPX_ESYSTEM;
}

/* ---- opening ---- */

static enum mcpx_err connect_to(const char *file, const char *vfs, struct mcpx_text *errors,
                                struct sqlite3 **out)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    struct sqlite3 *db = NULL;
    enum mcpx_err err = MCPX_OK;

    if (sqlite3_open_v2(file, &db, flags, vfs) != SQLITE_OK)
        err = db ? schema_tell(db, file, errors) : MCPX_ENOMEM;
    else if (sqlite3_busy_timeout(db, SCHEMA_BUSY_MS) != SQLITE_OK ||
             sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) != SQLITE_OK ||
             sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) != SQLITE_OK ||
             schema_run(db, "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY") ||
             set_pragma(db, "cache_size", -SCHEMA_CACHE_KIB))
        err = schema_tell(db, file, errors);
    if (err == MCPX_OK)
        *out = db;
    else
        (void)sqlite3_close(db);
    return err;
}

int64_t schema_ask(struct sqlite3 *db, const char *question)
{
    sqlite3_stmt *statement = NULL;
    int64_t answer = -1;

    if (sqlite3_prepare_v2(db, question, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        answer = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return answer;
}

/* Migrates the tables from `version` to SCHEMA_VERSION, in one transaction. */
static bool migrate(struct sqlite3 *db, int version)
{
    if (schema_run(db, "BEGIN IMMEDIATE"))
        return false;
    for (int step = version; step < SCHEMA_VERSION; step++)
        if (schema_run(db, steps[step]))
            return false;
    return !set_pragma(db, "user_version", SCHEMA_VERSION) && !schema_run(db, "COMMIT");
}

/* ---- copies, and an older version ---- */

/* Copies the source as of the beginning, some pages at a time. Returns SQLite's code. */
static int copy_pages(struct sqlite3 *copy, struct sqlite3 *db,
                      const struct schema_progress *progress)
{
    sqlite3_backup *backup;
    int code = schema_run(db, "BEGIN; SELECT count(*) FROM sqlite_schema");
    int finished;

    if (code != SQLITE_OK)
        return code;
    backup = sqlite3_backup_init(copy, "main", db, "main");
    while (backup && (code = sqlite3_backup_step(backup, COPY_PAGES)) == SQLITE_OK)
        if (progress)
            progress->tell(progress->context,
                           (uint64_t)(sqlite3_backup_pagecount(backup) -
                                      sqlite3_backup_remaining(backup)),
                           (uint64_t)sqlite3_backup_pagecount(backup));
    finished = backup ? sqlite3_backup_finish(backup) : sqlite3_errcode(copy);
    (void)schema_run(db, "COMMIT");
    return code == SQLITE_BUSY || code == SQLITE_LOCKED ? code : finished;
}

/* Fills an empty file: with a copy of a database, or with our tables. */
static enum mcpx_err fill(const char *path, struct sqlite3 *db, const struct schema_copy *how,
                          struct mcpx_text *errors)
{
    struct sqlite3 *made = NULL;
    enum mcpx_err err = connect_to(path, how->vfs, errors, &made);

    if (err != MCPX_OK)
        return err;
    if (db ? copy_pages(made, db, how->progress) || schema_run(made, how->then)
           : schema_run(made, "PRAGMA synchronous = EXTRA") ||
                 set_pragma(made, "application_id", SCHEMA_ID) || !migrate(made, 0))
        err = schema_tell(made, path, errors);
    if (sqlite3_close(made) != SQLITE_OK && err == MCPX_OK)
        err = MCPX_ESYSTEM;
    return err;
}

enum mcpx_err schema_copy(struct sqlite3 *db, const struct schema_copy *how,
                          struct mcpx_text *errors)
{
    mx_scoped_text made = mx_formatted("%s.new", how->path);
    enum mcpx_err err;

    if (made.failed)
        return MCPX_ENOMEM;
    err = sqlite_file_make(made.text, errors);
    if (err == MCPX_OK)
        err = fill(made.text, db, how, errors);
    if (err == MCPX_OK)
        err = sqlite_file_move(made.text, how->path, errors);
    if (err != MCPX_OK)
        (void)unlink(made.text);
    return err;
}

/* Copies the database to FILE.vN, which must not be there. */
static enum mcpx_err keep_copy(struct sqlite3 *db, const struct store_config *config,
                               int version, struct mcpx_text *errors)
{
    mx_scoped_text place = mx_formatted("%s.v%s", config->file, version);
    struct schema_copy how = {
        .path = place.text, .vfs = config->vfs, .then = "PRAGMA journal_mode = DELETE"};

    if (place.failed)
        return MCPX_ENOMEM;
    if (access(place.text, F_OK) == 0) {
        mx_format(errors,
                  "store.file %q is to be migrated from version %s, and its copy %q is there "
                  "already; move that away\n",
                  config->file, version, place.text);
        return MCPX_ECONFIG;
    }
    return schema_copy(db, &how, errors);
}

static enum mcpx_err bring_up_to_date(struct sqlite3 *db, const struct store_config *config,
                                      struct mcpx_text *errors)
{
    int64_t version = schema_ask(db, "PRAGMA user_version");
    enum mcpx_err err;

    if (version < 0)
        return schema_tell(db, config->file, errors);
    if (version >= SCHEMA_VERSION)
        return MCPX_OK;
    err = keep_copy(db, config, (int)version, errors);
    if (err == MCPX_OK && !migrate(db, (int)version))
        err = schema_tell(db, config->file, errors);
    return err;
}

/* ---- the writer's connection ---- */

/* Checks the whole file: SQLite answers with one row, "ok" or an error. */
static enum mcpx_err check_whole(struct sqlite3 *db, const char *file,
                                 struct mcpx_text *errors)
{
    sqlite3_stmt *statement = NULL;
    enum mcpx_err err = MCPX_ECONFIG;
    const char *found = NULL;

    if (sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        found = (const char *)sqlite3_column_text(statement, 0);
    if (!found)
        err = schema_tell(db, file, errors);
    else if (strcmp(found, "ok") == 0)
        err = MCPX_OK;
    else
        mx_format(errors, "store.file %q is damaged: %s; put a backup in its place\n", file,
                  found);
    (void)sqlite3_finalize(statement);
    return err;
}

bool schema_checkpoint(struct sqlite3 *db)
{
    int code;

    errno = 0;
    code = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return code == SQLITE_OK || code == SQLITE_BUSY || error_is_full(db, code);
}

static bool set_up(struct sqlite3 *db, const struct store_config *config)
{
    int64_t page = schema_ask(db, "PRAGMA page_size");

    if (page <= 0)
        return false;
    if (schema_run(db, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
                       "PRAGMA synchronous = FULL") ||
        !schema_checkpoint(db))
        return false;
    return set_pragma(db, "max_page_count",
                      config->file_bytes ? (long long)(config->file_bytes / (uint64_t)page)
                                         : 0xFFFFFFFELL) == SQLITE_OK;
}

enum mcpx_err schema_open(const struct store_config *config, struct mcpx_text *errors,
                          struct sqlite3 **out)
{
    struct sqlite3 *db = NULL;
    bool is_there = false;
    enum mcpx_err err = sqlite_file_examine(config->file, errors, &is_there);

    if (err == MCPX_OK && !is_there)
        err = schema_copy(
            NULL, &(struct schema_copy){.path = config->file, .vfs = config->vfs}, errors);
    if (err == MCPX_OK)
        err = connect_to(config->file, config->vfs, errors, &db);
    if (err != MCPX_OK)
        return err;
    if (sqlite3_db_readonly(db, "main")) {
        mx_format(errors,
                  "store.file %q cannot be written; give the router the right to write it\n",
                  config->file);
        err = MCPX_ECONFIG;
    } else if (config->check) {
        err = check_whole(db, config->file, errors);
    }
    if (err == MCPX_OK)
        err = bring_up_to_date(db, config, errors);
    if (err == MCPX_OK && !set_up(db, config))
        err = schema_tell(db, config->file, errors);
    if (err == MCPX_OK)
        *out = db;
    else
        (void)sqlite3_close(db);
    return err;
}

enum mcpx_err schema_open_reader(const struct store_config *config, struct mcpx_text *errors,
                                 struct sqlite3 **out)
{
    struct sqlite3 *db = NULL;
    enum mcpx_err err = connect_to(config->file, config->vfs, errors, &db);

    if (err != MCPX_OK)
        return err;
    if (schema_run(db, "PRAGMA query_only = ON")) {
        err = schema_tell(db, config->file, errors);
        (void)sqlite3_close(db);
        return err;
    }
    *out = db;
    return MCPX_OK;
}
