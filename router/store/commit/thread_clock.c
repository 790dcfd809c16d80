/*
 * thread_clock.c - clocks for threads that wait for a disk. The hub gets the time as an argument.
 */
#include "router/store/commit/stage.h"

#include <time.h>

static int64_t microseconds(clockid_t id)
{
    struct timespec at = {0};

    (void)clock_gettime(id, &at); /* fails for unknown clocks only */
    return (int64_t)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

uint64_t thread_clock_us(void)
{
    return (uint64_t)microseconds(CLOCK_MONOTONIC);
}

int64_t thread_clock_mono_ms(void)
{
    return microseconds(CLOCK_MONOTONIC) / 1000;
}

int64_t thread_clock_wall_ms(void)
{
    return microseconds(CLOCK_REALTIME) / 1000;
}
