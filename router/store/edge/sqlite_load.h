/*
 * sqlite_load.h - reads topics from the database, on a connection of its own.
 */
#ifndef STORE_SQLITE_LOAD_H
#define STORE_SQLITE_LOAD_H

#include "router/hub/submission.h"
#include "router/store/edge/belt.h"
#include <mcpx/text.h>

struct sqlite3;
struct loader;

/** Hexadecimal digits of an epoch. */
enum { EPOCH_LEN = 32 };

/**
 * A topic that is read from the database.
 *
 * closes      it is no opening: the hub lets go of the topic
 * ticket      of the task
 * name        of the topic
 * begun_us    when it was asked for (thread_clock_us)
 * rejection   why it could not be read; MCPX_OK = it was
 * reason      the same as a line for the log, of what is damaged
 * is_known    the database has the topic
 * topic       what to tell the hub of it
 * envelopes   of it, `count` of them, the oldest first
 */
struct stored_opening {
    struct oneway oneway;
    bool closes;
    uint64_t ticket;
    struct mcpx_slice name;
    uint64_t begun_us;
    struct rejection rejection;
    char reason[200];
    bool is_known;
    struct stored_topic topic;
    size_t count;
    struct stored_envelope *envelopes;
    size_t size;               /* private: rows that `envelopes` has room for */
    struct mcpx_text texts;    /* private */
    char epoch[EPOCH_LEN + 1]; /* private */
};

/** Makes one for a TASK_OPEN or a TASK_CLOSE. NULL when memory runs out. */
struct stored_opening *stored_opening_new(const struct task *task);

/** Frees it. NULL is allowed. */
void stored_opening_free(struct stored_opening *opening);

/**
 * Makes a loader on a connection, which it borrows for its life. Returns MCPX_OK, MCPX_ENOMEM, or
 * MCPX_ECONFIG when the database has not the tables of its version.
 */
enum mcpx_err loader_new(struct sqlite3 *db, struct loader **out);

/** Frees it. NULL is allowed. */
void loader_free(struct loader *loader);

/**
 * Fills an opening with what the database has of its topic. A topic of which anything is not as it
 * was written is not read: its opening is rejected.
 */
void loader_read(struct loader *loader, struct stored_opening *opening);

#endif
