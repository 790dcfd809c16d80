/*
 * sqlite_write.h - writes: a batch of submissions as one transaction, and what was kept for long
 * enough goes again. For the writer's thread alone.
 */
#ifndef STORE_SQLITE_WRITE_H
#define STORE_SQLITE_WRITE_H

#include "router/store/edge/belt.h"
#include "router/store/edge/store.h"

struct sqlite3;
struct writer;

/**
 * Makes a writer on a connection, which it borrows for its life. Returns MCPX_OK, MCPX_ENOMEM, or
 * MCPX_ECONFIG when the database has not the tables of its version.
 */
enum mcpx_err writer_new(struct sqlite3 *db, const struct store_config *config,
                         struct writer **out);

/** Frees it. NULL is allowed. */
void writer_free(struct writer *writer);

/**
 * Stores the messages of a batch, all or none but for those whose participant holds too much, and
 * fills every `rejection`. Presence is not stored, and succeeds. In a full file messages of the
 * participant that holds most are deleted, the oldest of a topic first.
 *
 * report   what happened is added
 */
void writer_store(struct writer *writer, struct batch *batch, struct stage_report *report);

/** A topic is opened: it stays until writer_close. False when memory ran out. */
bool writer_open(struct writer *writer, struct mcpx_slice name);

/** A topic is closed. It goes from the database if it has no entries. */
void writer_close(struct writer *writer, struct mcpx_slice name);

/**
 * Does what can wait, after the answers: brings into the database what was written ahead of it, and
 * once a minute deletes what is older than topics keep. A disk that was full is tried again.
 *
 * idle     nothing waits
 * report   what happened is added
 *
 * Returns after how many milliseconds to call it again, if nothing comes before.
 */
int64_t writer_upkeep(struct writer *writer, bool idle, struct stage_report *report);

#endif
