/*
 * store.h - a running chain of stages behind the hub: the audit, then SQLite. Either may be
 * missing. This is their interface to the rest of the router.
 *
 * Loop and stages share work queues (work_queue.h); no stage calls the hub. The loop calls
 * store_turn: it takes tasks from the hub, and commits or rejects them.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "router/hub/hub.h"
#include "router/store/commit/stage.h"

struct store;
struct audit_note; /* router/store/audit/audit_chain.h */

/**
 * Opens the stages of `config` and starts their threads. `config` is borrowed for the call. From
 * then on the process ignores SIGXFSZ: a file at its size limit counts as a full disk.
 *
 * wake      called from any thread when store_turn has something to do; only wakes the loop
 * context   its argument
 * errors    on failure a line is appended: error, place and remedy
 *
 * Returns MCPX_OK; MCPX_ESYSTEM or MCPX_ECONFIG, with a line; MCPX_ENOMEM.
 */
enum mcpx_err store_new(const struct store_config *config, void (*wake)(void *context),
                        void *context, struct mcpx_text *errors, struct store **out);

/**
 * Gives the hub the results of its tasks, and takes new ones. Call it once per loop iteration,
 * before output is flushed, and before store_note gets a refusal, to keep the order of envelopes.
 */
void store_turn(struct store *store, struct hub *hub, struct mcpx_now now);

/** Hands a note to the audit (audit_tell). Does nothing without an audit. */
void store_note(struct store *store, const struct audit_note *note);

/** Why messages cannot be stored: "store full", "audit slow" and the like, static; else NULL. */
const char *store_why(const struct store *store);

/** Gives the lines for the log so far: topics that cannot be read, each once, with the reason. */
struct mcpx_text store_take_lines(struct store *store);

/** Figures for the metrics. */
struct store_figures {
    struct stage_report audit,
        sqlite;               /* reports of the stages; zeros for a stage that is not there */
    struct mx_histogram open; /* loads of topics: time of each */
    uint64_t refused_full;    /* submissions refused because there was no room */
    uint64_t refused_failed;  /* because the disk or the database failed */
};

/** As of the last store_turn. Lent until the store is freed. */
const struct store_figures *store_figures(const struct store *store);

/** True while submissions wait because the audit cannot write a line: only with ON_FULL_BLOCK. */
bool store_is_blocked(const struct store *store);

/**
 * Ends the threads: they write what they still hold, but the hub gets no answers. Then closes the
 * files. Call it before the hub is freed. NULL is allowed.
 */
void store_free(struct store *store);

#endif
