/*
 * metric_text.h - metrics as Prometheus text, version 0.0.4.
 */
#ifndef EDGE_METRIC_TEXT_H
#define EDGE_METRIC_TEXT_H

#include "router/store/edge/stage.h"
#include <mcpx/text.h>

/** Appends the two lines that stand before the values of a metric. */
void metric_header(const char *name, const char *type, const char *help,
                   struct mcpx_text *out);

/** Appends a counter or gauge that has no labels. */
void metric_value(const char *name, const char *type, const char *help, uint64_t value,
                  struct mcpx_text *out);

/**
 * Appends a time in seconds between two texts.
 *
 * time        in units
 * of_second   how many of them a second has: a power of ten
 */
void metric_seconds(const char *before, uint64_t time, uint64_t of_second, const char *after,
                    struct mcpx_text *out);

/**
 * The classes of a histogram.
 *
 * counts      how many fell into each: `count` with an upper bound, and one without
 * sum         of all
 * of_second   times: how many units a second has, as for metric_seconds; 0 = they are no times
 */
struct metric_classes {
    const uint64_t *counts;
    uint64_t sum;
    const unsigned *bounds;
    size_t count;
    uint64_t of_second;
};

/** Appends a histogram. */
void metric_histogram(const char *name, const char *help, const struct metric_classes *classes,
                      struct mcpx_text *out);

/** Appends a histogram of times in seconds, and one of sizes. */
void metric_times(const char *name, const char *help, const struct figure *figure,
                  struct mcpx_text *out);
void metric_sizes(const char *name, const char *help, const struct figure *figure,
                  struct mcpx_text *out);

#endif
