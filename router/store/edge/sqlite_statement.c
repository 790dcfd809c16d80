/*
 * sqlite_statement.c - SQLite answers each call with a code, and the first that is not OK counts.
 */
#include "router/store/edge/sqlite_statement.h"

#include <sqlite3.h>

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

    while ((statement = sqlite3_next_stmt(db, NULL)))
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

int statement_finish(sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);

    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

struct mcpx_slice statement_text(sqlite3_stmt *statement, int at)
{
    const char *text = sqlite3_column_blob(statement, at);

    return (struct mcpx_slice){text ? text : "", (size_t)sqlite3_column_bytes(statement, at)};
}
