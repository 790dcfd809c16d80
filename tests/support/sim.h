/*
 * sim.h - a hub among participants that do everything participants may do, and a second, naive
 * account of what each of them has to receive. The hub may stand behind a store that is slow, fails
 * and crashes. The first difference ends the program, with the last steps on stderr.
 */
#ifndef SUPPORT_SIM_H
#define SUPPORT_SIM_H

#include "tests/support/dice.h"

/** How a run went, to see that it came by everything. */
struct sim_tally {
    uint64_t steps, accepted, refused, resumed, positions, pages, slow, takeovers, vanished,
        faults;
    uint64_t shortened, live, expired, timeouts, floods;
    /* Behind a store: */
    uint64_t committed, rejected, unknown, limited, waited, turned_away, lone_joins, loads,
        closings, crashes, losses, lost, settled, duplicates, derived, regrants;
};

/**
 * Runs one simulation to its end: `steps` random steps, then everybody reads what is left and
 * goes, and every topic vanishes. With a store, the store works again first, and the hub is made
 * anew once more.
 *
 * dice          decides settings and steps
 * name          how to replay it ("MCPX_SIM_SEED=17"), printed with a failure; borrowed
 * needs_commit  a store or an audit has to have a message before anybody reads it
 * tally         added to
 */
void sim_run(struct dice dice, const char *name, bool needs_commit, size_t steps,
             struct sim_tally *tally);

#endif
