/*
 * Whose turn it is to be read. What breaks for whom: many are sent away at once, or strangers come
 * in a crowd, and everybody who is in a topic waits until the last of them is done with.
 */
#include "router/connection/turn.h"

#include "router/connection/edge.h"
#include "router/hub/topic/hub_state.h"
#include "router/process/process.h"

#include <criterion/criterion.h>

static struct tally tallies[2];
static struct peer ann = {.tally = &tallies[0]}, bob = {.tally = &tallies[1]};
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

/* So many nanoseconds have been spent on one who leaves, who was or was not a stranger. */
static void spend(const struct connection *connection, bool was_stranger, uint64_t ns)
{
    turn_spend_time(connection, was_stranger, clock_ns() - ns);
}

Test(turn, of_those_whom_nobody_in_the_hub_waits_for_is_a_millisecond)
{
    spend(&stranger, true, TURN_OTHERS_NS / 2 - 100000);
    spend(&anns, false, 10 * (uint64_t)TURN_OTHERS_NS);
    cr_expect(turn_permits(&stranger) && turn_permits(&bob_leaving), "half of it is left");
    spend(&anns, true, TURN_OTHERS_NS / 2 + 100000);
    cr_expect_not(turn_permits(&stranger));
    cr_expect_not(turn_permits(&bob_leaving), "who is sent away waits as strangers do");
    cr_expect(turn_permits(&bobs) && turn_permits(&anns), "who is in a topic does not");
    begin_turn();
    cr_expect(turn_permits(&stranger) && turn_permits(&bob_leaving));
}

Test(turn, is_a_participants_and_not_a_connections)
{
    turn_spend(&anns, TURN_SHARE - 1);
    cr_expect(turn_permits(&anns) && turn_permits(&anns_other));
    turn_spend(&anns_other, 1);
    cr_expect_not(turn_permits(&anns));
    cr_expect_not(turn_permits(&anns_other), "many connections are no more");
    cr_expect(turn_permits(&bobs));
    begin_turn();
    cr_expect(turn_permits(&anns) && turn_permits(&anns_other));
}

Test(turn, ends_for_nobody_when_no_more_can_be_kept_for_later)
{
    turn_spend(&anns, 2 * TURN_SHARE);
    spend(&stranger, true, 2 * (uint64_t)TURN_OTHERS_NS);
    edge.deferred = DEFERRED_MAX;
    anns_other.held = true;
    cr_expect(turn_permits(&anns) && turn_permits(&stranger));
    cr_expect_not(turn_permits(&anns_other), "who is held is not read at all");
}
