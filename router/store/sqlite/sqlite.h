/*
 * sqlite.h - the last stage: it stores batches of submissions in one database, and loads topics
 * from it. The writer stores a batch as one transaction and deletes old entries; the loader reads
 * and checks topics. Each belongs to one thread.
 */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include "router/hub/topic/hub_config.h"
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
 * The queue of submissions and their answers. An answered submission is stored if its `rejection`
 * is MCPX_OK.
 */
struct work_queue *sqlite_queue(struct sqlite *sqlite);

/**
 * Passes on a TASK_OPEN, answered by sqlite_loads, or a TASK_CLOSE. The topic has no other task
 * pending. Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err sqlite_pass(struct sqlite *sqlite, const struct task *task);

/** Appends finished loads: `kept.link` of struct stored_topic_load. The caller frees them. */
void sqlite_loads(struct sqlite *sqlite, struct link *loads);

/** Ends the threads, then closes the database cleanly. NULL is allowed. */
void sqlite_free(struct sqlite *sqlite);

/** A load of a topic from the database. */
struct stored_topic_load {
    struct kept_item kept;
    bool closes;                /* not a load: the hub has dropped the topic */
    uint64_t ticket;            /* of the task */
    struct mcpx_slice name;     /* of the topic */
    uint64_t begun_us;          /* time of the request (mx_clock_us) */
    struct rejection rejection; /* why reading failed; MCPX_OK = it was read */
    char reason[200];           /* the error of a damaged topic, for the log */
    bool is_known;              /* the database has the topic */
    struct stored_topic topic;  /* for hub_load_topic */
    size_t count;
    struct stored_envelope *envelopes; /* `count` of them, the oldest first */
    size_t size;                       /* private: rows that `envelopes` has room for */
    struct mcpx_text texts;            /* private */
    char epoch[TOPIC_EPOCH_LEN + 1];   /* private */
};

/** Makes one for a TASK_OPEN or a TASK_CLOSE. NULL when memory runs out. */
struct stored_topic_load *stored_topic_load_new(const struct task *task);

/** Frees it. NULL is allowed. */
void stored_topic_load_free(struct stored_topic_load *load);

/** A reader of topics: a connection and its statements. */
struct loader {
    struct sqlite3 *db;
    struct sqlite3_stmt *find, *read;
};

/** Makes a loader on a connection. Call statements_free in any case. Returns SQLite's code. */
int loader_init(struct loader *loader, struct sqlite3 *db);

/**
 * Fills a load with its topic, as the database has it. A load of a topic with any damage is
 * rejected.
 */
void loader_read(struct loader *loader, struct stored_topic_load *load);

/**
 * Makes a writer on a connection, which it borrows for its life. Returns MCPX_OK, MCPX_ENOMEM, or
 * MCPX_ECONFIG when the database lacks the tables of its version.
 */
enum mcpx_err writer_new(struct sqlite3 *db, const struct store_config *config,
                         struct writer **out);

/**
 * Starts a writer while the disk is full or the database locked. It calls `prepare` before its
 * first transaction, and again until that returns SQLITE_OK.
 */
void writer_await(struct writer *writer, int (*prepare)(void *context), void *context);

/** Frees it. NULL is allowed. */
void writer_free(struct writer *writer);

/**
 * Stores the messages of a batch, all or none, and fills every `rejection`. A message above its
 * participant's quota is rejected alone. Presence is not stored, and succeeds. In a full file, the
 * oldest entries of the largest holder's topics are deleted.
 *
 * report   updated
 */
void writer_store(struct writer *writer, struct batch *batch, struct stage_report *report);

/** Opens a topic: its row stays until writer_close. False when memory runs out. */
bool writer_open(struct writer *writer, struct mcpx_slice name);

/** Closes a topic. Its row is deleted if it has no entries. */
void writer_close(struct writer *writer, struct mcpx_slice name);

/**
 * Does the work that can wait until answers are out: it moves the WAL into the database, deletes
 * entries above the maximum age once a minute, and tries a full disk again.
 *
 * idle     no submission waits
 * report   updated
 *
 * Returns milliseconds until the next call is due, if no work comes before.
 */
int64_t writer_upkeep(struct writer *writer, bool idle, struct stage_report *report);

#endif
