/*
 * table.h - a hub and sessions around it, wired together without sockets: who sits there talks,
 * asks, proposes, answers, loses the connection and comes back, as dice fall. What everybody is
 * told is held against an account of what the router accepted. The first difference ends the test,
 * with the seed.
 */
#ifndef TESTS_TABLE_H
#define TESTS_TABLE_H

#include "tests/support/dice.h"

/** How runs went, to see that they came by everything. */
struct table_tally {
    uint64_t sent, accepted, told, responses, expired, refused, rejected, fulfilled;
    uint64_t breaks, resumed, anew, duplicates, retries, thrown_out;
};

/**
 * How a run is to be.
 *
 * steps       random steps before everybody comes together for the last time
 * forgetful   the router keeps few envelopes: not every reconnection can resume
 * hurried     the router limits rates
 */
struct table_plan {
    uint64_t seed;
    size_t steps;
    bool forgetful;
    bool hurried;
};

/** Runs one simulation to its end; `tally` is added to. Fails the test on the first difference. */
void table_run(const struct table_plan *plan, struct table_tally *tally);

#endif
