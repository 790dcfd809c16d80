/*
 * store.h - a running chain of stages behind the hub: the audit, then SQLite. Either may be
 * missing. All that the router's edge sees of them.
 *
 * Loop and stages share work queues (work_queue.h); no stage calls the hub. The one who turns the
 * loop calls store_turn, which takes tasks from the hub, and tells it what became of them.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "router/hub/hub.h"
#include "router/store/commit/stage.h"

struct store;
struct audit_note; /* router/store/audit/audit_chain.h */

/**
 * Opens what is configured and starts the threads. `config` and what it points to are borrowed.
 * SIGXFSZ is ignored from then on, in the whole process: a file that may not grow is a full disk.
 *
 * wake      called from any thread when store_turn has something to do; only wakes the loop
 * context   its argument
 * errors    on failure a line is appended: what was found, where, and what to do
 *
 * Returns MCPX_OK; MCPX_ESYSTEM or MCPX_ECONFIG, with a line; MCPX_ENOMEM.
 */
enum mcpx_err store_new(const struct store_config *config, void (*wake)(void *context),
                        void *context, struct mcpx_text *errors, struct store **out);

/**
 * Tells the hub what is stored, loaded or refused, and takes what it wants stored. Once per turn of
 * the loop, before output is flushed, and before a refusal is noted.
 */
void store_turn(struct store *store, struct hub *hub, struct mcpx_now now);

/** Hands the audit a decision that is no submission (audit_tell). Does nothing without an audit. */
void store_note(struct store *store, const struct audit_note *note);

/**
 * False while messages cannot be stored.
 *
 * why   filled when false: "store full", "audit slow" and the like; static
 */
bool store_is_ready(const struct store *store, const char **why);

/**
 * Takes the next line for the log: a topic that cannot be read, and why; once for each topic.
 * Appended to `out`, without a line end. False when there is none.
 */
bool store_next_line(struct store *store, struct mcpx_text *out);

/** For the metrics. */
struct store_figures {
    uint64_t pending; /* submissions that the stages hold now */
    struct stage_report audit,
        sqlite;               /* what the stages tell; of one that is missing, zeros */
    struct mx_histogram open; /* openings: how long each took */
    uint64_t refused_full;    /* submissions that were refused because there was no room */
    uint64_t refused_failed;  /* because the disk or the database failed */
};

/** As of the last store_turn. Lent until the store is freed. */
const struct store_figures *store_figures(const struct store *store);

/** True while submissions wait because the audit cannot write a line: ON_FULL_BLOCK alone. */
bool store_is_blocked(const struct store *store);

/**
 * Ends the threads: what they hold is still written, but the hub is not told. Then closes the
 * files. Before the hub is freed. NULL is allowed.
 */
void store_free(struct store *store);

#endif
