/*
 * trial.h - the same work given to several servers in turn, so that ratios hold whatever else
 * the machine does.
 */
#ifndef BENCH_TRIAL_H
#define BENCH_TRIAL_H

#include "tests/bench/crowd.h"

enum { TRIAL_SIDES = 4, TRIAL_ROUNDS_MAX = 64 };

/**
 * Where the programs are, and how much to do.
 *
 * bare    libwebsockets by itself
 * peer    starts servers of others: `peer NAME FOLDER`
 * peers   those that are there: "bun nchan"
 * folder  with cert.pem and key.pem, for TLS; NULL = nothing under TLS is measured
 */
struct trial_setup {
    const char *router;
    const char *floor;
    const char *bare;
    const char *peer;
    const char *peers;
    const char *folder;
    int rounds;
    double seconds;
};

extern struct trial_setup trial_setup;

/** The servers that are compared; from SECURE on under TLS. */
enum trial_server { ROUTER, COALESCING, NAIVE, SECURE, BUN, NCHAN };

/** Is that server there? */
bool trial_has(enum trial_server which);

/** Starts a server of that sort. `history` tells a floor how many messages to keep. */
void trial_start(enum trial_server which, const char *history, struct child *out);

/** What that server is called in the table. */
const char *trial_name(enum trial_server which);

/** Crowds of the same plan that do the same work: each with its server. */
struct trial {
    size_t sides;
    enum trial_server which[TRIAL_SIDES];
    struct child servers[TRIAL_SIDES];
    struct crowd *crowds[TRIAL_SIDES];
    struct crowd_sample samples[TRIAL_SIDES][TRIAL_ROUNDS_MAX];
};

/** Starts the servers `which` of `sides`, with a crowd of `plan` at each. */
void trial_open(struct trial *trial, const struct crowd_plan *plan);

/** Gives each crowd the load once unmeasured and then `rounds` times, in turn. */
void trial_run(struct trial *trial, const struct crowd_load *load);

/** Disconnects and stops everybody. */
void trial_close(struct trial *trial);

/** What is read off a sample. */
double trial_cpu_us(const struct crowd_sample *sample); /* of CPU per delivery */
double trial_p50(const struct crowd_sample *sample);
double trial_p99(const struct crowd_sample *sample);

/** Median of a side's rounds. */
double trial_median(const struct trial *trial, size_t side,
                    double (*of)(const struct crowd_sample *));

/** Median over the rounds of one side divided by another. */
double trial_ratio(const struct trial *trial, size_t side, size_t base,
                   double (*of)(const struct crowd_sample *));

/** One bound of a row: against which side, by its place; target 0 = shown, not judged. */
struct trial_bound {
    size_t base;
    double target;
};

/** Prints side 0 against another side. */
void trial_print(const struct trial *trial, const char *name, const char *unit,
                 double (*of)(const struct crowd_sample *), struct trial_bound bound);

#endif
