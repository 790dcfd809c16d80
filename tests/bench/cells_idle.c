/*
 * cells_idle.c - what connections cost that say nothing: memory each, and time for those that do.
 * Idle participants sit fifty to a topic, so what is counted is theirs and not a full room's.
 */
#include "tests/bench/cells.h"

#include "tests/bench/measure.h"
#include "tests/bench/trial.h"

#include <stddef.h>

enum { PER_TOPIC = 50, FEW = 100, SOME = 1000, MANY = 5000 };

static struct crowd *open_idle(const struct child *server, const char *name, size_t count)
{
    struct crowd_plan plan = {name,  count / PER_TOPIC, 0, PER_TOPIC, false,
                              false, "&history=0"};

    return crowd_open(server, &plan);
}

/* KiB per connection beyond the first thousand; leaves all of them connected. */
static double fill(const struct child *server, struct crowd *idle[2])
{
    double before;

    idle[0] = open_idle(server, "idle", SOME);
    before = child_rss(server);
    idle[1] = open_idle(server, "more", MANY - SOME);
    return (child_rss(server) - before) / 1024 / (MANY - SOME);
}

/* The same for libwebsockets by itself. */
static double fill_bare(void)
{
    const char *argv[] = {trial_setup.bare, NULL};
    struct crowd *idle[2];
    struct child bare;
    double kib;

    child_start(&bare, argv);
    kib = fill(&bare, idle);
    crowd_free(idle[0]);
    crowd_free(idle[1]);
    child_stop(&bare);
    return kib;
}

static void measure_memory(const struct child *router, struct crowd *idle[2])
{
    struct measure_row row = {.name = "idle-memory", .unit = "KiB/peer"};
    double bare = fill_bare();

    row.value = fill(router, idle);
    row.against = "libwebsockets";
    row.base = bare;
    row.ratio = row.value / bare;
    measure_print(&row);
    row = (struct measure_row){.name = "idle-memory",
                               .value = row.value - bare,
                               .unit = "KiB/peer more",
                               .target = 6};
    measure_print(&row);
}

void cells_idle(void)
{
    static struct trial trial;
    struct crowd_plan active = {"fan", 1, 1, 100, false, false, NULL};
    struct crowd_load load = {.bytes = 256, .window = 1, .seconds = trial_setup.seconds};
    struct measure_row row = {"idle-cost", 0, "us/delivery", "with 100 idle",
                              0,           0, 1.05,          false};
    struct crowd *idle[3];

    if (!cell_is_wanted("idle"))
        return;
    trial.sides = 2;
    trial_start(ROUTER, "0", &trial.servers[0]);
    trial_start(ROUTER, "0", &trial.servers[1]);
    measure_memory(&trial.servers[0], idle);
    idle[2] = open_idle(&trial.servers[1], "idle", FEW);
    for (size_t i = 0; i < 2; i++)
        trial.crowds[i] = crowd_open(&trial.servers[i], &active);
    trial_run(&trial, &load);
    row.value = trial_median(&trial, 0, trial_cpu_us);
    row.base = trial_median(&trial, 1, trial_cpu_us);
    row.ratio = trial_ratio(&trial, 0, 1, trial_cpu_us);
    measure_print(&row);
    for (size_t i = 0; i < 3; i++)
        crowd_free(idle[i]);
    trial_close(&trial);
}
