/*
 * timer.h - the system's clocks and random bytes, and a timer on a loop. It outlives its owner
 * while libuv needs it.
 */
#ifndef EDGE_TIMER_H
#define EDGE_TIMER_H

#include <mcpx/base.h>
#include <uv.h>

/** Reads both clocks. */
struct mcpx_now mx_clock_now(void);

/** Reads the monotonic clock, in microseconds. */
uint64_t mx_clock_us(void);

/** Random bytes from the system's generator; `context` is ignored. */
void mx_chance_fill(void *context, void *bytes, size_t len);

struct mx_timer;

/** Makes a timer that is not set. Returns NULL when memory ran out. `user` is handed to `ring`. */
struct mx_timer *mx_timer_new(uv_loop_t *loop, void (*ring)(void *user), void *user);

/**
 * Lets it ring once, `ms` from now, in place of any earlier setting; 0 = in the next loop
 * iteration. It may ring too early when the loop was not run for a while.
 */
void mx_timer_set(struct mx_timer *timer, int64_t ms);

/** Stops it; it does not ring. */
void mx_timer_stop(struct mx_timer *timer);

/** Frees it as soon as the loop has run; it does not ring any more. NULL is allowed. */
void mx_timer_free(struct mx_timer *timer);

#endif
