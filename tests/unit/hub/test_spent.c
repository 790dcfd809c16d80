/*
 * What breaks for whom: whoever relies on an id: somebody pushes it out of history and says
 * something else under it; or a flood makes the router forget whose ids it has seen. Protocol:
 * section 5.
 */
#include "router/hub/log/log.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct log_bounds window = {.count = 4, .bytes = 1000000};

static struct mcpx_slice name_id(char id[32], const char *sender, int number)
{
    return (struct mcpx_slice){id, (size_t)snprintf(id, 32, "%s %d", sender, number)};
}

static void says(struct log *log, const char *sender, int from, int to)
{
    char id[32];

    for (int i = from; i <= to; i++) {
        struct log_message message = {.piece_count = 1, .pieces = {MCPX_SLICE("{}")}};

        message.id = name_id(id, sender, i);
        message.kind = MCPX_SLICE("chat");
        message.sender = log_sender(log, mcpx_slice_of(sender));
        cr_assert_eq(log_append(log, &message), MCPX_OK);
    }
}

static bool knows(const struct log *log, const char *sender, int number)
{
    char id[32];

    return log_knows(log, name_id(id, sender, number));
}

static bool finds(const struct log *log, const char *sender, int number)
{
    uint64_t serial;
    char id[32];

    return log_find(log, name_id(id, sender, number), &serial);
}

static void begin(struct log *log)
{
    log_init(log, (struct mx_map_key){{5, 6}}, &window);
}

Test(spent, an_id_that_left_history_is_taken_but_no_longer_found)
{
    struct log log;

    begin(&log);
    says(&log, "a", 1, 5);
    cr_expect(knows(&log, "a", 5) && finds(&log, "a", 5));
    cr_expect(knows(&log, "a", 1));
    cr_expect_not(finds(&log, "a", 1));
    cr_expect_not(knows(&log, "a", 6));
    log_fini(&log);
}

Test(spent, each_sender_has_a_share_of_its_own)
{
    struct log log;

    begin(&log);
    says(&log, "a", 1, 1);
    says(&log, "b", 1, 3000);
    cr_expect(knows(&log, "a", 1), "forgotten by the flood of another");
    /* four of them are retained, and the last 256 before that are spent */
    for (int i = 1; i <= 3000; i++)
        cr_expect_eq(knows(&log, "b", i), i > 3000 - 4 - SPENT_IDS_MAX, "b %d", i);
    cr_expect_eq(log.ids.count, 4 + SPENT_IDS_MAX + 1);
    log_fini(&log);
}

Test(spent, takes_bounded_memory_however_many_speak)
{
    char sender[32];
    struct log log;
    size_t full;

    begin(&log);
    for (int i = 0; i < SPENT_SENDERS_MAX; i++) {
        snprintf(sender, sizeof sender, "s%d", i);
        says(&log, sender, 1, 10);
    }
    full = log_index_bytes(&log);
    cr_expect_gt(log.spent.bytes, 10 * SPENT_SENDERS_MAX * sizeof(uint64_t));
    for (int i = 0; i < 500; i++) {
        snprintf(sender, sizeof sender, "t%d", i);
        says(&log, sender, 1, 10);
    }
    cr_expect_eq(log.spent.senders.count, SPENT_SENDERS_MAX);
    cr_expect_leq(log_index_bytes(&log), full);
    cr_expect(knows(&log, "t0", 1) && knows(&log, "s1023", 1));
    cr_expect_not(knows(&log, "s0", 1)); /* silent for longest */
    log_fini(&log);
}

Test(spent, a_share_that_was_forgotten_begins_anew)
{
    struct log log;

    log_init(&log, (struct mx_map_key){{5, 6}},
             &(struct log_bounds){.count = 100, .bytes = 100000});
    says(&log, "a", 1, 100);
    cr_expect(spent_forget(&log.spent, &log.ids));
    cr_expect_eq(log.spent.bytes, 0);
    cr_expect_not(spent_forget(&log.spent, &log.ids));
    says(&log, "a", 101, 1000); /* its share is smaller than what of it is retained */
    cr_expect(knows(&log, "a", 1000) && knows(&log, "a", 1000 - 100 - SPENT_IDS_MAX + 1));
    cr_expect_not(knows(&log, "a", 1000 - 100 - SPENT_IDS_MAX));
    while (spent_forget(&log.spent, &log.ids))
        ;
    cr_expect_eq(log.ids.count, 100, "only what is retained");
    log_fini(&log);
}
