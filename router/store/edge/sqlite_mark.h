/*
 * sqlite_mark.h - whether a database goes on where the last router left it. If not, something that
 * was delivered may be missing from it, and nobody may be told that nothing is: every epoch is
 * renewed then (protocol section 5).
 */
#ifndef STORE_SQLITE_MARK_H
#define STORE_SQLITE_MARK_H

#include <stdbool.h>

struct sqlite3;

/**
 * Begins to use the database: renews the epochs if it is marked as a copy (`renew` in meta), if it
 * was set back, or if the machine stopped while not every batch was synced. On the disk when it
 * returns, as long as `PRAGMA synchronous` is FULL.
 *
 * lock   sqlite_lock.h; its content is the other half of the mark
 * full   every batch will be synced
 *
 * Returns false when the database or the lock could not be written.
 */
bool mark_begin(struct sqlite3 *db, int lock, bool full);

/** Ends it: all that was written before is on the disk as well. As mark_begin. */
bool mark_end(struct sqlite3 *db, int lock);

#endif
