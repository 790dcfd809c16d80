/*
 * clock.h - the only place of the loop that asks what time it is, and the only one of the router
 * that asks for chance. The threads of the store have router/store/commit/thread_clock.h.
 */
#ifndef EDGE_CLOCK_H
#define EDGE_CLOCK_H

#include "router/hub/hub.h"

/**
 * The time of one loop turn. Zeroed = not asked yet.
 *
 * began_us   when it was asked, in microseconds of the monotonic clock
 */
struct clock {
    struct mcpx_now now;
    bool known;
    int64_t began_us;
};

/** Both clocks, asked now. */
struct mcpx_now clock_ask(void);

/**
 * The monotonic clock in nanoseconds, asked now: to time what is too short for a loop turn's time.
 */
uint64_t clock_ns(void);

/** Processor time that this thread has taken, in nanoseconds. */
uint64_t clock_work_ns(void);

/** The time of this loop turn; the first caller of a turn asks. */
struct mcpx_now clock_now(struct clock *clock);

/**
 * Both clocks, asked now, at the end of a loop turn. `took_us` is set to the time since clock_now
 * was asked first in it; 0 when it was not.
 */
struct mcpx_now clock_end(const struct clock *clock, uint64_t *took_us);

/** The loop is about to wait: what was known is stale afterwards. */
void clock_forget(struct clock *clock);

/** Chance from the kernel. Aborts when the kernel has none, as nothing safe can follow. */
struct chance clock_chance(void);

#endif
