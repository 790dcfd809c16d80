/*
 * limit.c - lines of one sort are held to a rate, so that a flood of one hides no line of another.
 * The sort is how a line begins: a sentence of ours, before the texts of others in it. Who varies
 * that beginning meets the rate of all lines.
 */
#include "tools/mcpx-bridge/limit.h"

enum { BEGINNING = 32 };

static const struct mx_rate alike = {600, 100}, all = {3000, 500}, counts = {60, 1};

bool bridge_limit_allows(struct bridge_limit *limit, struct mcpx_slice line, int64_t now_ms)
{
    if (line.len > BEGINNING)
        line.len = BEGINNING;
    limit->alike.rate = alike;
    if (mx_buckets_wait_ms(&limit->alike, line, 1, now_ms) > 0 ||
        mx_bucket_wait_ms(&limit->all, all, 1, now_ms) > 0) {
        limit->left++;
        return false;
    }
    mx_buckets_spend(&limit->alike, line, 1, now_ms);
    mx_bucket_spend(&limit->all, all, 1, now_ms);
    return true;
}

uint64_t bridge_limit_take_left(struct bridge_limit *limit, int64_t now_ms)
{
    uint64_t left = limit->left;

    if (left == 0 || mx_bucket_wait_ms(&limit->counts, counts, 1, now_ms) > 0)
        return 0;
    mx_bucket_spend(&limit->counts, counts, 1, now_ms);
    limit->left = 0;
    return left;
}
