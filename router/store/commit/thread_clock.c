/*
 * thread_clock.c - the hub is told the time; a thread that waits for a disk has to ask for it.
 */
#include "router/store/commit/stage.h"

#include <time.h>

uint64_t thread_clock_us(void)
{
    struct timespec at = {0};

    clock_gettime(CLOCK_MONOTONIC, &at); /* fails for unknown clocks only */
    return (uint64_t)at.tv_sec * 1000000 + (uint64_t)at.tv_nsec / 1000;
}

int64_t thread_clock_mono_ms(void)
{
    return (int64_t)(thread_clock_us() / 1000);
}

int64_t thread_clock_wall_ms(void)
{
    struct timespec at = {0};

    clock_gettime(CLOCK_REALTIME, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}
