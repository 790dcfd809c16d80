/*
 * sqlite_statement.h - statements that are prepared once and used again and again, and what is said
 * to them and asked of them. Texts are blobs, numbers have 64 bits. And what an
 * error of SQLite means for a batch, and for those that come after it.
 */
#ifndef STORE_SQLITE_STATEMENT_H
#define STORE_SQLITE_STATEMENT_H

#include "router/store/commit/stage.h"
#include "router/store/commit/submission.h"
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

/** Frees all statements of a connection. NULL is allowed. */
void statements_free(struct sqlite3 *db);

/** Says a text, which has to stay until the statement has finished. Returns SQLite's code. */
int statement_say_text(struct sqlite3_stmt *statement, int at, struct mcpx_slice text);

/** Says numbers, from the first parameter on. Returns SQLite's code. */
int statement_say_numbers(struct sqlite3_stmt *statement, const int64_t *numbers, int count);

/** Runs a statement that gives no rows, and forgets what was said to it. Returns SQLite's code. */
int statement_finish(struct sqlite3_stmt *statement);

/** statement_say_numbers and statement_finish. */
int statement_run(struct sqlite3_stmt *statement, const int64_t *numbers, int count);

/** A text of the row that a statement stands at; lent until it is stepped. "" for NULL. */
struct mcpx_slice statement_text(struct sqlite3_stmt *statement, int at);

/** A row of `topic`. `row` is 0 as long as there is none. */
struct extent {
    int64_t row;
    uint64_t first, last; /* serials; without entries the last is one less than the first */
    uint64_t bytes;       /* of the texts */
    uint64_t counted;     /* the serial up to which `held` has them */
};

/** The columns of `topic` that extent_of reads. */
#define EXTENT_COLUMNS "topic.topic, first_serial, last_serial, topic.bytes, counted_serial"

/** The extent in the row that a statement stands at. */
struct extent extent_of(struct sqlite3_stmt *statement);

/**
 * Judges the error of a transaction, before it is rolled back. `errno` is as SQLite left it; it was
 * 0 before COMMIT.
 *
 * code        SQLite's, extended
 * committing  it was COMMIT that failed: the transaction may be on the disk all the same
 * report      its state and reason are set
 *
 * Returns how the batch is rejected.
 */
struct rejection error_judge(struct sqlite3 *db, int code, bool committing,
                             struct stage_report *report);

/** How a batch is rejected that was not tried, because the stage has failed. */
struct rejection error_refusal(void);

/** True for an error that says: no room on the disk, or in the bounds of the file. */
bool error_is_full(struct sqlite3 *db, int code);

/** True for an error that says that the file has its bound. `errno` was 0 before. */
bool error_is_at_bound(int code);

/** True for an error of what stands in the database: others may do better. */
bool error_is_damage(int code);

/** True for an error of the disk, after which nothing may be trusted. */
bool error_is_of_disk(int code);

#endif
