/*
 * Whose turn it is to be read. What breaks for whom: many are sent away at once, or strangers come
 * in a crowd, and everybody who is in a topic waits until the last of them is done with.
 */
#include "router/connection/loop_budget.h"

#include "router/connection/edge.h"
#include "router/hub/topic/hub_state.h"
#include "router/process/process.h"

#include <criterion/criterion.h>

static struct usage usages[2];
static struct peer ann = {.usage = &usages[0]}, bob = {.usage = &usages[1]};
static struct edge edge;
static struct connection anns = {.edge = &edge, .peer = &ann, .state = MEMBER};
static struct connection anns_other = {.edge = &edge, .peer = &ann, .state = MEMBER};
static struct connection bobs = {.edge = &edge, .peer = &bob, .state = MEMBER};
static struct connection bob_leaving = {.edge = &edge, .peer = &bob, .state = LEAVING};
static struct connection stranger = {.edge = &edge, .state = UNAUTHENTICATED};

static void begin_turn(void)
{
    edge.turn++;
    edge.others_ns = 0;
}

TestSuite(turn, .init = begin_turn);

/* So many nanoseconds have been spent on one who leaves, who had a peer or none. */
static void spend(const struct connection *connection, bool had_no_peer, uint64_t ns)
{
    loop_budget_spend_time(connection, had_no_peer, clock_ns() - ns);
}

Test(turn, of_those_whom_nobody_in_the_hub_waits_for_is_a_millisecond)
{
    spend(&stranger, true, LOOP_BUDGET_OTHERS_NS / 2 - 100000);
    spend(&anns, false, 10 * (uint64_t)LOOP_BUDGET_OTHERS_NS);
    cr_expect(loop_budget_permits(&stranger) && loop_budget_permits(&bob_leaving),
              "half of it is left");
    spend(&anns, true, LOOP_BUDGET_OTHERS_NS / 2 + 100000);
    cr_expect_not(loop_budget_permits(&stranger));
    cr_expect_not(loop_budget_permits(&bob_leaving), "who is sent away waits as strangers do");
    cr_expect(loop_budget_permits(&bobs) && loop_budget_permits(&anns),
              "who is in a topic does not");
    begin_turn();
    cr_expect(loop_budget_permits(&stranger) && loop_budget_permits(&bob_leaving));
}

Test(turn, is_a_participants_and_not_a_connections)
{
    loop_budget_spend(&anns, LOOP_BUDGET - 1);
    cr_expect(loop_budget_permits(&anns) && loop_budget_permits(&anns_other));
    loop_budget_spend(&anns_other, 1);
    cr_expect_not(loop_budget_permits(&anns));
    cr_expect_not(loop_budget_permits(&anns_other), "many connections are no more");
    cr_expect(loop_budget_permits(&bobs));
    begin_turn();
    cr_expect(loop_budget_permits(&anns) && loop_budget_permits(&anns_other));
}

Test(turn, ends_for_nobody_when_no_more_can_be_kept_for_later)
{
    loop_budget_spend(&anns, 2 * LOOP_BUDGET);
    spend(&stranger, true, 2 * (uint64_t)LOOP_BUDGET_OTHERS_NS);
    edge.deferred = DEFERRED_MAX;
    anns_other.held = true;
    cr_expect(loop_budget_permits(&anns) && loop_budget_permits(&stranger));
    cr_expect_not(loop_budget_permits(&anns_other), "who is held is not read at all");
}
