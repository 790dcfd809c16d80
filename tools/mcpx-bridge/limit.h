/*
 * limit.h - lines that others cause: how many of them are shown.
 */
#ifndef MCPX_BRIDGE_LIMIT_H
#define MCPX_BRIDGE_LIMIT_H

#include "lib/core/bucket.h"

/**
 * Zeroed but for `alike.key`, which is secret, it is ready.
 *
 * alike    lines that begin alike: ten a second, a hundred at once
 * all      all lines: fifty a second, five hundred at once
 * counts   lines that say how many are missing: one a second
 * left     lines that were left out, and of which nobody was told yet
 */
struct bridge_limit {
    struct mx_buckets alike;
    struct mx_bucket all, counts;
    uint64_t left;
};

/** True when the line may be shown. False counts it. */
bool bridge_limit_allows(struct bridge_limit *limit, struct mcpx_slice line, int64_t now_ms);

/** How many were left out, once, when it is time to say so; else 0. */
uint64_t bridge_limit_take_left(struct bridge_limit *limit, int64_t now_ms);

#endif
