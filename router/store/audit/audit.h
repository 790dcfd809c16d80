/*
 * audit.h - the stage before the store. It writes a line for each submission, and for each note,
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
 * Locks the folder, cuts a torn end, writes "start", and starts the thread. `config` is borrowed
 * for the call.
 *
 * wake      called by that thread when there are answers; only wakes the loop
 * context   its argument
 * errors    on failure a line is appended: error, place and remedy
 *
 * Returns MCPX_OK; MCPX_ECONFIG (key, folder), MCPX_ESYSTEM, with a line; MCPX_ENOMEM.
 */
enum mcpx_err audit_new(const struct audit_config *config, void (*wake)(void *context),
                        void *context, struct mcpx_text *errors, struct audit **out);

/**
 * The queue of submissions and their answers. An answered submission may go on if its `rejection`
 * is MCPX_OK. Its `line` is the `seq` of its line; 0 = it has none.
 */
struct work_queue *audit_queue(struct audit *audit);

/** Limits: bytes of the notes that wait for the thread; addressees in the line of a note. */
enum { AUDIT_WAITING_MAX = 4 << 20, AUDIT_TO_MAX = 16 };

/**
 * Writes a note behind all that was put before; it is copied. AUDIT_REFUSE has a quota per
 * participant, AUDIT_TURNED_AWAY one per address (audit.c). Neither may raise the bytes that wait
 * above AUDIT_WAITING_MAX. Notes beyond these limits are counted and reported by AUDIT_LOST. All
 * other sorts are written, unless memory runs out.
 */
void audit_tell(struct audit *audit, const struct audit_note *note);

/** Writes all that waits, "stop" and a checkpoint; then closes the folder. NULL is allowed. */
void audit_free(struct audit *audit);

#endif
