/*
 * ratelimit.c - counts what is missing instead of what is there, so that a full bucket is all
 * zero and filling up is one subtraction that stops at zero. Thousandths of a token are kept, or
 * a bucket asked every few milliseconds would never fill.
 */
#include "router/hub/ratelimit.h"

static const int64_t minute_ms = 60000;

/*
 * Milli-tokens missing now. One minute always fills the bucket, and whole sixtieths are taken
 * before time multiplies them, so that no rate below 2^54 per minute overflows.
 */
static uint64_t spent_now(const struct bucket *bucket, struct mcpx_now now)
{
    int64_t elapsed_ms = now.mono_ms - bucket->mono_ms;
    uint64_t refilled;

    if (elapsed_ms <= 0)
        return bucket->spent;
    if (elapsed_ms >= minute_ms)
        return 0;
    refilled = bucket->per_minute / 60 * (uint64_t)elapsed_ms +
               bucket->per_minute % 60 * (uint64_t)elapsed_ms / 60;
    return refilled >= bucket->spent ? 0 : bucket->spent - refilled;
}

void bucket_set_rate(struct bucket *bucket, uint64_t per_minute, struct mcpx_now now)
{
    uint64_t spent = spent_now(bucket, now), most = per_minute * 1000;

    *bucket = (struct bucket){.per_minute = per_minute,
                              .spent = spent < most ? spent : most,
                              .mono_ms = now.mono_ms};
}

bool bucket_take(struct bucket *bucket, uint64_t tokens, struct mcpx_now now)
{
    uint64_t spent;

    if (bucket->per_minute == 0)
        return true;
    if (tokens > bucket->per_minute)
        tokens = bucket->per_minute; /* else one large message could never be sent */
    spent = spent_now(bucket, now);
    if (spent + tokens * 1000 > bucket->per_minute * 1000)
        return false;
    bucket->spent = spent + tokens * 1000;
    bucket->mono_ms = now.mono_ms;
    return true;
}

int64_t bucket_wait_ms(const struct bucket *bucket, uint64_t tokens, struct mcpx_now now)
{
    uint64_t missing, excess, most = bucket->per_minute * 1000;
    int64_t served_ms;

    if (bucket->per_minute == 0)
        return 0;
    if (tokens > bucket->per_minute)
        tokens = bucket->per_minute;
    missing = bucket->spent + tokens * 1000;
    if (missing <= most)
        return 0;
    /* Counted from the last take on, because every rounding on the way would add to it. */
    excess = missing - most;
    served_ms = bucket->mono_ms +
                (int64_t)(excess / bucket->per_minute * 60 +
                          (excess % bucket->per_minute * 60 + bucket->per_minute - 1) /
                              bucket->per_minute);
    return served_ms > now.mono_ms ? served_ms - now.mono_ms : 0;
}

uint64_t bucket_left(const struct bucket *bucket, struct mcpx_now now)
{
    if (bucket->per_minute == 0)
        return UINT64_MAX;
    return (bucket->per_minute * 1000 - spent_now(bucket, now)) / 1000;
}
