/*
 * load.c - the macro benchmark: the router and two servers that only copy bytes, each given the
 * same work in turn by the same driver, on processors of their own. Prints one row per cell.
 *
 *     bench_load --router PATH --floor PATH --bare PATH [--rounds N] [--seconds S]
 *                [--folder PATH --peer PATH --peers NAMES] [CELL...]
 *
 * Settings of the router are its defaults, but for rate limits, which are off, and history,
 * which is on; every participant has a signed token with eight patterns.
 */
#include "tests/bench/cells.h"

#include "tests/bench/measure.h"
#include "tests/bench/trial.h"

#include <stdio.h>
#include <stdlib.h>

static char **wanted;
static int wanted_count;

bool cell_is_wanted(const char *name)
{
    for (int i = 0; i < wanted_count; i++)
        if (strncmp(name, wanted[i], strlen(wanted[i])) == 0)
            return true;
    return wanted_count == 0;
}

static void usage(void)
{
    fprintf(stderr, "usage: bench_load --router PATH --floor PATH --bare PATH [--rounds N] "
                    "[--seconds S] [--folder PATH --peer PATH --peers NAMES] [CELL...]\n");
    exit(2);
}

static void read_option(const char *name, const char *value)
{
    const struct {
        const char *name;
        const char **value;
    } paths[] = {{"--router", &trial_setup.router}, {"--floor", &trial_setup.floor},
                 {"--bare", &trial_setup.bare},     {"--folder", &trial_setup.folder},
                 {"--peer", &trial_setup.peer},     {"--peers", &trial_setup.peers}};

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(name, paths[i].name) == 0) {
            *paths[i].value = value;
            return;
        }
    if (strcmp(name, "--rounds") == 0)
        trial_setup.rounds = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "--seconds") == 0)
        trial_setup.seconds = strtod(value, NULL);
    else
        usage();
}

static void read_options(int argc, char **argv)
{
    int i = 1;

    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2)
        read_option(argv[i], argv[i + 1]);
    wanted = argv + i;
    wanted_count = argc - i;
    if (!trial_setup.router || !trial_setup.floor || !trial_setup.bare ||
        trial_setup.rounds < 1 || trial_setup.rounds > TRIAL_ROUNDS_MAX ||
        trial_setup.seconds <= 0)
        usage();
}

static void configure_router(void)
{
    setenv("MCPX_AUTH_JWT_SECRET", CROWD_SECRET, 1);
    setenv("MCPX_LIMITS_MESSAGES_PER_MINUTE", "0", 1);
    setenv("MCPX_LIMITS_BYTES_PER_MINUTE", "0", 1);
    setenv("MCPX_LIMITS_CONNECTS_PER_S", "0", 1);
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    configure_router();
    child_raise_files();
    child_pin_self();
    measure_title("fan-out: server CPU per delivered message, every delivery checked");
    cells_fanout();
    cells_tls();
    cells_pairs();
    cells_directed();
    cells_join();
    cells_idle();
    cells_model();
    return EXIT_SUCCESS;
}
