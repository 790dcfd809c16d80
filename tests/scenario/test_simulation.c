/*
 * What breaks for whom: everything protocol section 5 promises to a reader (one order, no gap, no
 * duplicate, no silent loss) under any interleaving of joins, messages, slow readers, lost
 * connections, expiries and failing allocations. A failing seed prints how to replay it.
 */
#include "tests/support/sim.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

static void simulate(uint64_t seed, size_t steps, struct sim_tally *tally)
{
    char name[64];

    snprintf(name, sizeof name, "MCPX_SIM_SEED=%" PRIu64 " MCPX_SIM_STEPS=%zu", seed, steps);
    sim_run(dice_of_seed(seed), name, steps, tally);
}

Test(simulation, every_participant_gets_exactly_what_is_meant_for_it)
{
    uint64_t seed = dice_number_of("MCPX_SIM_SEED", 0);
    uint64_t seeds = seed ? 1 : dice_number_of("MCPX_SIM_SEEDS", 200);
    size_t steps = (size_t)dice_number_of("MCPX_SIM_STEPS", 2000);
    struct sim_tally tally = {0};

    for (uint64_t i = 0; i < seeds; i++)
        simulate(seed ? seed : i + 1, steps, &tally);
    printf("%" PRIu64 " steps: %" PRIu64 " accepted, %" PRIu64 " refused, %" PRIu64
           " live frames, %" PRIu64 " pages, %" PRIu64 " resumed, %" PRIu64
           " shortened, %" PRIu64 " slow, %" PRIu64 " takeovers, %" PRIu64
           " timeouts, %" PRIu64 " expired, %" PRIu64 " floods, %" PRIu64 " vanished, %" PRIu64
           " failed allocations\n",
           tally.steps, tally.accepted, tally.refused, tally.live, tally.pages, tally.resumed,
           tally.shortened, tally.slow, tally.takeovers, tally.timeouts, tally.expired,
           tally.floods, tally.vanished, tally.faults);
    if (seeds < 100 || steps < 1000)
        return;
    cr_expect(tally.resumed && tally.positions && tally.pages && tally.slow &&
                  tally.takeovers && tally.timeouts && tally.expired && tally.floods &&
                  tally.vanished && tally.faults && tally.shortened,
              "the simulation does not come by everything it should");
}
