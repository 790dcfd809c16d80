/*
 * cells_model.c - what a room costs, computed before it is opened: CPU per message is
 *
 *     c0 + c1 * bytes + readers * (d0 + d1 * bytes)
 *
 * when nothing can be coalesced, that is at a modest, even rate. The four constants are read off
 * four rooms, and the formula is then held against three others of different shape.
 * docs/performance.md makes a table of it. Includes cells.h, measure.h, trial.h.
 */
#include "tests/bench/cells.h"

#include "tests/bench/measure.h"
#include "tests/bench/trial.h"

#include <stddef.h>

enum { ROUNDS = 3, SMALL = 256, LARGE = 65536, PAIR = 2, CROWD = 101 };

struct room {
    const char *name;
    struct crowd_plan plan;
    struct crowd_load load;
};

struct model {
    double c0, c1, d0, d1;
};

/* Microseconds of CPU per message. */
static double measure_room(const struct room *room)
{
    struct crowd_load load = room->load, warm_up = room->load;
    double values[ROUNDS];
    struct crowd_sample sample;
    struct crowd *crowd;
    struct child router;

    trial_start(ROUTER, "0", &router);
    crowd = crowd_open(&router, &room->plan);
    load.seconds = 4 * trial_setup.seconds;
    warm_up.seconds = trial_setup.seconds / 2;
    crowd_run(crowd, &warm_up, &sample);
    for (int round = 0; round < ROUNDS; round++) {
        crowd_run(crowd, &load, &sample);
        values[round] = sample.cpu_ns / 1e3 / sample.messages;
    }
    crowd_free(crowd);
    child_stop(&router);
    return measure_median(values, ROUNDS);
}

static double measure_one(size_t readers, size_t bytes)
{
    struct room room = {.plan = {.name = "model", .topics = 1, .publishers = 1},
                        .load = {.bytes = bytes, .window = 1, .per_second = 100}};

    room.plan.readers = readers - 1; /* the publisher hears itself */
    return measure_room(&room);
}

static void print_constant(const char *name, double value, const char *unit)
{
    measure_print(&(struct measure_row){.name = name, .value = value, .unit = unit});
}

static struct model calibrate(void)
{
    double pair_small = measure_one(PAIR, SMALL), pair_large = measure_one(PAIR, LARGE);
    double crowd_small = measure_one(CROWD, SMALL), crowd_large = measure_one(CROWD, LARGE);
    double small = (crowd_small - pair_small) / (CROWD - PAIR);
    double large = (crowd_large - pair_large) / (CROWD - PAIR);
    double fixed_small = pair_small - PAIR * small, fixed_large = pair_large - PAIR * large;
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
    static const struct room rooms[] = {
        {"model-1000x1k",
         {.name = "large", .topics = 1, .publishers = 1, .readers = 999},
         {.bytes = 1024, .window = 1, .per_second = 20}},
        {"model-20x10x4k",
         {.name = "many", .topics = 20, .publishers = 1, .readers = 9},
         {.bytes = 4096, .window = 1, .per_second = 20}},
        {"model-busy-100x512",
         {.name = "busy", .topics = 1, .publishers = 10, .readers = 90},
         {.bytes = 512, .window = 1, .per_second = 20}},
    };
    struct model model;

    if (!cell_is_wanted("model"))
        return;
    model = calibrate();
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        struct measure_row row = {.name = rooms[i].name, .unit = "us/message"};

        row.value = measure_room(&rooms[i]);
        row.against = "the model";
        row.base = predict(&model, &rooms[i]);
        row.ratio = row.value / row.base;
        measure_print(&row);
    }
}
