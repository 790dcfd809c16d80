/*
 * cells_fanout.c - one message to many, many to a few, and to some of many; and to many under TLS,
 * beside the router without it, and other servers where their programs are there.
 */
#include "tests/bench/cells.h"

#include "tests/bench/measure.h"
#include "tests/bench/trial.h"

/*
 * Per row: judged against the coalescing floor or, where nothing can be coalesced, against the
 * naive one; the other one is shown. Under TLS all are shown and none is judged: OpenSSL encrypts.
 */
struct fanout {
    const char *name;
    struct crowd_load load;
    struct trial_bound judged;
};

static void show(const struct trial *trial, const struct fanout *cell)
{
    size_t other = cell->judged.base == COALESCING ? NAIVE : COALESCING;

    trial_print(trial, cell->name, "us/delivery", trial_cpu_us, cell->judged);
    trial_print(trial, cell->name, "us/delivery", trial_cpu_us,
                (struct trial_bound){other, 0});
}

static void show_latency(const struct trial *trial, const struct fanout *cell)
{
    trial_print(trial, cell->name, "us p50", trial_p50, cell->judged);
    trial_print(trial, cell->name, "us p99", trial_p99, cell->judged);
}

static void show_tls(const struct trial *trial, const struct fanout *cell)
{
    for (size_t side = 1; side < trial->sides; side++)
        trial_print(trial, cell->name, "us/delivery", trial_cpu_us,
                    (struct trial_bound){side, 0});
}

/* Of these, those whose programs are there. */
static void choose_sides(struct trial *trial, const enum trial_server *all, size_t count)
{
    trial->sides = 0;
    for (size_t i = 0; i < count; i++)
        if (trial_has(all[i]))
            trial->which[trial->sides++] = all[i];
}

static void run_cells(const struct crowd_plan *plan, bool tls, const struct fanout *cells,
                      size_t count)
{
    static const enum trial_server plain[] = {ROUTER, COALESCING, NAIVE},
                                   secure[] = {SECURE, ROUTER, BUN, NCHAN};
    static struct trial trial;
    bool is_open = false;

    for (size_t i = 0; i < count; i++) {
        struct crowd_load load = cells[i].load;

        if (!cell_is_wanted(cells[i].name))
            continue;
        if (!is_open) {
            if (tls)
                choose_sides(&trial, secure, sizeof secure / sizeof *secure);
            else
                choose_sides(&trial, plain, sizeof plain / sizeof *plain);
            trial_open(&trial, plan);
        }
        is_open = true;
        load.seconds = load.per_second > 0 ? 4 * trial_setup.seconds : trial_setup.seconds;
        trial_run(&trial, &load);
        (tls ? show_tls : load.per_second > 0 ? show_latency : show)(&trial, &cells[i]);
    }
    if (is_open)
        trial_close(&trial);
}

void cells_fanout(void)
{
    static const struct fanout hundred[] = {
        {"f100-256", {.bytes = 256, .window = 32}, {COALESCING, 1.15}},
        {"f100-4k", {.bytes = 4096, .window = 16}, {COALESCING, 1.15}},
        {"f100-64k", {.bytes = 65536, .window = 2}, {COALESCING, 1.15}},
        {"s100-256", {.bytes = 256, .window = 1}, {NAIVE, 1.15}},
        {"lat100", {.bytes = 256, .window = 1, .per_second = 100}, {NAIVE, 1.2}},
    };
    static const struct fanout thousand[] = {
        {"f1000-256", {.bytes = 256, .window = 32}, {COALESCING, 1.15}},
        {"f1000-4k", {.bytes = 4096, .window = 16}, {COALESCING, 1.15}},
        {"f1000-64k", {.bytes = 65536, .window = 2}, {COALESCING, 1.15}},
    };

    run_cells(&(struct crowd_plan){"fan", 1, 1, 100, false, false, NULL}, false, hundred,
              sizeof hundred / sizeof *hundred);
    run_cells(&(struct crowd_plan){"fan", 1, 1, 1000, false, false, NULL}, false, thousand,
              sizeof thousand / sizeof *thousand);
}

void cells_tls(void)
{
    static const struct fanout hundred[] = {
        {.name = "tls100-256", .load = {.bytes = 256, .window = 32}},
        {.name = "tls100-4k", .load = {.bytes = 4096, .window = 16}},
    };
    static const struct fanout thousand[] = {
        {.name = "tls1000-256", .load = {.bytes = 256, .window = 32}},
        {.name = "tls1000-4k", .load = {.bytes = 4096, .window = 16}},
    };

    if (!trial_has(SECURE))
        return;
    run_cells(&(struct crowd_plan){"fan", 1, 1, 100, false, false, NULL}, true, hundred, 2);
    run_cells(&(struct crowd_plan){"fan", 1, 1, 1000, false, false, NULL}, true, thousand, 2);
}

void cells_pairs(void)
{
    static const struct fanout pairs[] = {
        {"p2p100", {.bytes = 256, .window = 1}, {COALESCING, 1.2}},
    };

    run_cells(&(struct crowd_plan){"pair", 100, 1, 1, false, false, NULL}, false, pairs, 1);
}

/*
 * Ten publishers, so that a turn brings a directed reader about as many messages as one
 * publisher brings a reader of everything: otherwise the row would compare sizes of batches.
 */
void cells_directed(void)
{
    static struct trial trial;
    struct crowd_plan directed = {"crowd", 1, 10, 1000, true, true, NULL};
    struct crowd_plan all = {"crowd", 1, 1, 1000, true, false, NULL};
    struct crowd_load load = {.bytes = 1280, .window = 16, .seconds = trial_setup.seconds};
    struct measure_row row = {"directed", 0, "us/delivery", "all mode", 0, 0, 1.5, false};

    if (!cell_is_wanted("directed"))
        return;
    trial.sides = 2;
    trial_start(ROUTER, "0", &trial.servers[0]);
    trial_start(ROUTER, "0", &trial.servers[1]);
    trial.crowds[0] = crowd_open(&trial.servers[0], &directed);
    trial.crowds[1] = crowd_open(&trial.servers[1], &all);
    trial_run(&trial, &load);
    row.value = trial_median(&trial, 0, trial_cpu_us);
    row.base = trial_median(&trial, 1, trial_cpu_us);
    row.ratio = trial_ratio(&trial, 0, 1, trial_cpu_us);
    measure_print(&row);
    trial_close(&trial);
}
