/*
 * log_share.c - one bound for all lines of a kind was refused: whoever is refused most would hide
 * what the others are refused. A counter for each name was refused too: anybody can make up
 * names, so their counts stand in buckets, whose memory does not grow.
 */
#include "router/edge/log_share.h"

void log_share_init(struct log_share *share, const char *about, struct mx_map_key key)
{
    *share = (struct log_share){.all.about = about};
    share->each.key = key;
    share->each.rate = (struct mx_rate){LOG_SHARE_PER_MINUTE, LOG_SHARE_BURST};
}

bool log_share_permits(struct log_share *share, struct mcpx_slice name, int64_t mono_ms)
{
    if (mx_buckets_wait_ms(&share->each, name, 1, mono_ms) > 0) {
        log_tell(&share->all, mono_ms);
        share->all.held_back++;
        return false;
    }
    if (!log_permits(&share->all, mono_ms))
        return false;
    mx_buckets_spend(&share->each, name, 1, mono_ms);
    return true;
}
