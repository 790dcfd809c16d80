/*
 * trial.c - servers side by side, all connected, one working at a time. A ratio is taken within
 * each round and the median of the rounds is reported: a neighbour that is busy for a second then
 * spoils one round, not the comparison.
 */
#include "tests/bench/trial.h"

#include "tests/bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trial_setup trial_setup = {.rounds = 9, .seconds = 0.15};

const char *trial_name(enum trial_server which)
{
    static const char *const names[] = {
        "router", "coalescing floor", "naive floor", "router, TLS", "bun", "nchan"};

    return names[which];
}

bool trial_has(enum trial_server which)
{
    if (which < SECURE)
        return true;
    return trial_setup.folder &&
           (which < BUN ||
            (trial_setup.peers && strstr(trial_setup.peers, trial_name(which))));
}

static void configure_tls(void)
{
    char path[512];

    snprintf(path, sizeof path, "%s/cert.pem", trial_setup.folder);
    setenv("MCPX_TLS_CERTIFICATE_FILE", path, 1);
    snprintf(path, sizeof path, "%s/key.pem", trial_setup.folder);
    setenv("MCPX_TLS_KEY_FILE", path, 1);
}

void trial_start(enum trial_server which, const char *history, struct child *out)
{
    const char *router[] = {trial_setup.router, "--listen", "127.0.0.1:0", NULL};
    const char *coalescing[] = {trial_setup.floor, "--coalesce", "--history", history, NULL};
    const char *naive[] = {trial_setup.floor, "--history", history, NULL};
    const char *secure[] = {trial_setup.router, "--listen", "tls://127.0.0.1:0", NULL};
    const char *peer[] = {trial_setup.peer, trial_name(which), trial_setup.folder, NULL};
    const char *const *argv[] = {router, coalescing, naive, secure, peer, peer};

    unsetenv("MCPX_TLS_CERTIFICATE_FILE");
    unsetenv("MCPX_TLS_KEY_FILE");
    if (which >= SECURE)
        configure_tls();
    child_start(out, argv[which]);
}

void trial_open(struct trial *trial, const struct crowd_plan *plan)
{
    for (size_t i = 0; i < trial->sides; i++) {
        trial_start(trial->which[i], "0", &trial->servers[i]);
        trial->crowds[i] = crowd_open(&trial->servers[i], plan);
    }
}

void trial_run(struct trial *trial, const struct crowd_load *load)
{
    struct crowd_load warm_up = *load;
    struct crowd_sample ignored;

    warm_up.seconds = 0.05;
    for (size_t i = 0; i < trial->sides; i++)
        crowd_run(trial->crowds[i], &warm_up, &ignored);
    for (int round = 0; round < trial_setup.rounds; round++)
        for (size_t i = 0; i < trial->sides; i++)
            crowd_run(trial->crowds[i], load, &trial->samples[i][round]);
}

void trial_close(struct trial *trial)
{
    for (size_t i = 0; i < trial->sides; i++) {
        crowd_free(trial->crowds[i]);
        child_stop(&trial->servers[i]);
    }
}

double trial_cpu_us(const struct crowd_sample *sample)
{
    return sample->cpu_ns / 1e3 / sample->deliveries;
}

double trial_p50(const struct crowd_sample *sample)
{
    return sample->p50_us;
}

double trial_p99(const struct crowd_sample *sample)
{
    return sample->p99_us;
}

double trial_median(const struct trial *trial, size_t side,
                    double (*of)(const struct crowd_sample *))
{
    double values[TRIAL_ROUNDS_MAX];

    for (int round = 0; round < trial_setup.rounds; round++)
        values[round] = of(&trial->samples[side][round]);
    return measure_median(values, (size_t)trial_setup.rounds);
}

double trial_ratio(const struct trial *trial, size_t side, size_t base,
                   double (*of)(const struct crowd_sample *))
{
    double values[TRIAL_ROUNDS_MAX];

    for (int round = 0; round < trial_setup.rounds; round++)
        values[round] = of(&trial->samples[side][round]) / of(&trial->samples[base][round]);
    return measure_median(values, (size_t)trial_setup.rounds);
}

void trial_print(const struct trial *trial, const char *name, const char *unit,
                 double (*of)(const struct crowd_sample *), struct trial_bound bound)
{
    struct measure_row row = {.name = name,
                              .value = trial_median(trial, 0, of),
                              .unit = unit,
                              .against = trial_name(trial->which[bound.base]),
                              .base = trial_median(trial, bound.base, of),
                              .ratio = trial_ratio(trial, 0, bound.base, of),
                              .target = bound.target};

    measure_print(&row);
}
