/*
 * bucket.c - a table with a row per name must forget a name when it is full, and an owner of many
 * names could choose which. Here names share cells: each name has one cell in each of two rows,
 * and is refused only when both are drained. An attacker with 40 drained names hits one other name
 * in ten thousand, and cannot choose it, because the key is secret.
 */
#include "lib/base/bucket.h"

/* A token flows in `unit` steps, one per millisecond and token of the rate per minute. */
static const uint64_t unit = 60000;

/* After so long every bucket is full: it owes at most a minute's worth and a burst. */
static const int64_t longest_ms = 600000;

static uint64_t spent_now(const struct mx_bucket *cell, struct mx_rate rate, int64_t now_ms)
{
    int64_t elapsed_ms = now_ms - cell->at_ms;
    uint64_t refilled;

    if (elapsed_ms <= 0)
        return cell->spent;
    if (elapsed_ms > longest_ms)
        elapsed_ms = longest_ms;
    refilled = (uint64_t)elapsed_ms * rate.per_minute;
    return refilled >= cell->spent ? 0 : cell->spent - refilled;
}

void mx_bucket_spend(struct mx_bucket *cell, struct mx_rate rate, uint64_t cost,
                     int64_t now_ms)
{
    uint64_t most = (rate.burst + rate.per_minute) * unit;
    uint64_t spent = spent_now(cell, rate, now_ms) + cost * unit;

    *cell = (struct mx_bucket){spent < most ? spent : most, now_ms};
}

bool mx_bucket_take(struct mx_bucket *cell, struct mx_rate rate, uint64_t cost, int64_t now_ms)
{
    uint64_t spent = spent_now(cell, rate, now_ms) + cost * unit;

    if (spent > rate.burst * unit && rate.per_minute > 0)
        return false;
    *cell = (struct mx_bucket){spent, now_ms};
    return true;
}

void mx_bucket_return(struct mx_bucket *cell, struct mx_rate rate, uint64_t cost,
                      int64_t now_ms)
{
    uint64_t spent = spent_now(cell, rate, now_ms);

    *cell = (struct mx_bucket){spent > cost * unit ? spent - cost * unit : 0, now_ms};
}

int64_t mx_bucket_wait_ms(const struct mx_bucket *cell, struct mx_rate rate, uint64_t cost,
                          int64_t now_ms)
{
    uint64_t needed = spent_now(cell, rate, now_ms) + cost * unit;
    uint64_t most = rate.burst * unit;

    if (rate.per_minute == 0 || needed <= most)
        return 0;
    return (int64_t)((needed - most + rate.per_minute - 1) / rate.per_minute);
}

uint64_t mx_bucket_left(const struct mx_bucket *cell, struct mx_rate rate, int64_t now_ms)
{
    uint64_t spent = spent_now(cell, rate, now_ms), most = rate.burst * unit;

    return spent < most ? (most - spent) / unit : 0;
}

static struct mx_bucket *cell_of(struct mx_buckets *buckets, struct mcpx_slice name,
                                 size_t row)
{
    uint64_t hash = mx_map_hash(buckets->key, name);

    /* Rows use other bits of one hash: 12 of 64 each. */
    return &buckets->cells[row][(size_t)(hash >> (row * 32)) % MX_BUCKET_CELLS];
}

int64_t mx_buckets_wait_ms(const struct mx_buckets *buckets, struct mcpx_slice name,
                           uint64_t cost, int64_t now_ms)
{
    int64_t least = INT64_MAX;

    for (size_t row = 0; row < MX_BUCKET_ROWS; row++) {
        const struct mx_bucket *cell = cell_of((struct mx_buckets *)buckets, name, row);
        int64_t wait = mx_bucket_wait_ms(cell, buckets->rate, cost, now_ms);

        if (wait < least)
            least = wait;
    }
    return least;
}

void mx_buckets_spend(struct mx_buckets *buckets, struct mcpx_slice name, uint64_t cost,
                      int64_t now_ms)
{
    for (size_t row = 0; row < MX_BUCKET_ROWS; row++)
        mx_bucket_spend(cell_of(buckets, name, row), buckets->rate, cost, now_ms);
}

void mx_buckets_return(struct mx_buckets *buckets, struct mcpx_slice name, uint64_t cost,
                       int64_t now_ms)
{
    for (size_t row = 0; row < MX_BUCKET_ROWS; row++)
        mx_bucket_return(cell_of(buckets, name, row), buckets->rate, cost, now_ms);
}
