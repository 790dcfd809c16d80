/*
 * cells_tls.c - one message to many under TLS, beside the router without it, the router whose
 * records OpenSSL seals, and other servers where their programs are there.
 */
#include "tests/bench/cells.h"

#include "tests/bench/trial.h"

struct cell {
    const char *name;
    struct crowd_load load;
};

static void open_sides(struct trial *trial, const struct crowd_plan *plan)
{
    static const enum trial_server all[] = {SECURE, ROUTER, SECURE_OPENSSL, BUN, NCHAN};

    trial->sides = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (trial_has(all[i]))
            trial->which[trial->sides++] = all[i];
    trial_open(trial, plan);
}

static void run_cells(const struct crowd_plan *plan, const struct cell *cells, size_t count)
{
    static struct trial trial;
    bool is_open = false;

    for (size_t i = 0; i < count; i++) {
        struct crowd_load load = cells[i].load;

        if (!cell_is_wanted(cells[i].name))
            continue;
        if (!is_open)
            open_sides(&trial, plan);
        is_open = true;
        load.seconds = trial_setup.seconds;
        trial_run(&trial, &load);
        for (size_t side = 1; side < trial.sides; side++)
            trial_print(&trial, cells[i].name, "us/delivery", trial_cpu_us,
                        (struct trial_bound){side, trial.which[side] >= BUN ? 1 : 0});
    }
    if (is_open)
        trial_close(&trial);
}

void cells_tls(void)
{
    static const struct cell hundred[] = {
        {"tls100-256", {.bytes = 256, .window = 32}},
        {"tls100-4k", {.bytes = 4096, .window = 16}},
    };
    static const struct cell thousand[] = {
        {"tls1000-256", {.bytes = 256, .window = 32}},
        {"tls1000-4k", {.bytes = 4096, .window = 16}},
    };

    if (!trial_has(SECURE))
        return;
    run_cells(&(struct crowd_plan){"fan", 1, 1, 100, false, false, NULL}, hundred, 2);
    run_cells(&(struct crowd_plan){"fan", 1, 1, 1000, false, false, NULL}, thousand, 2);
}
