/*
 * measure.h - a clock, a median, and rows of figures that all benchmarks print alike.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

/** Monotonic time in nanoseconds. */
double measure_now_ns(void);

/** Processor time of this thread in nanoseconds: what others on the machine do is not in it. */
double measure_cpu_ns(void);

/** The middle one; sorts the samples. 0 when there are none. */
double measure_median(double *samples, size_t count);

/** Median processor nanoseconds of one call of `run`, in 15 rounds of at least 2 ms each. */
double measure_call_ns(void (*run)(void *context), void *context);

/**
 * One row of the table.
 *
 * name       what was measured, in one word
 * value      the figure, in `unit`
 * unit       as "us/delivery"
 * against    what it is compared with ("coalescing floor"); NULL = with nothing
 * base       the figure of that, same unit
 * ratio      value / base as measured side by side, or base / value when `at_least`
 * target     bound of the ratio, or of the value when `against` is NULL; 0 = none
 * at_least   the bound is a lower one
 */
struct measure_row {
    const char *name;
    double value;
    const char *unit;
    const char *against;
    double base;
    double ratio;
    double target;
    bool at_least;
};

/** Prints a line that says what follows. */
void measure_title(const char *title);

/**
 * Prints a row with its verdict, and appends it as one JSON object per line to the file that the
 * environment variable BENCH_JSON names, if it is set.
 */
void measure_print(const struct measure_row *row);

/** Appends an object of one name and one number to that file alone. */
void measure_note(const char *name, double value, const char *unit);

#endif
