/*
 * sqlite_schema.h - the database: is it whole, of which version is it, and what stands in it; what
 * is said to it and asked of it; and what an error of SQLite means.
 */
#ifndef STORE_SQLITE_SCHEMA_H
#define STORE_SQLITE_SCHEMA_H

#include "router/store/commit/stage.h"
#include "router/store/commit/submission.h"
#include <mcpx/error.h>
#include <mcpx/text.h>

struct sqlite3;
struct sqlite3_stmt;

/**
 * The sum that stands beside a text: SipHash-2-4 under a key made of the topic's name and the
 * serial, so that a text is not taken for one of another place.
 */
int64_t schema_sum(struct mcpx_slice topic, uint64_t serial, struct mcpx_slice text);

/**
 * Opens the database for its one writer: makes it when there is none, migrates an older one after a
 * copy FILE.vN, and brings into it what was written ahead. A file that is not ours, newer or
 * damaged is left as it is. Its lock is held.
 *
 * Returns MCPX_OK; MCPX_ECONFIG or MCPX_ESYSTEM, with a line in `errors`; MCPX_ENOMEM.
 */
enum mcpx_err schema_open(const struct store_config *config, struct mcpx_text *errors,
                          struct sqlite3 **out);

/** Opens one more connection to it, which only reads. As schema_open. */
enum mcpx_err schema_open_reader(const struct store_config *config, struct mcpx_text *errors,
                                 struct sqlite3 **out);

/**
 * Writes all that was written ahead into the database itself, and empties that file. What others
 * still read, or the disk has no room for, stays. False when the disk failed.
 */
bool schema_checkpoint(struct sqlite3 *db);

/** A listener for the progress of long work. */
struct schema_progress {
    void (*tell)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/** A copy of a database. */
struct schema_copy {
    const char *path; /* where it comes, whole: it is made beside that as PATH.new */
    const char *vfs;  /* SQLite's name of the file system to use; NULL = its default */
    const char *then; /* statements that the copy alone is changed by */
    const struct schema_progress *progress; /* told now and then, in pages; NULL = nobody */
};

/**
 * Copies a database, as it is at one moment, while others may write to it; NULL = makes an empty
 * one. What stands at the path is replaced. On the disk when it returns. As schema_open.
 */
enum mcpx_err schema_copy(struct sqlite3 *db, const struct schema_copy *how,
                          struct mcpx_text *errors);

/** Runs statements without results. Returns SQLite's code. */
int schema_run(struct sqlite3 *db, const char *statements);

/** The first column of the first row of an answer as a number; -1 when there is none. */
int64_t schema_ask(struct sqlite3 *db, const char *question);

/** Appends a line that says what SQLite said of the file; the error for it. */
enum mcpx_err schema_tell(struct sqlite3 *db, const char *file, struct mcpx_text *errors);

/*
 * ---- the file of the database: what is there now, and how a new one comes there whole.
 * FILE.lock: one router at a time has a database. It also holds the latest marks (sqlite.c).
 */

/** PRAGMA application_id ("MCPX") and user_version of a database that this program writes. */
enum { SCHEMA_ID = 0x4d435058, SCHEMA_VERSION = 2 };

/** Memory that each connection to it takes for pages, so that a batch is not written twice. */
enum { SCHEMA_CACHE_KIB = 16384 };

/** How long each waits for another program that has locked the file, in milliseconds. */
enum { SCHEMA_BUSY_MS = 1000 };

/**
 * Looks at a file without SQLite, which would write to it: at its header, and whether it is as long
 * as that says. No lock is taken, and nothing is made.
 *
 * is_there   filled: false when there is no such file, in a folder that is there
 *
 * Returns MCPX_OK: it is ours, or is not there. Or MCPX_ECONFIG or MCPX_ESYSTEM, with a line in
 * `errors`.
 */
enum mcpx_err sqlite_file_examine(const char *file, struct mcpx_text *errors, bool *is_there);

/**
 * Makes an empty file that only we may read; an unfinished one of an earlier start goes. Returns
 * MCPX_OK, or MCPX_ESYSTEM with a line in `errors`.
 */
enum mcpx_err sqlite_file_make(const char *path, struct mcpx_text *errors);

/** Moves what was made at `made` to its place, on the disk when it returns. As sqlite_file_make. */
enum mcpx_err sqlite_file_move(const char *made, const char *place, struct mcpx_text *errors);

/**
 * Locks `file`.lock, which is made when it is missing, for this process, until lock_free.
 *
 * out   a descriptor
 *
 * Returns MCPX_OK, MCPX_ENOMEM, or MCPX_ESYSTEM with a line in `errors`: another process has the
 * lock (named by its number), or there can be no such file.
 */
enum mcpx_err lock_new(const char *file, struct mcpx_text *errors, int *out);

/** Unlocks. -1 is allowed. */
void lock_free(int lock);

/** Reads what stands in the file into `out`, at most `size` - 1 bytes and a NUL. */
void lock_read(int lock, char *out, size_t size);

/** Replaces what stands in the file, on the disk when it returns. False when it cannot. */
bool lock_write(int lock, const char *text);

/* ---- statements that are prepared once. Texts are blobs, numbers have 64 bits. */

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

/**
 * Says numbers, then texts, runs a statement that gives no rows, and forgets what was said to it.
 * Returns SQLite's code.
 */
int statement_run(struct sqlite3_stmt *statement, const int64_t *numbers, int count,
                  const struct mcpx_slice *texts, int text_count);

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
 * Judges the error of a transaction before it is rolled back; `errno` was 0 before COMMIT.
 *
 * code        SQLite's, extended
 * committing  it was COMMIT that failed: the transaction may be on the disk all the same
 * report      its state and reason are set
 *
 * Returns how the batch is rejected.
 */
struct rejection error_judge(struct sqlite3 *db, int code, bool committing,
                             struct stage_report *report);

/** True for an error that says: no room on the disk, or in the bounds of the file. */
bool error_is_full(struct sqlite3 *db, int code);

/** True for an error that says that the file has its bound. `errno` was 0 before. */
bool error_is_at_bound(int code);

/** True for an error of what stands in the database: others may do better. */
bool error_is_damage(int code);

/** True for an error of the disk, after which nothing may be trusted. */
bool error_is_of_disk(int code);

#endif
