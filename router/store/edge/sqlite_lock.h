/*
 * sqlite_lock.h - FILE.lock: one router at a time has a database. It also holds the database's
 * latest marks (sqlite_mark.h).
 */
#ifndef STORE_SQLITE_LOCK_H
#define STORE_SQLITE_LOCK_H

#include <mcpx/error.h>
#include <mcpx/text.h>

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
