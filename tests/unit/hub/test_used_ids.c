/*
 * What breaks for whom: whoever relies on an id: somebody pushes it out of history and says
 * something else under it; or a flood makes the router forget whose ids it has seen. Protocol:
 * section 5.
 */
#include "router/hub/log/log.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* The log of the test that runs. */
static struct log tested;

static const struct log_bounds window = {.count = 4, .bytes = 1000000};

static struct mcpx_slice name_id(char id[32], const char *sender, int number)
{
    return (struct mcpx_slice){id, (size_t)snprintf(id, 32, "%s %d", sender, number)};
}

static void says(const char *sender, int from, int to)
{
    char id[32];

    for (int i = from; i <= to; i++) {
        struct log_message message = {.piece_count = 1, .pieces = {MCPX_SLICE("{}")}};

        message.id = name_id(id, sender, i);
        message.kind = MCPX_SLICE("chat");
        message.sender = log_sender(&tested, mcpx_slice_of(sender));
        cr_assert_eq(log_append(&tested, &message), MCPX_OK);
    }
}

static bool knows(const char *sender, int number)
{
    char id[32];

    return log_knows(&tested, name_id(id, sender, number));
}

static bool finds(const char *sender, int number)
{
    uint64_t serial;
    char id[32];

    return log_find(&tested, name_id(id, sender, number), &serial);
}

static void begin(void)
{
    log_init(&tested, (struct mx_map_key){{5, 6}}, &window);
}

static void end(void)
{
    log_fini(&tested);
}

TestSuite(used_ids, .init = begin, .fini = end);

Test(used_ids, an_id_that_left_history_is_taken_but_no_longer_found)
{
    says("a", 1, 5);
    cr_expect(knows("a", 5) && finds("a", 5));
    cr_expect(knows("a", 1));
    cr_expect_not(finds("a", 1));
    cr_expect_not(knows("a", 6));
}

Test(used_ids, each_sender_has_a_share_of_its_own)
{
    says("a", 1, 1);
    says("b", 1, 3000);
    cr_expect(knows("a", 1), "forgotten by the flood of another");
    /* four of them are retained, and the last 256 before that are spent */
    for (int i = 1; i <= 3000; i++)
        cr_expect_eq(knows("b", i), i > 3000 - 4 - USED_IDS_MAX, "b %d", i);
    cr_expect_eq(tested.ids.count, 4 + USED_IDS_MAX + 1);
}

Test(used_ids, takes_bounded_memory_however_many_speak)
{
    char sender[32];
    size_t full;

    for (int i = 0; i < USED_SENDERS_MAX; i++) {
        snprintf(sender, sizeof sender, "s%d", i);
        says(sender, 1, 10);
    }
    full = log_index_bytes(&tested);
    cr_expect_gt(tested.used_ids.bytes, 10 * USED_SENDERS_MAX * sizeof(uint64_t));
    for (int i = 0; i < 500; i++) {
        snprintf(sender, sizeof sender, "t%d", i);
        says(sender, 1, 10);
    }
    cr_expect_eq(tested.used_ids.senders.count, USED_SENDERS_MAX);
    cr_expect_leq(log_index_bytes(&tested), full);
    cr_expect(knows("t0", 1) && knows("s1023", 1));
    cr_expect_not(knows("s0", 1)); /* silent for longest */
}

Test(used_ids, a_share_that_was_forgotten_begins_anew)
{
    tested.bounds = (struct log_bounds){.count = 100, .bytes = 100000};
    says("a", 1, 100);
    cr_expect(used_ids_forget(&tested.used_ids, &tested.ids));
    cr_expect_eq(tested.used_ids.bytes, 0);
    cr_expect_not(used_ids_forget(&tested.used_ids, &tested.ids));
    says("a", 101, 1000); /* its share is smaller than what of it is retained */
    cr_expect(knows("a", 1000) && knows("a", 1000 - 100 - USED_IDS_MAX + 1));
    cr_expect_not(knows("a", 1000 - 100 - USED_IDS_MAX));
    while (used_ids_forget(&tested.used_ids, &tested.ids))
        ;
    cr_expect_eq(tested.ids.count, 100, "only what is retained");
}
