/* stage.h - what the stages are to keep, and what a stage tells of itself. */
#ifndef STORE_STAGE_H
#define STORE_STAGE_H

#include "lib/base/histogram.h"
#include <mcpx/base.h>

/**
 * What becomes of submissions that cannot be audited.
 *
 *   REFUSE   they are rejected; nobody ever gets them
 *   BLOCK    they wait, however long it takes
 *   DROP     they go on without a line; another line tells how many, once it can be written
 */
enum on_full { ON_FULL_REFUSE, ON_FULL_BLOCK, ON_FULL_DROP };

/** The audit: where and how to write. */
struct audit_config {
    /* Made when it is missing, mode 0700, but not the folders above it. "" = no audit. */
    char *folder;
    char *key_file; /* PEM of a private Ed25519 key */
    /* Names the policy that decisions are made by; AUDIT_RELOAD brings another. */
    struct mcpx_slice rev;
    enum on_full on_full;
    bool payloads;         /* lines hold the envelopes */
    uint64_t rotate_bytes; /* a file that has so many bytes is followed by a new one */
    /* A file that is so old is followed by the next, too; 0 = never, of either. */
    int64_t rotate_ms;
};

/**
 * What to keep, and where.
 *
 * bytes_per_participant of texts that a participant may have in it; 0 = no limit
 * history_count, _bytes, _age_ms
 *                       as in struct hub_config: at least so much stays of each topic
 */
struct store_config {
    const struct audit_config *audit; /* NULL = no audit */
    const char *file; /* the database; NULL = nothing is stored, and the rest means nothing */
    bool full;  /* every batch is synced before it is answered; else only checkpoints are */
    bool check; /* look through the whole file at the start */
    uint64_t file_bytes; /* the database does not grow beyond; 0 = no limit */
    uint64_t bytes_per_participant;
    size_t history_count;
    size_t history_bytes;
    int64_t history_age_ms;
    int64_t slow_ms; /* a stage that answers nothing for so long is SLOW; 0 = none is */
    const char *vfs; /* SQLite's name of the file system to use; NULL = its default */
};

/** Classes of times, in microseconds, and of sizes of batches. */
extern const struct mx_classes stage_times, stage_sizes;

/**
 * Whether a stage takes submissions: the last batch decides.
 *
 *   READY    it does
 *   FULL     no room: this batch was refused, the next one is tried
 *   FAILED   the disk or the library failed: everything is refused until a restart
 *   SLOW     it says nothing: seen from the loop, never said by a stage
 *   LOCKED   another program keeps it from the database: as FULL
 */
enum stage_state { STAGE_READY, STAGE_FULL, STAGE_FAILED, STAGE_SLOW, STAGE_LOCKED };

/** What a stage tells with its answers. */
struct stage_report {
    enum stage_state state; /* as it is now */
    /* Of FULL, FAILED and LOCKED: what the system or the library said; of SLOW: for how long. */
    char reason[200];
    /* Batches: how long each took until it was on the disk; added up. */
    struct mx_histogram work;
    struct mx_histogram sizes; /* of the batches; added up */
    uint64_t bytes;            /* that its files have now */
    /* Of the audit: lines, lost lines and checkpoints that were written; added up. */
    uint64_t lines, lost, checkpoints;
};

/** Brings `to` up to date with what was told since. The figures of `from` are zero afterwards. */
void stage_report_move(struct stage_report *to, struct stage_report *from);

/** Microseconds of a clock that never jumps. */
uint64_t thread_clock_us(void);

/** The same in milliseconds. */
int64_t thread_clock_mono_ms(void);

/** Milliseconds since 1970-01-01T00:00:00Z. */
int64_t thread_clock_wall_ms(void);

#endif
