/*
 * naive.h - a router as it is written in an afternoon, to have something to compare with.
 */
#ifndef BENCH_NAIVE_H
#define BENCH_NAIVE_H

#include <mcpx/base.h>

/** Messages it remembers. */
enum { NAIVE_HISTORY = 1000 };

/** Parses, checks against speech_grants, writes out again and remembers. Aborts when refused. */
void naive_route(struct mcpx_slice text);

/** Forgets everything. */
void naive_fini(void);

#endif
