/*
 * sqlite_schema.h - the database: its file, tables and version; prepared statements; and the
 * meaning of SQLite's errors.
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
 * The checksum stored beside a text: SipHash-2-4 under a key made of the topic's name and the
 * serial. So a text that was moved does not match.
 */
int64_t schema_sum(struct mcpx_slice topic, uint64_t serial, struct mcpx_slice text);

/**
 * Opens the database for its one writer, which holds its lock. Makes a missing database, copies an
 * older one to FILE.vN and migrates it, and moves the WAL into it. A foreign, newer or damaged file
 * is not changed.
 *
 * Returns MCPX_OK; MCPX_ECONFIG or MCPX_ESYSTEM, with a line in `errors`; MCPX_ENOMEM.
 */
enum mcpx_err schema_open(const struct store_config *config, struct mcpx_text *errors,
                          struct sqlite3 **out);

/** Opens one more connection to it, for reading only. As schema_open. */
enum mcpx_err schema_open_reader(const struct store_config *config, struct mcpx_text *errors,
                                 struct sqlite3 **out);

/**
 * Moves the WAL into the database and empties it. Pages stay if others still read them, or the disk
 * has no room. False when the disk failed.
 */
bool schema_checkpoint(struct sqlite3 *db);

/** A listener for the progress of long work. */
struct schema_progress {
    void (*tell)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/** A copy of a database. */
struct schema_copy {
    const char *path; /* place of the copy; it is made as PATH.new and moved there */
    const char *vfs;  /* SQLite's name of the file system to use; NULL = its default */
    const char *then; /* statements that change only the copy */
    const struct schema_progress *progress; /* called now and then, in pages; NULL = none */
};

/**
 * Copies a database as of one moment; others may write to it. NULL = makes an empty one. A file at
 * the path is replaced. The copy is on the disk when this returns. As schema_open.
 */
enum mcpx_err schema_copy(struct sqlite3 *db, const struct schema_copy *how,
                          struct mcpx_text *errors);

/** Runs statements without results. Returns SQLite's code. */
int schema_run(struct sqlite3 *db, const char *statements);

/** Returns the first column of an answer's first row as a number; -1 when there is none. */
int64_t schema_ask(struct sqlite3 *db, const char *question);

/** Appends a line with SQLite's error about the file. Returns the error for it. */
enum mcpx_err schema_tell(struct sqlite3 *db, const char *file, struct mcpx_text *errors);

/*
 * ---- the file of the database: how it is examined, and how a whole one takes its place. FILE.lock
 * gives a database to one router at a time, and holds the latest marks (sqlite.c).
 */

/** PRAGMA application_id ("MCPX") and user_version of a database that this program writes. */
enum { SCHEMA_ID = 0x4d435058, SCHEMA_VERSION = 2 };

/** Page cache of each connection. A batch fits, so its pages are not written twice. */
enum { SCHEMA_CACHE_KIB = 16384 };

/** Longest wait of a connection for another program's lock, in milliseconds. */
enum { SCHEMA_BUSY_MS = 1000 };

/**
 * Checks a file's header, and its length against the header. SQLite would write to the file and is
 * not used. The function takes no lock and makes nothing.
 *
 * is_there   filled: false when the file is missing
 *
 * Returns MCPX_OK: it is ours, or missing. Or MCPX_ECONFIG or MCPX_ESYSTEM, with a line in
 * `errors`.
 */
enum mcpx_err sqlite_file_examine(const char *file, struct mcpx_text *errors, bool *is_there);

/**
 * Makes an empty file that only its owner may read, and replaces an unfinished one of an earlier
 * start. Returns MCPX_OK, or MCPX_ESYSTEM with a line in `errors`.
 */
enum mcpx_err sqlite_file_make(const char *path, struct mcpx_text *errors);

/** Moves the file `made` to `place`, on the disk when this returns. As sqlite_file_make. */
enum mcpx_err sqlite_file_move(const char *made, const char *place, struct mcpx_text *errors);

/**
 * Locks `file`.lock, made if missing, for this process, until lock_free.
 *
 * out   a descriptor
 *
 * Returns MCPX_OK, MCPX_ENOMEM, or MCPX_ESYSTEM with a line in `errors`: another process has the
 * lock (the line has its number), or the file cannot be made.
 */
enum mcpx_err lock_new(const char *file, struct mcpx_text *errors, int *out);

/** Unlocks. -1 is allowed. */
void lock_free(int lock);

/** Reads the lock file's text into `out`, at most `size` - 1 bytes and a NUL. */
void lock_read(int lock, char *out, size_t size);

/** Replaces the lock file's text, on the disk when this returns. False on failure. */
bool lock_write(int lock, const char *text);

/* ---- prepared statements. Texts are blobs, numbers have 64 bits. */

/** A statement's text, and the place of the prepared statement. */
struct statement {
    const char *text;
    struct sqlite3_stmt **out;
};

/** Prepares a connection's statements. Returns SQLite's code. */
int statements_make(struct sqlite3 *db, const struct statement *rows, size_t count);

/** Frees all statements of a connection. NULL is allowed. */
void statements_free(struct sqlite3 *db);

/** Binds a text, which must stay until the statement has finished. Returns SQLite's code. */
int statement_say_text(struct sqlite3_stmt *statement, int at, struct mcpx_slice text);

/** Binds numbers, from the first parameter on. Returns SQLite's code. */
int statement_say_numbers(struct sqlite3_stmt *statement, const int64_t *numbers, int count);

/**
 * Binds numbers, then texts, runs a statement without result rows, and clears its bindings. Returns
 * SQLite's code.
 */
int statement_run(struct sqlite3_stmt *statement, const int64_t *numbers, int count,
                  const struct mcpx_slice *texts, int text_count);

/** A text of the statement's current row; lent until the next step. "" for NULL. */
struct mcpx_slice statement_text(struct sqlite3_stmt *statement, int at);

/** A row of `topic`. `row` is 0 while the topic has none. */
struct extent {
    int64_t row;
    uint64_t first, last; /* serials; without entries the last is one less than the first */
    uint64_t bytes;       /* of the texts */
    uint64_t counted;     /* serial up to which `held` counts entries */
};

/** The columns of `topic` that extent_of reads. */
#define EXTENT_COLUMNS "topic.topic, first_serial, last_serial, topic.bytes, counted_serial"

/** The extent in the statement's current row. */
struct extent extent_of(struct sqlite3_stmt *statement);

/**
 * Judges the error of a transaction, before its rollback. `errno` must be 0 before COMMIT.
 *
 * code        SQLite's, extended
 * committing  COMMIT failed: the transaction may still be on the disk
 * report      its state and reason are set
 *
 * Returns the rejection of the batch.
 */
struct rejection error_judge(struct sqlite3 *db, int code, bool committing,
                             struct stage_report *report);

/** True when the error is a full disk, or a file at its size limit. */
bool error_is_full(struct sqlite3 *db, int code);

/** True when the error is a file at its size limit. `errno` must be 0 before the statement. */
bool error_is_at_bound(int code);

/** True when the error is damage in the database: other statements may succeed. */
bool error_is_damage(int code);

/** True when the error is one of the disk: nothing may be trusted after it. */
bool error_is_of_disk(int code);

#endif
