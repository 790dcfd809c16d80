/*
 * sqlite_statement.h - statements that are prepared once and used again and again, and what is said
 * to them and asked of them. Texts are blobs, numbers have 64 bits.
 */
#ifndef STORE_SQLITE_STATEMENT_H
#define STORE_SQLITE_STATEMENT_H

#include <mcpx/base.h>

struct sqlite3;
struct sqlite3_stmt;

/** A statement's text, and where it comes once it is prepared. */
struct statement {
    const char *text;
    struct sqlite3_stmt **out;
};

/** Prepares a connection's statements. Returns SQLite's code. */
int statements_make(struct sqlite3 *db, const struct statement *rows, size_t count);

/** Frees all statements of a connection. */
void statements_free(struct sqlite3 *db);

/** Says a text, which has to stay until the statement has finished. Returns SQLite's code. */
int statement_say_text(struct sqlite3_stmt *statement, int at, struct mcpx_slice text);

/** Says numbers, from the first parameter on. Returns SQLite's code. */
int statement_say_numbers(struct sqlite3_stmt *statement, const int64_t *numbers, int count);

/** Runs a statement that gives no rows, and forgets what was said to it. Returns SQLite's code. */
int statement_finish(struct sqlite3_stmt *statement);

/** A text of the row that a statement stands at; lent until it is stepped. "" for NULL. */
struct mcpx_slice statement_text(struct sqlite3_stmt *statement, int at);

#endif
