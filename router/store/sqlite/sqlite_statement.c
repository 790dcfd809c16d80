/*
 * sqlite_statement.c - SQLite answers each call with a code, and the first that is not OK counts.
 *
 * A rejection is certain while the transaction cannot be on the disk. Before COMMIT it always is. A
 * COMMIT writes frames, then syncs, then changes the index in memory. The last frame makes the
 * transaction valid. After an error of writing, the last frame is not whole; any other error may
 * come after it.
 *
 * After a failed sync, the kernel may have dropped the data and report success the next time. So
 * everything is refused until a restart writes all of it anew.
 */
#include "router/store/sqlite/sqlite_schema.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

int statements_make(struct sqlite3 *db, const struct statement *rows, size_t count)
{
    int code = SQLITE_OK;

    for (size_t i = 0; code == SQLITE_OK && i < count; i++)
        code = sqlite3_prepare_v3(db, rows[i].text, -1, SQLITE_PREPARE_PERSISTENT, rows[i].out,
                                  NULL);
    return code;
}

void statements_free(struct sqlite3 *db)
{
    sqlite3_stmt *statement;

    while (db && (statement = sqlite3_next_stmt(db, NULL)))
        (void)sqlite3_finalize(statement);
}

int statement_say_text(sqlite3_stmt *statement, int at, struct mcpx_slice text)
{
    return sqlite3_bind_blob64(statement, at, text.text ? text.text : "", text.len,
                               SQLITE_STATIC);
}

int statement_say_numbers(sqlite3_stmt *statement, const int64_t *numbers, int count)
{
    int code = SQLITE_OK;

    for (int i = 0; code == SQLITE_OK && i < count; i++)
        code = sqlite3_bind_int64(statement, i + 1, numbers[i]);
    return code;
}

int statement_run(sqlite3_stmt *statement, const int64_t *numbers, int count,
                  const struct mcpx_slice *texts, int text_count)
{
    int code = statement_say_numbers(statement, numbers, count);

    for (int i = 0; code == SQLITE_OK && i < text_count; i++)
        code = statement_say_text(statement, count + i + 1, texts[i]);
    if (code != SQLITE_OK)
        return code;
    code = sqlite3_step(statement);
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

struct mcpx_slice statement_text(sqlite3_stmt *statement, int at)
{
    const char *text = sqlite3_column_blob(statement, at);

    return (struct mcpx_slice){text ? text : "", (size_t)sqlite3_column_bytes(statement, at)};
}

struct extent extent_of(struct sqlite3_stmt *statement)
{
    return (struct extent){sqlite3_column_int64(statement, 0),
                           (uint64_t)sqlite3_column_int64(statement, 1),
                           (uint64_t)sqlite3_column_int64(statement, 2),
                           (uint64_t)sqlite3_column_int64(statement, 3),
                           (uint64_t)sqlite3_column_int64(statement, 4)};
}

/* ---- what an error means ---- */

/* Time after which a retry may help, in milliseconds. */
enum { RETRY_MS = 1000 };

/* The system's error number. SQLite keeps it, but not that of a COMMIT. */
static int cause_of(struct sqlite3 *db)
{
    int cause = errno;

    return cause ? cause : sqlite3_system_errno(db);
}

bool error_is_at_bound(int code)
{
    return (code & 0xff) == SQLITE_FULL && errno != ENOSPC && errno != EDQUOT;
}

bool error_is_full(struct sqlite3 *db, int code)
{
    int cause = cause_of(db);

    return (code & 0xff) == SQLITE_FULL ||
           (code == SQLITE_IOERR_WRITE &&
            (cause == ENOSPC || cause == EFBIG || cause == EDQUOT));
}

bool error_is_damage(int code)
{
    return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_CONSTRAINT;
}

bool error_is_of_disk(int code)
{
    return (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
}

static void say(struct sqlite3 *db, int code, struct stage_report *report)
{
    bool of_disk = error_is_of_disk(code);
    const char *cause = of_disk && cause_of(db) ? strerror(cause_of(db)) : "";

    (void)snprintf(report->reason, sizeof report->reason, "%s (%d%s%s)",
                   of_disk || sqlite3_errcode(db) != code ? sqlite3_errstr(code)
                                                          : sqlite3_errmsg(db),
                   code, *cause ? ": " : "", cause);
}

struct rejection error_judge(struct sqlite3 *db, int code, bool committing,
                             struct stage_report *report)
{
    struct rejection rejection = {MCPX_EUNAVAILABLE, RETRY_MS, true};
    bool full = error_is_full(db, code);

    say(db, code, report);
    if (full) {
        report->state = STAGE_FULL;
    } else if ((code & 0xff) == SQLITE_BUSY) {
        report->state = STAGE_LOCKED;
    } else if (!committing && (code & 0xff) == SQLITE_NOMEM) {
        report->state = STAGE_READY;
    } else if (!committing && error_is_damage(code)) {
        report->state = STAGE_READY;
        rejection.retry_ms = 0;
    } else {
        report->state = STAGE_FAILED;
        rejection = (struct rejection){MCPX_EUNAVAILABLE, 0, !committing};
    }
    return rejection;
}
