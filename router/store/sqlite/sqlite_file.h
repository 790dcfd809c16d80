/*
 * sqlite_file.h - the file of the database: what is there now, and how a new one comes there whole.
 * FILE.lock: one router at a time has a database. It also holds the latest marks (sqlite.c).
 */
#ifndef STORE_SQLITE_FILE_H
#define STORE_SQLITE_FILE_H

#include <mcpx/error.h>
#include <mcpx/text.h>

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
