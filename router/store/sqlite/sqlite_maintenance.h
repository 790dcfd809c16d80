/*
 * sqlite_maintenance.h - what an operator does with a database, beside the router or without it:
 * back it up, check it, read it out, make it smaller, erase a topic. docs/storage.md.
 */
#ifndef STORE_SQLITE_MAINTENANCE_H
#define STORE_SQLITE_MAINTENANCE_H

#include "router/store/sqlite/sqlite_schema.h"

struct maintenance;

/**
 * Opens a database that is there.
 *
 * alone      no router may have it: it is locked and can be changed. Else it is
 *            only read, and a router may go on with it
 * progress   told now and then; borrowed; NULL = nobody
 * errors     on failure a line is appended
 *
 * Returns MCPX_OK; MCPX_ENOTFOUND: there is no such file, without a line; MCPX_ECONFIG: it is not
 * ours; MCPX_ESYSTEM: it is damaged or in use, or the system says no; MCPX_ENOMEM.
 */
enum mcpx_err maintenance_open(const char *file, bool alone,
                               const struct schema_progress *progress,
                               struct mcpx_text *errors, struct maintenance **out);

/** Closes it. NULL is allowed. */
void maintenance_close(struct maintenance *maintenance);

/**
 * Copies it to a path where nothing may be. At its first opening the copy renews its epochs: what
 * was received since is not in it.
 *
 * As maintenance_open.
 */
enum mcpx_err maintenance_backup(struct maintenance *maintenance, const char *copy,
                                 struct mcpx_text *errors);

/**
 * Puts a copy of it in the place of a database that no router has. What was there is kept, with
 * what was written ahead of it, as FILE.old, where nothing may be. As maintenance_open.
 */
enum mcpx_err maintenance_restore(struct maintenance *maintenance, const char *file,
                                  struct mcpx_text *errors);

/** Gives back to the disk what the file does not need. `care` is alone. As maintenance_open. */
enum mcpx_err maintenance_compact(struct maintenance *maintenance, struct mcpx_text *errors);

/**
 * Removes a topic with its messages, and overwrites them in the file. `care` is alone.
 *
 * messages   filled: how many
 *
 * Returns MCPX_OK; MCPX_ENOTFOUND: there is no such topic, without a line; or as maintenance_open.
 */
enum mcpx_err maintenance_erase(struct maintenance *maintenance, const char *topic,
                                uint64_t *messages, struct mcpx_text *errors);

/** A message as it stands in the database. All is lent for the call that tells of it. */
struct maintenance_message {
    struct mcpx_slice topic, epoch;
    uint64_t serial;
    int64_t wall_ms;
    struct mcpx_slice text;
};

/** Something that is not as it was written. */
struct maintenance_damage {
    struct mcpx_slice topic; /* absent = the file itself */
    uint64_t serial;         /* 0 = the topic itself */
    const char *what;        /* a sentence without final stop */
};

/** Who is told what was found. Either may be NULL. */
struct maintenance_reader {
    /* Returns false to end the walk. */
    bool (*message)(void *context, const struct maintenance_message *message);
    void (*damage)(void *context, const struct maintenance_damage *damage);
    void *context;
};

/** What was found in all. */
struct maintenance_sums {
    uint64_t topics, messages, bytes, damages;
};

/** Looks for damage of the file itself; `damages` is added to. As maintenance_open. */
enum mcpx_err maintenance_check(struct maintenance *maintenance,
                                const struct maintenance_reader *reader,
                                struct maintenance_sums *sums, struct mcpx_text *errors);

/**
 * Reads topics, in the order in which they were made, as they are at one moment. Messages that are
 * damaged are told as such alone.
 *
 * topic   the only one to be read; NULL = all
 * sums    added to
 *
 * Returns as maintenance_open. That there is no such topic is told by `topics`.
 */
enum mcpx_err maintenance_walk(struct maintenance *maintenance, const char *topic,
                               const struct maintenance_reader *reader,
                               struct maintenance_sums *sums, struct mcpx_text *errors);

#endif
