/* bucket.h - rates of any number of names in memory that does not grow. Time is an argument. */
#ifndef MX_BUCKET_H
#define MX_BUCKET_H

#include "lib/base/map.h"

/** Cells of a row, and rows. */
enum { MX_BUCKET_CELLS = 4096, MX_BUCKET_ROWS = 2 };

/**
 * A rate limit: `per_minute` tokens flow in, and a bucket holds at most `burst` of them. Both below
 * 2^44; per_minute 0 = no limit.
 */
struct mx_rate {
    uint64_t per_minute;
    uint64_t burst;
};

/** The tokens missing from a full bucket, in 60,000ths, at an instant. Zeroed is full. */
struct mx_bucket {
    uint64_t spent;
    int64_t at_ms;
};

/** Spends `cost`, however much is there; the debt is at most a minute's worth. */
void mx_bucket_spend(struct mx_bucket *cell, struct mx_rate rate, uint64_t cost,
                     int64_t now_ms);

/** Spends `cost` if it is there; false changes nothing. */
bool mx_bucket_take(struct mx_bucket *cell, struct mx_rate rate, uint64_t cost,
                    int64_t now_ms);

/** Puts `cost` back; a full bucket stays full. */
void mx_bucket_return(struct mx_bucket *cell, struct mx_rate rate, uint64_t cost,
                      int64_t now_ms);

/** Milliseconds until `cost` is there; 0 when it is now. */
int64_t mx_bucket_wait_ms(const struct mx_bucket *cell, struct mx_rate rate, uint64_t cost,
                          int64_t now_ms);

/** The present content; 0 while a minute is owed. The rate has a limit. */
uint64_t mx_bucket_left(const struct mx_bucket *cell, struct mx_rate rate, int64_t now_ms);

/**
 * Buckets for names. A name has a cell in each row, chosen by a secret key, and the fuller of its
 * buckets counts. Nothing is evicted, so an attacker cannot make the table forget a name's
 * spending. Names that share a cell are told apart by the other row. Zeroed except for `key`, the
 * table is ready.
 */
struct mx_buckets {
    struct mx_map_key key;
    struct mx_rate rate;
    struct mx_bucket cells[MX_BUCKET_ROWS][MX_BUCKET_CELLS];
};

/** Milliseconds until the name may spend `cost`; 0 when it may now. */
int64_t mx_buckets_wait_ms(const struct mx_buckets *buckets, struct mcpx_slice name,
                           uint64_t cost, int64_t now_ms);

/** The name spends `cost`, whether it may or not. */
void mx_buckets_spend(struct mx_buckets *buckets, struct mcpx_slice name, uint64_t cost,
                      int64_t now_ms);

/** The name has `cost` back. */
void mx_buckets_return(struct mx_buckets *buckets, struct mcpx_slice name, uint64_t cost,
                       int64_t now_ms);

#endif
