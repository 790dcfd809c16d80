/*
 * sqlite_maintenance.h - an operator's work on a database, beside the router or without it: backup,
 * restore, check, export, compaction, erasing a topic. docs/storage.md.
 */
#ifndef STORE_SQLITE_MAINTENANCE_H
#define STORE_SQLITE_MAINTENANCE_H

#include "router/store/sqlite/sqlite_schema.h"

struct maintenance;

/**
 * Opens an existing database.
 *
 * alone      locks it against routers, so it can be changed. Else it is only read, and a router may
 *            go on with it
 * progress   called now and then; borrowed; NULL = none
 * errors     on failure a line is appended
 *
 * Returns MCPX_OK; MCPX_ENOTFOUND: it is missing, without a line; MCPX_ECONFIG: it is not ours;
 * MCPX_ESYSTEM: it is damaged or in use, or a system call failed; MCPX_ENOMEM.
 */
enum mcpx_err maintenance_open(const char *file, bool alone,
                               const struct schema_progress *progress,
                               struct mcpx_text *errors, struct maintenance **out);

/** Closes it. NULL is allowed. */
void maintenance_close(struct maintenance *maintenance);

/**
 * Copies it to a path that must be free. When the copy is first opened, its epochs are renewed,
 * because it lacks later messages.
 *
 * As maintenance_open.
 */
enum mcpx_err maintenance_backup(struct maintenance *maintenance, const char *copy,
                                 struct mcpx_text *errors);

/**
 * Puts a copy of it in the place of a database that no router has. The former database and its WAL
 * are kept as FILE.old, which must be free. As maintenance_open.
 */
enum mcpx_err maintenance_restore(struct maintenance *maintenance, const char *file,
                                  struct mcpx_text *errors);

/** Returns unused space of the file to the disk. `maintenance` is alone. As maintenance_open. */
enum mcpx_err maintenance_compact(struct maintenance *maintenance, struct mcpx_text *errors);

/**
 * Removes a topic with its messages, and overwrites them in the file. `maintenance` is alone.
 *
 * messages   filled with their number
 *
 * Returns MCPX_OK; MCPX_ENOTFOUND: the topic is unknown, without a line; or as maintenance_open.
 */
enum mcpx_err maintenance_erase(struct maintenance *maintenance, const char *topic,
                                uint64_t *messages, struct mcpx_text *errors);

/** A stored message. All of it is lent for the callback. */
struct maintenance_message {
    struct mcpx_slice topic, epoch;
    uint64_t serial;
    int64_t wall_ms;
    struct mcpx_slice text;
};

/** Damage: something is not as it was written. */
struct maintenance_damage {
    struct mcpx_slice topic; /* absent = the file itself */
    uint64_t serial;         /* 0 = the topic itself */
    const char *what;        /* a sentence without final stop */
};

/** The callbacks of a check or walk. Either may be NULL. */
struct maintenance_reader {
    /* Returns false to end the walk. */
    bool (*message)(void *context, const struct maintenance_message *message);
    void (*damage)(void *context, const struct maintenance_damage *damage);
    void *context;
};

/** The totals of checks and walks. */
struct maintenance_sums {
    uint64_t topics, messages, bytes, damages;
};

/** Checks the file itself for damage; `damages` is added to. As maintenance_open. */
enum mcpx_err maintenance_check(struct maintenance *maintenance,
                                const struct maintenance_reader *reader,
                                struct maintenance_sums *sums, struct mcpx_text *errors);

/**
 * Reads topics in the order of their creation, as of one moment. A damaged message goes only to the
 * callback for damage.
 *
 * topic   the only one to be read; NULL = all
 * sums    added to
 *
 * Returns as maintenance_open. An unknown topic adds 0 to `topics`.
 */
enum mcpx_err maintenance_walk(struct maintenance *maintenance, const char *topic,
                               const struct maintenance_reader *reader,
                               struct maintenance_sums *sums, struct mcpx_text *errors);

#endif
