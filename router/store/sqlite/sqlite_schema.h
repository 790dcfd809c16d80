/*
 * sqlite_schema.h - the database: is it whole, of which version is it, and what stands in it.
 */
#ifndef STORE_SQLITE_SCHEMA_H
#define STORE_SQLITE_SCHEMA_H

#include "router/store/commit/stage.h"
#include <mcpx/error.h>
#include <mcpx/text.h>

struct sqlite3;

/**
 * The sum that stands beside a text: SipHash-2-4 under a key made of the topic's name and the
 * serial, so that a text is not taken for one of another place.
 */
int64_t schema_sum(struct mcpx_slice topic, uint64_t serial, struct mcpx_slice text);

/**
 * Opens the database for its one writer: makes it when there is none, migrates an older one after a
 * copy FILE.vN, and brings into it what was written ahead. A file that is not ours, newer or
 * damaged is left as it is. Its lock is held (sqlite_file.h).
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

/**
 * A copy of a database.
 *
 * path       where it comes, whole: it is made beside that as PATH.new
 * vfs        SQLite's name of the file system to use; NULL = its default
 * then       statements that the copy alone is changed by
 * progress   told now and then, in pages; NULL = nobody
 */
struct schema_copy {
    const char *path, *vfs, *then;
    const struct schema_progress *progress;
};

/**
 * Copies a database, as it is at one moment, while others may write to it; NULL = makes an empty
 * one. What stands at the path is replaced. On the disk when it returns. As schema_open.
 */
enum mcpx_err schema_copy(struct sqlite3 *db, const struct schema_copy *how,
                          struct mcpx_text *errors);

/** Runs statements without results. Returns SQLite's code. */
int schema_run(struct sqlite3 *db, const char *statements);

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

#endif
