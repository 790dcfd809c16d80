/*
 * log_share.h - how often each of many may cause lines of one kind, and all of them together.
 */
#ifndef EDGE_LOG_SHARE_H
#define EDGE_LOG_SHARE_H

#include "lib/core/bucket.h"
#include "router/edge/log.h"

/** Lines of one name at once, and per minute. Less than log_permits lets all together have. */
enum { LOG_SHARE_BURST = 5, LOG_SHARE_PER_MINUTE = 12 };

/** One kind of line. Made by log_share_init. */
struct log_share {
    struct mx_buckets each;
    struct log_limit all;
};

/**
 * Makes it ready.
 *
 * about   the event, for the line that says how many were left out; static
 * key     a secret one: nobody can choose a name that takes another's share
 */
void log_share_init(struct log_share *share, const char *about, struct mx_map_key key);

/**
 * May a line about this name be written now? When not, it is counted; log_tell says how many
 * were. Who has used up its own share takes nothing from the share of all.
 */
bool log_share_permits(struct log_share *share, struct mcpx_slice name, int64_t mono_ms);

#endif
