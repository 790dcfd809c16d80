/*
 * sqlite_error.h - what an error of SQLite means for a batch, and for those that come after it.
 */
#ifndef STORE_SQLITE_ERROR_H
#define STORE_SQLITE_ERROR_H

#include "router/hub/submission.h"
#include "router/store/edge/stage.h"

struct sqlite3;

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
