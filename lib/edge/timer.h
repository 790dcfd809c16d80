/*
 * timer.h - the system's clocks and random bytes, and a timer on a loop: it outlives its owner for
 * as long as libuv needs it.
 */
#ifndef EDGE_TIMER_H
#define EDGE_TIMER_H

#include <mcpx/base.h>
#include <uv.h>

/** Both clocks, asked now. */
struct mcpx_now mx_clock_now(void);

/** Random bytes from the system's generator; `context` is ignored. */
void mx_chance_fill(void *context, void *bytes, size_t len);

struct mx_timer;

/** Makes a timer that is not set. Returns NULL without memory. `user` is handed to `ring`. */
struct mx_timer *mx_timer_new(uv_loop_t *loop, void (*ring)(void *user), void *user);

/**
 * Lets it ring once, `ms` from now, in place of any earlier setting; 0 = in the loop's next turn.
 * Too early is possible where the loop was not run for a while.
 */
void mx_timer_set(struct mx_timer *timer, int64_t ms);

/** Lets it be silent. */
void mx_timer_stop(struct mx_timer *timer);

/** Frees it as soon as the loop has run; it does not ring any more. NULL is allowed. */
void mx_timer_free(struct mx_timer *timer);

#endif
