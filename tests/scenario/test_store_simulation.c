/*
 * What breaks for whom: whatever anybody received is there after any crash, in the same order; a
 * message is stored or its sender is told, never both; who comes back goes on without gap and
 * repetition, however slow or broken the store. A failing seed prints how to replay it.
 */
#include "tests/support/gated.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

static void simulate(uint64_t seed, size_t steps, struct gated_tally *tally)
{
    char name[64];

    snprintf(name, sizeof name, "MCPX_SEED=%" PRIu64 " MCPX_STEPS=%zu", seed, steps);
    gated_run(dice_of_seed(seed), name, steps, tally);
}

static void print(const struct gated_tally *tally)
{
    printf("%" PRIu64 " steps: %" PRIu64 " accepted, %" PRIu64 " committed, %" PRIu64
           " refused, %" PRIu64 " unknown, %" PRIu64 " beyond the limit, %" PRIu64
           " duplicates, %" PRIu64 " derived; %" PRIu64 " read live, %" PRIu64
           " pages, %" PRIu64 " resumed, %" PRIu64 " anew, %" PRIu64 " takeovers, %" PRIu64
           " slow, %" PRIu64 " waited, %" PRIu64 " turned away; %" PRIu64 " openings, %" PRIu64
           " closings, %" PRIu64 " crashes, %" PRIu64 " losses, %" PRIu64
           " lost topics, %" PRIu64 " regrants, %" PRIu64 " settled\n",
           tally->steps, tally->accepted, tally->committed, tally->refused, tally->unknown,
           tally->limited, tally->duplicates, tally->derived, tally->read, tally->pages,
           tally->resumed, tally->anew, tally->takeovers, tally->slow, tally->waited,
           tally->turned_away, tally->openings, tally->closings, tally->crashes, tally->losses,
           tally->lost, tally->regrants, tally->settled);
}

Test(store_simulation, whatever_anybody_received_is_there_and_goes_on)
{
    uint64_t seed = dice_number_of("MCPX_SEED", 0);
    uint64_t seeds = seed ? 1 : dice_number_of("MCPX_SEEDS", 3000);
    size_t steps = (size_t)dice_number_of("MCPX_STEPS", 600);
    struct gated_tally tally = {0};

    for (uint64_t i = 0; i < seeds; i++)
        simulate(seed ? seed : i + 1, steps, &tally);
    print(&tally);
    if (seeds < 1000 || steps < 600)
        return;
    cr_expect(tally.committed && tally.refused && tally.unknown && tally.limited &&
                  tally.duplicates && tally.derived && tally.pages && tally.resumed &&
                  tally.takeovers && tally.slow && tally.waited && tally.turned_away &&
                  tally.closings && tally.crashes && tally.losses && tally.lost &&
                  tally.regrants,
              "the simulation does not come by everything it should");
}
