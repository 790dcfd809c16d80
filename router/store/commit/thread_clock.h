/*
 * thread_clock.h - the time, for the threads of the stages.
 */
#ifndef STORE_THREAD_CLOCK_H
#define STORE_THREAD_CLOCK_H

#include <stdint.h>

/** Microseconds of a clock that never jumps. */
uint64_t thread_clock_us(void);

/** The same in milliseconds. */
int64_t thread_clock_mono_ms(void);

/** Milliseconds since 1970-01-01T00:00:00Z. */
int64_t thread_clock_wall_ms(void);

#endif
