/*
 * gated.h - a hub whose messages are stored before anybody reads them, between participants that
 * come, talk, fall behind and come back, and a store that is slow, fails and crashes. What each of
 * them is told is compared with what the store holds. The first difference ends the program, with
 * the last steps on stderr.
 */
#ifndef SUPPORT_GATED_H
#define SUPPORT_GATED_H

#include "tests/support/dice.h"

/** How a run went, to see that it came by everything. */
struct gated_tally {
    uint64_t steps, accepted, committed, refused, unknown, limited, duplicates, derived;
    uint64_t read, pages, resumed, anew, takeovers, slow, waited, turned_away, crashes, losses;
    uint64_t openings, closings, regrants, settled, vanished_joins, lost;
};

/**
 * Runs one simulation: `steps` random steps, then the store works again and everybody is served,
 * then the hub is made anew once more, and everybody goes on where it was.
 *
 * dice     decides settings and steps
 * name     how to replay it, printed with a failure; borrowed
 * tally    added to
 */
void gated_run(struct dice dice, const char *name, size_t steps, struct gated_tally *tally);

#endif
