/*
 * What breaks for whom: an application that trusts its session: every request ends exactly once, in
 * a response to itself; nothing is told twice; nothing is lost while the router still has it, however
 * often and wherever a connection breaks. Protocol: section 5. A failing seed prints itself.
 */
#include "tests/support/table.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void run(bool forgetful, bool hurried, struct table_tally *tally)
{
    uint64_t seed = number_of("MCPX_TABLE_SEED", 0);
    uint64_t seeds = seed ? 1 : number_of("MCPX_TABLE_SEEDS", 60);

    for (uint64_t i = 0; i < seeds; i++) {
        struct table_plan plan = {
            .seed = seed ? seed : i + 1,
            .steps = (size_t)number_of("MCPX_TABLE_STEPS", 6000),
            .forgetful = forgetful,
            .hurried = hurried,
        };

        table_run(&plan, tally);
    }
    printf("%" PRIu64 " sent, %" PRIu64 " accepted, %" PRIu64 " told, %" PRIu64
           " responses (%" PRIu64 " to proposals), %" PRIu64 " expired, %" PRIu64
           " refused, %" PRIu64 " rejected, %" PRIu64 " breaks, %" PRIu64 " resumed, %" PRIu64
           " anew, %" PRIu64 " duplicates, %" PRIu64 " over the rate\n",
           tally->sent, tally->accepted, tally->told, tally->responses, tally->fulfilled,
           tally->expired, tally->refused, tally->rejected, tally->breaks, tally->resumed,
           tally->anew, tally->duplicates, tally->retries);
}

Test(back_to_back, nothing_is_lost_or_told_twice_across_reconnections)
{
    struct table_tally tally = {0};

    run(false, false, &tally);
    cr_expect(tally.responses && tally.fulfilled && tally.expired && tally.rejected &&
              tally.resumed);
    cr_expect_eq(tally.refused, 0);
}

Test(back_to_back, every_request_ends_once_even_when_the_router_forgets)
{
    struct table_tally tally = {0};

    run(true, false, &tally);
    cr_expect(tally.responses && tally.anew > tally.resumed / 10);
}

Test(back_to_back, a_router_in_no_hurry_is_obeyed)
{
    struct table_tally tally = {0};

    run(false, true, &tally);
    cr_expect(tally.refused && tally.retries);
    cr_expect_eq(tally.thrown_out, 0); /* for its haste */
}
