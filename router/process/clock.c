/*
 * clock.c - time and chance, which the hub takes as arguments. The time is asked at most once
 * per loop turn, and when all is written: ten thousand messages that arrived together carry one
 * timestamp, and a system call per message is what a finer clock would cost. One message in some
 * dozens is timed by itself.
 */
#include "router/process/process.h"

#include "lib/edge/alarm.h"

#include <time.h>

static int64_t nanoseconds(clockid_t id)
{
    struct timespec at = {0};

    clock_gettime(id, &at); /* fails for unknown clocks only */
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static int64_t microseconds(clockid_t id)
{
    return nanoseconds(id) / 1000;
}

uint64_t clock_ns(void)
{
    return (uint64_t)nanoseconds(CLOCK_MONOTONIC);
}

uint64_t clock_work_ns(void)
{
    return (uint64_t)nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

static struct mcpx_now now_at(int64_t mono_us)
{
    return (struct mcpx_now){mono_us / 1000, microseconds(CLOCK_REALTIME) / 1000};
}

struct mcpx_now clock_now(struct clock *clock)
{
    if (!clock->known) {
        clock->began_us = microseconds(CLOCK_MONOTONIC);
        clock->now = now_at(clock->began_us);
        clock->known = true;
    }
    return clock->now;
}

struct mcpx_now clock_end(const struct clock *clock, uint64_t *took_us)
{
    int64_t us = microseconds(CLOCK_MONOTONIC);

    *took_us = clock->known ? (uint64_t)(us - clock->began_us) : 0;
    return now_at(us);
}

void clock_forget(struct clock *clock)
{
    clock->known = false;
}

struct chance clock_chance(void)
{
    return (struct chance){mx_chance_fill, NULL};
}
