/* stage.h - the configuration of the stages, and the report of a stage. */
#ifndef STORE_STAGE_H
#define STORE_STAGE_H

#include "lib/base/histogram.h"
#include <mcpx/base.h>

/**
 * Treatment of submissions that the audit cannot write.
 *
 *   REFUSE   they are rejected, and never delivered
 *   BLOCK    they wait, however long it takes
 *   DROP     they go on without a line; a later line has their number
 */
enum on_full { ON_FULL_REFUSE, ON_FULL_BLOCK, ON_FULL_DROP };

/** The audit: where and how to write. */
struct audit_config {
    /* Made with mode 0700 when missing; the folders above it are not. "" = no audit. */
    char *folder;
    char *key_file; /* PEM of a private Ed25519 key */
    /* The name of the policy at the start; AUDIT_RELOAD has the next one. */
    struct mcpx_slice rev;
    enum on_full on_full;
    bool payloads;         /* lines hold the envelopes */
    uint64_t rotate_bytes; /* size at which the next file begins */
    /* Age at which the next file begins. 0 = never, in both. */
    int64_t rotate_ms;
};

/**
 * The store: where it is, and its limits.
 *
 * bytes_per_participant  of a participant's texts; 0 = no limit
 * history_count, _bytes, _age_ms
 *                        as in struct hub_config: each topic keeps at least this much
 */
struct store_config {
    const struct audit_config *audit; /* NULL = no audit */
    const char *file; /* the database; NULL = no storage, and the rest is ignored */
    bool full;  /* every batch is synced before it is answered; else only checkpoints are */
    bool check; /* verify the whole file at the start */
    uint64_t file_bytes; /* maximum size of the database; 0 = no limit */
    uint64_t bytes_per_participant;
    size_t history_count;
    size_t history_bytes;
    int64_t history_age_ms;
    int64_t slow_ms; /* silence that makes a stage SLOW; 0 = never */
    const char *vfs; /* SQLite's name of the file system to use; NULL = its default */
};

/** Classes of histograms: times in microseconds; sizes of batches. */
extern const struct mx_classes stage_times, stage_sizes;

/**
 * Whether a stage takes submissions: the last batch decides.
 *
 *   READY    it does
 *   FULL     no room: this batch was refused, the next one is tried
 *   FAILED   the disk or the library failed: everything is refused until a restart
 *   SLOW     it does not answer: set by the loop, never by a stage
 *   LOCKED   another program has locked the database: as FULL
 */
enum stage_state { STAGE_READY, STAGE_FULL, STAGE_FAILED, STAGE_SLOW, STAGE_LOCKED };

/** The report that a stage sends with its answers. */
struct stage_report {
    enum stage_state state; /* as it is now */
    /* Of FULL, FAILED and LOCKED: the error of system or library; of SLOW: for how long. */
    char reason[200];
    /* Time of each batch until it was on the disk; added up. */
    struct mx_histogram work;
    struct mx_histogram sizes; /* of the batches; added up */
    uint64_t bytes;            /* size of its files now */
    /* Of the audit: lines, lost lines and checkpoints written; added up. */
    uint64_t lines, lost, checkpoints;
};

/** Updates `to` from `from`: counts are added. The counts of `from` are zero afterwards. */
void stage_report_move(struct stage_report *to, struct stage_report *from);

#endif
