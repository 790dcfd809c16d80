/*
 * audit_share.h - how many notes of one participant are written down: whoever is refused ten
 * thousand times a second must not fill the disk alone. Submissions need no share: they have passed
 * the limits of the hub.
 */
#ifndef STORE_AUDIT_SHARE_H
#define STORE_AUDIT_SHARE_H

#include "router/store/audit/audit_line.h"

/*
 * Notes of one name at once; milliseconds after which it may make one more; names that are
 * remembered at a time, beside which all others share one; longest name that is remembered whole;
 * milliseconds after which it is told how many are missing.
 */
enum {
    AUDIT_SHARE = 100,
    AUDIT_SHARE_MS = 10000,
    AUDIT_SHARES = 64,
    AUDIT_SHARE_NAME = 256,
    AUDIT_SHARE_TOLD_MS = 10000
};

/**
 * What one name has left.
 *
 * used_ms   how long it takes from `at_ms` on until nothing of the share is used
 * lost      notes that were not written, since and until which wall clock
 */
struct audit_share {
    char name[AUDIT_SHARE_NAME];
    size_t len;
    int64_t at_ms, used_ms, lost_ms;
    uint64_t lost;
    int64_t since, until;
};

/** Zero-initialised is ready. `shares[AUDIT_SHARES]` is that of all others. */
struct audit_shares {
    struct audit_share shares[AUDIT_SHARES + 1];
};

/** True when a note of this name may be written at `now`; else it is counted. */
bool audit_share_take(struct audit_shares *shares, struct mcpx_slice name,
                      struct mcpx_now now);

/** Counts notes that cannot be written whoever they are of. */
void audit_share_lose(struct audit_shares *shares, uint64_t count, struct mcpx_now now);

/**
 * Fills in a note about notes that were counted: AUDIT_LOST with `from`, absent when it is about
 * several. `from` is lent until the next call. False when there is nothing to tell yet.
 *
 * all   do not wait for AUDIT_SHARE_TOLD_MS
 */
bool audit_share_tell(struct audit_shares *shares, int64_t mono_ms, bool all,
                      struct audit_note *out);

#endif
