/*
 * ratelimit.h - a token bucket whose clock is an argument.
 */
#ifndef HUB_RATELIMIT_H
#define HUB_RATELIMIT_H

#include <mcpx/base.h>

/**
 * Holds at most a minute's worth of tokens.
 *
 * per_minute    tokens that flow in per minute, and the most it holds; below 2^54; 0 = no limit
 * spent         milli-tokens missing from a full bucket at `mono_ms` (so zero-initialised, but
 *               for per_minute, is a full bucket)
 */
struct bucket {
    uint64_t per_minute;
    uint64_t spent;
    int64_t mono_ms;
};

/** Another rate from now on; nobody owes more than a minute of it. */
void bucket_set_rate(struct bucket *bucket, uint64_t per_minute, struct mcpx_now now);

/** True, and the tokens are gone, when there are `tokens` left; false changes nothing. */
bool bucket_take(struct bucket *bucket, uint64_t tokens, struct mcpx_now now);

/**
 * Milliseconds until bucket_take(tokens) would succeed; 0 when it would now. More tokens than
 * the bucket ever holds count as a full bucket.
 */
int64_t bucket_wait_ms(const struct bucket *bucket, uint64_t tokens, struct mcpx_now now);

/** Tokens left now; UINT64_MAX without limit. */
uint64_t bucket_left(const struct bucket *bucket, struct mcpx_now now);

#endif
