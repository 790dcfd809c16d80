/*
 * sqlite.h - the last stage: batches of submissions as transactions of one database, and topics
 * read from it again. The writer writes a batch as one transaction and deletes what was kept for
 * long enough; the loader reads a topic and checks it. Each is for its thread alone.
 */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include "router/store/commit/stage.h"
#include "router/store/commit/submission.h"
#include "router/store/commit/work_queue.h"
#include <mcpx/text.h>

struct sqlite;
struct sqlite3;
struct sqlite3_stmt;
struct writer;

/** Opens the database (sqlite_schema.h) and starts its two threads. As store_new. */
enum mcpx_err sqlite_new(const struct store_config *config, void (*wake)(void *context),
                         void *context, struct mcpx_text *errors, struct sqlite **out);

/**
 * Where submissions are put, and taken when they are answered. Each one's `rejection` says what
 * became of it; MCPX_OK = it is stored.
 */
struct work_queue *sqlite_belt(struct sqlite *sqlite);

/**
 * Passes on a TASK_OPEN, which is answered by sqlite_loads, or a TASK_CLOSE. Nothing of the
 * topic is under way. Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err sqlite_pass(struct sqlite *sqlite, const struct task *task);

/** Takes what was read: links of struct unanswered_item in struct stored_topic_load, each given. */
void sqlite_loads(struct sqlite *sqlite, struct link *loads);

/** Ends the threads, then closes the database, which is whole then. NULL is allowed. */
void sqlite_free(struct sqlite *sqlite);

/** Hexadecimal digits of an epoch. */
enum { EPOCH_LEN = 32 };

/** A topic that is read from the database. */
struct stored_topic_load {
    struct unanswered_item unanswered;
    bool closes;                /* it is not a load: the hub lets go of the topic */
    uint64_t ticket;            /* of the task */
    struct mcpx_slice name;     /* of the topic */
    uint64_t begun_us;          /* when it was asked for (thread_clock_us) */
    struct rejection rejection; /* why it could not be read; MCPX_OK = it was */
    char reason[200];           /* the same as a line for the log, of what is damaged */
    bool is_known;              /* the database has the topic */
    struct stored_topic topic;  /* what to tell the hub of it */
    size_t count;
    struct stored_envelope *envelopes; /* of it, `count` of them, the oldest first */
    size_t size;                       /* private: rows that `envelopes` has room for */
    struct mcpx_text texts;            /* private */
    char epoch[EPOCH_LEN + 1];         /* private */
};

/** Makes one for a TASK_OPEN or a TASK_CLOSE. NULL when memory runs out. */
struct stored_topic_load *stored_topic_load_new(const struct task *task);

/** Frees it. NULL is allowed. */
void stored_topic_load_free(struct stored_topic_load *load);

/** What reads topics: a connection and its statements. */
struct loader {
    struct sqlite3 *db;
    struct sqlite3_stmt *find, *read;
};

/** Makes a loader on a connection. statements_free ends it in any case. SQLite's code. */
int loader_init(struct loader *loader, struct sqlite3 *db);

/**
 * Fills a load with what the database has of its topic. A topic of which anything is not as it
 * was written is not read: its load is rejected.
 */
void loader_read(struct loader *loader, struct stored_topic_load *load);

/**
 * Makes a writer on a connection, which it borrows for its life. Returns MCPX_OK, MCPX_ENOMEM, or
 * MCPX_ECONFIG when the database has not the tables of its version.
 */
enum mcpx_err writer_new(struct sqlite3 *db, const struct store_config *config,
                         struct writer **out);

/**
 * The disk is full, or the database is locked. `prepare` is called before the first transaction,
 * and again until it returns SQLITE_OK.
 */
void writer_await(struct writer *writer, int (*prepare)(void *context), void *context);

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
