/*
 * audit.h - the stage before the store: writes a line for each submission, and for each note,
 * into a folder of files, and syncs it before the submission goes on. docs/audit.md.
 */
#ifndef STORE_AUDIT_H
#define STORE_AUDIT_H

#include "router/store/audit/audit_chain.h"
#include "router/store/commit/work_queue.h"
#include <mcpx/error.h>
#include <mcpx/text.h>

struct audit;

/**
 * Locks the folder, cuts a torn end, writes "start", and starts the thread. What `config` has is
 * borrowed during the call alone.
 *
 * wake      called by that thread when there are answers; only wakes the loop
 * context   its argument
 * errors    on failure a line is appended: what was found, where, and what to do
 *
 * Returns MCPX_OK; MCPX_ECONFIG (key, folder), MCPX_ESYSTEM, with a line; MCPX_ENOMEM.
 */
enum mcpx_err audit_new(const struct audit_config *config, void (*wake)(void *context),
                        void *context, struct mcpx_text *errors, struct audit **out);

/**
 * Where submissions are put, and taken when they are answered. Each one's `rejection` says what
 * became of it; MCPX_OK = it may go on. Its `line` is the `seq` of its line; 0 = it has none.
 */
struct work_queue *audit_belt(struct audit *audit);

/** Bytes of notes that wait for the thread, and addressees of a note that are written. */
enum { AUDIT_WAITING_MAX = 4 << 20, AUDIT_TO_MAX = 16 };

/**
 * Writes down what is no submission, behind what was put before. Copied. AUDIT_REFUSE of one
 * participant, and AUDIT_TURNED_AWAY of one address, have a share (audit.c), and altogether at most
 * AUDIT_WAITING_MAX bytes of them wait for the thread; others are counted, and told by AUDIT_LOST.
 * All other sorts are written, unless memory runs out.
 */
void audit_tell(struct audit *audit, const struct audit_note *note);

/** Writes what waits, "stop" and a checkpoint; then closes the folder. NULL is allowed. */
void audit_free(struct audit *audit);

#endif
