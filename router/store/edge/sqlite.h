/*
 * sqlite.h - the last stage: batches of submissions as transactions of one database, and topics
 * read from it again.
 */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include "router/store/edge/belt.h"
#include "router/store/edge/sqlite_load.h"
#include "router/store/edge/store.h"

struct sqlite;

/**
 * Opens the database (sqlite_schema.h) and starts its two threads. As store_new.
 */
enum mcpx_err sqlite_new(const struct store_config *config, void (*wake)(void *context),
                         void *context, struct mcpx_text *errors, struct sqlite **out);

/** Hands over submissions, in order; `submissions` is empty afterwards. */
void sqlite_put(struct sqlite *sqlite, struct link *submissions, size_t count);

/**
 * Takes what is answered, in order: appended to `submissions`. Each one's `rejection` says what
 * became of it; MCPX_OK = it is stored.
 */
void sqlite_answers(struct sqlite *sqlite, struct link *submissions,
                    struct stage_report *report);

/**
 * Passes on a TASK_OPEN, which is answered by sqlite_openings, or a TASK_CLOSE. Nothing of the
 * topic is under way. Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err sqlite_pass(struct sqlite *sqlite, const struct task *task);

/** Takes what was read: links of struct oneway in struct stored_opening, each given. */
void sqlite_openings(struct sqlite *sqlite, struct link *openings);

/** Ends the threads, then closes the database, which is whole then. NULL is allowed. */
void sqlite_free(struct sqlite *sqlite);

#endif
