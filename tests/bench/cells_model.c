/*
 * cells_model.c - what a room costs, computed before it is opened: CPU per message is
 *
 *     c0 + c1 * bytes + readers * (d0 + d1 * bytes)
 *
 * when nothing can be coalesced, that is at a modest, even rate. The four constants are read off
 * four rooms, and the formula is then held against three others of different shape.
 * docs/performance.md makes a table of it.
 */
#include "tests/bench/cells.h"

#include "tests/bench/measure.h"
#include "tests/bench/trial.h"

#include <stddef.h>

enum { ROUNDS = 7, ROOMS = 7, SMALL = 256, LARGE = 65536, PAIR = 2, CROWD = 101 };

/* The first four are for the constants. A publisher hears itself, so it is one of the readers. */
static const struct room {
    const char *name;
    struct crowd_plan plan;
    struct crowd_load load;
} rooms[ROOMS] = {
    {"pair", {"a", 1, 1, PAIR - 1, false, false, NULL}, {SMALL, 1, 100, 0, 0}},
    {"pair", {"b", 1, 1, PAIR - 1, false, false, NULL}, {LARGE, 1, 100, 0, 0}},
    {"crowd", {"c", 1, 1, CROWD - 1, false, false, NULL}, {SMALL, 1, 100, 0, 0}},
    {"crowd", {"d", 1, 1, CROWD - 1, false, false, NULL}, {LARGE, 1, 100, 0, 0}},
    {"model-1000x1k", {"e", 1, 1, 999, false, false, NULL}, {1024, 1, 20, 0, 0}},
    {"model-20x10x4k", {"f", 20, 1, 9, false, false, NULL}, {4096, 1, 20, 0, 0}},
    {"model-busy-100x512", {"g", 1, 10, 90, false, false, NULL}, {512, 1, 20, 0, 0}},
};

struct model {
    double c0, c1, d0, d1;
};

static double run_room(struct crowd *crowd, const struct room *room)
{
    struct crowd_load load = room->load;
    struct crowd_sample sample;

    load.seconds = 2 * trial_setup.seconds;
    crowd_run(crowd, &load, &sample);
    return sample.cpu_ns / 1e3 / sample.messages;
}

/* Microseconds of CPU per message in each room: all are open, and speak in turn. */
static void measure_rooms(double out[ROOMS])
{
    double values[ROOMS][ROUNDS];
    struct crowd *crowds[ROOMS];
    struct child router;

    trial_start(ROUTER, "0", &router);
    for (size_t i = 0; i < ROOMS; i++) {
        crowds[i] = crowd_open(&router, &rooms[i].plan);
        run_room(crowds[i], &rooms[i]);
    }
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < ROOMS; i++)
            values[i][round] = run_room(crowds[i], &rooms[i]);
    for (size_t i = 0; i < ROOMS; i++) {
        out[i] = measure_median(values[i], ROUNDS);
        crowd_free(crowds[i]);
    }
    child_stop(&router);
}

static void print_constant(const char *name, double value, const char *unit)
{
    measure_print(&(struct measure_row){.name = name, .value = value, .unit = unit});
}

static struct model calibrate(const double measured[4])
{
    double small = (measured[2] - measured[0]) / (CROWD - PAIR);
    double large = (measured[3] - measured[1]) / (CROWD - PAIR);
    double fixed_small = measured[0] - PAIR * small, fixed_large = measured[1] - PAIR * large;
    struct model model;

    model.d1 = (large - small) / (LARGE - SMALL);
    model.d0 = small - model.d1 * SMALL;
    model.c1 = (fixed_large - fixed_small) / (LARGE - SMALL);
    model.c0 = fixed_small - model.c1 * SMALL;
    print_constant("model-c0", model.c0, "us");
    print_constant("model-c1", model.c1 * 1024, "us/KiB");
    print_constant("model-d0", model.d0, "us");
    print_constant("model-d1", model.d1 * 1024, "us/KiB");
    return model;
}

static double predict(const struct model *model, const struct room *room)
{
    double readers = (double)(room->plan.publishers + room->plan.readers);
    double bytes = (double)room->load.bytes;

    return model->c0 + model->c1 * bytes + readers * (model->d0 + model->d1 * bytes);
}

void cells_model(void)
{
    double measured[ROOMS];
    struct model model;

    if (!cell_is_wanted("model"))
        return;
    measure_rooms(measured);
    model = calibrate(measured);
    for (size_t i = 4; i < ROOMS; i++) {
        struct measure_row row = {.name = rooms[i].name,
                                  .value = measured[i],
                                  .unit = "us/message",
                                  .against = "the model",
                                  .base = predict(&model, &rooms[i])};

        row.ratio = row.value / row.base;
        measure_print(&row);
    }
}
