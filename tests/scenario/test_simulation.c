/*
 * What breaks for whom: everything protocol section 5 promises to a reader (one order, no gap, no
 * duplicate, no silent loss) under any interleaving of joins, messages, slow readers, lost
 * connections, expiries and failing allocations. Behind a store also: whatever anybody received is
 * there after any crash, in the same order; a message is stored or its sender is told, never both;
 * who comes back goes on, however slow or broken the store. A failing seed prints how to replay it.
 */
#include "tests/support/sim.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

/* One run if the environment names its seed, else many: true when there were enough of them. */
static bool simulate(const char *prefix, bool needs_commit, uint64_t seeds, size_t steps,
                     struct sim_tally *tally)
{
    char seed_name[32], seeds_name[32], steps_name[32], name[100];
    uint64_t seed, count;
    size_t length;

    snprintf(seed_name, sizeof seed_name, "%sSEED", prefix);
    snprintf(seeds_name, sizeof seeds_name, "%sSEEDS", prefix);
    snprintf(steps_name, sizeof steps_name, "%sSTEPS", prefix);
    seed = dice_number_of(seed_name, 0);
    count = seed ? 1 : dice_number_of(seeds_name, seeds);
    length = (size_t)dice_number_of(steps_name, steps);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t each = seed ? seed : i + 1;

        snprintf(name, sizeof name, "%s=%" PRIu64 " %s=%zu", seed_name, each, steps_name,
                 length);
        sim_run(dice_of_seed(each), name, needs_commit, length, tally);
    }
    return count >= seeds / 3 && length >= steps / 2;
}

/* What a run came by; true when it came by all of it. */
struct figure {
    const char *name;
    uint64_t count;
};

static void check(const struct figure *figures, size_t count, bool is_enough)
{
    for (size_t i = 0; i < count; i++) {
        printf("%s%" PRIu64 " %s", i ? ", " : "", figures[i].count, figures[i].name);
        cr_expect(figures[i].count || !is_enough, "the simulation came by no %s",
                  figures[i].name);
    }
    printf("\n");
}

#define CHECK(is_enough, ...)                                                                 \
    check((const struct figure[]){__VA_ARGS__},                                               \
          sizeof((const struct figure[]){__VA_ARGS__}) / sizeof(struct figure), is_enough)

Test(simulation, every_participant_gets_exactly_what_is_meant_for_it)
{
    struct sim_tally tally = {0};
    bool is_enough = simulate("MCPX_SIM_", false, 200, 2000, &tally);

    CHECK(is_enough, {"steps", tally.steps}, {"accepted", tally.accepted},
          {"refused", tally.refused}, {"live frames", tally.live}, {"pages", tally.pages},
          {"positions", tally.positions}, {"resumed", tally.resumed},
          {"shortened", tally.shortened}, {"slow", tally.slow}, {"takeovers", tally.takeovers},
          {"timeouts", tally.timeouts}, {"expired", tally.expired}, {"floods", tally.floods},
          {"vanished", tally.vanished}, {"failed allocations", tally.faults});
}

Test(simulation, whatever_anybody_received_is_there_and_goes_on)
{
    struct sim_tally tally = {0};
    bool is_enough = simulate("MCPX_", true, 3000, 600, &tally);

    CHECK(is_enough, {"steps", tally.steps}, {"accepted", tally.accepted},
          {"committed", tally.committed}, {"rejected", tally.rejected},
          {"unknown", tally.unknown}, {"beyond the limit", tally.limited},
          {"live frames", tally.live}, {"pages", tally.pages}, {"resumed", tally.resumed},
          {"takeovers", tally.takeovers}, {"slow", tally.slow}, {"waited", tally.waited},
          {"turned away", tally.turned_away}, {"joins of who was gone", tally.lone_joins},
          {"loads", tally.loads}, {"closings", tally.closings}, {"crashes", tally.crashes},
          {"losses", tally.losses}, {"lost topics", tally.lost}, {"settled", tally.settled},
          {"duplicates", tally.duplicates}, {"derived", tally.derived},
          {"regrants", tally.regrants});
}
