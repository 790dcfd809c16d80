/* histogram.h - how many values fell into each of a row of classes. */
#ifndef MX_HISTOGRAM_H
#define MX_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

/** Limit of the classes that have an upper bound. */
enum { MX_CLASSES_MAX = 12 };

/** Classes, by their upper bounds; one more has none. */
struct mx_classes {
    unsigned bounds[MX_CLASSES_MAX];
    size_t count;
    uint64_t of_second; /* units per second; 0 = the values are not times */
};

/** How many fell into each class, and the sum of all. */
struct mx_histogram {
    uint64_t counts[MX_CLASSES_MAX + 1];
    uint64_t sum;
};

/** Counts `count` times the same value. */
static inline void mx_histogram_add(struct mx_histogram *histogram,
                                    const struct mx_classes *classes, uint64_t count,
                                    uint64_t value)
{
    size_t at = 0;

    while (at < classes->count && value > classes->bounds[at])
        at++;
    histogram->counts[at] += count;
    histogram->sum += count * value;
}

#endif
