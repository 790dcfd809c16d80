/*
 * count_calls.h - what count_calls.c counts in another process.
 */
#ifndef BENCH_COUNT_CALLS_H
#define BENCH_COUNT_CALLS_H

#include <stdint.h>

/** The environment variable that names the mapped file. */
#define CALLS_FILE "BENCH_CALLS_FILE"

/** Calls so far. */
struct calls {
    uint64_t sends;
    uint64_t receives;
    uint64_t registrations; /* of descriptors with epoll */
    uint64_t allocations;
};

#endif
