/*
 * test_sqlite.c - what was stored is read again byte for byte, over restarts, as long as topics
 * keep it.
 */
#include "tests/unit/store/keeper.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

TestSuite(sqlite, .init = keeper_begin, .fini = keeper_end);

Test(sqlite, what_was_stored_is_there_after_a_restart)
{
    for (int full = 1; full >= 0; full--) {
        keeper.config.full = full;
        for (int round = 0; round < 3; round++) {
            keeper_start();
            keeper_says("a", round ? "{\"a\":2}" : "{\"a\":1}");
            keeper_says("b", "{\"b\":1}");
            keeper_close(&keeper);
        }
    }
    keeper_start();
    keeper_expect("a", "{\"a\":1} {\"a\":2} {\"a\":2} {\"a\":1} {\"a\":2} {\"a\":2}", "a");
    keeper_expect("b", "{\"b\":1} {\"b\":1} {\"b\":1} {\"b\":1} {\"b\":1} {\"b\":1}", "b");
}

Test(sqlite, a_topic_that_nobody_used_is_not_known)
{
    struct stored_topic_load *load;

    keeper_start();
    load = keeper_load(&keeper, "nowhere");
    cr_expect_eq(load->rejection.err, MCPX_OK);
    cr_expect_not(load->is_known);
    cr_expect_eq(load->count, 0);
}

Test(sqlite, a_topic_is_told_with_its_epoch_and_the_serial_of_its_first_entry)
{
    struct stored_topic_load *load;
    struct submission message;

    keeper.config.history_count = 4;
    keeper_start();
    message = keeper_message(&keeper, "a", "one");
    keeper_put(&keeper, &message, 1);
    for (int i = 0; i < 5; i++)
        keeper_says("a", "more");
    load = keeper_load(&keeper, "a");
    cr_expect(load->is_known);
    cr_expect(mcpx_slice_equal(load->topic.epoch, message.epoch));
    cr_expect_eq(load->topic.first, 3, "%llu", (unsigned long long)load->topic.first);
    cr_expect_eq(load->count, 4);
}

Test(sqlite, times_and_bytes_come_back_as_they_were)
{
    static const char odd[] = "\"\x01\xff\xc3\xa9' \\ %";
    struct submission messages[2];
    struct stored_topic_load *load;
    size_t len = 3 << 20;
    char *large = malloc(len);

    memset(large, 'x', len);
    keeper_start();
    messages[0] = keeper_message(&keeper, "b\xc3\xa4r/1", odd);
    messages[0].wall_ms += 5;
    messages[1] = keeper_message(&keeper, "b\xc3\xa4r/1", "");
    messages[1].text = (struct mcpx_slice){large, len};
    keeper_put(&keeper, messages, 2);
    load = keeper_load(&keeper, "b\xc3\xa4r/1");
    cr_assert_eq(load->count, 2);
    cr_expect(mcpx_slice_equal(load->envelopes[0].text, messages[0].text));
    cr_expect(mcpx_slice_equal(load->envelopes[1].text, messages[1].text));
    cr_expect_eq(load->envelopes[0].wall_ms, messages[0].wall_ms);
    free(large);
}

Test(sqlite, a_batch_of_many_topics_keeps_the_order_of_each)
{
    enum { COUNT = 3000, TOPICS = 50 };
    struct submission *messages = calloc(COUNT, sizeof *messages);
    char(*texts)[16] = calloc(COUNT, sizeof *texts);
    char(*topics)[16] = calloc(TOPICS, sizeof *topics);

    keeper_start();
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "%d", i);
        (void)snprintf(topics[i % TOPICS], sizeof topics[0], "t%d", i % TOPICS);
        messages[i] = keeper_message(&keeper, topics[i % TOPICS], texts[i]);
    }
    keeper_put(&keeper, messages, COUNT);
    for (int i = 0; i < COUNT; i++)
        cr_expect_eq(messages[i].rejection.err, MCPX_OK);
    for (int topic = 0; topic < TOPICS; topic++) {
        struct stored_topic_load *load = keeper_load(&keeper, topics[topic]);

        cr_assert_eq(load->count, COUNT / TOPICS);
        for (int i = 0; i < COUNT / TOPICS; i++)
            cr_expect(mcpx_slice_equal(load->envelopes[i].text,
                                       mcpx_slice_of(texts[topic + i * TOPICS])));
    }
    cr_expect_eq(keeper.report.sizes.sum, COUNT, "the report counts messages");
    free(messages);
    free(texts);
    free(topics);
}

Test(sqlite, presence_is_answered_in_order_and_not_stored)
{
    struct submission row[4];

    keeper_start();
    row[0] = keeper_message(&keeper, "a", "");
    row[0].what = SUBMIT_JOIN;
    row[1] = keeper_message(&keeper, "a", "hello");
    row[2] = keeper_message(&keeper, "a", "");
    row[2].what = SUBMIT_UPDATE;
    row[3] = keeper_message(&keeper, "a", "");
    row[3].what = SUBMIT_LEAVE;
    keeper_put(&keeper, row, 4);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(row[i].rejection.err, MCPX_OK);
    keeper_expect("a", "hello", "a");
    cr_expect_eq(keeper_ask(&keeper, "SELECT count(*) FROM entry"), 1);
}

Test(sqlite, an_opening_sees_all_that_was_handed_over_before_it)
{
    enum { ROUNDS = 200 };

    keeper_start();
    for (int round = 0; round < ROUNDS; round++) {
        struct submission message = keeper_message(&keeper, "a", "x");
        struct task task = {TASK_OPEN, ++keeper.ticket, MCPX_SLICE("a"), NULL};
        struct link list;
        struct link loads;
        struct stored_topic_load *load;

        list_init(&list);
        list_init(&loads);
        list_init(&message.link);
        list_append(&list, &message.link);
        work_queue_put(sqlite_queue(keeper.sqlite), &list, 1);
        cr_assert_eq(sqlite_pass(keeper.sqlite, &task), MCPX_OK);
        while (list_is_empty(&loads))
            sqlite_loads(keeper.sqlite, &loads);
        load = LIST_ELEMENT(LIST_ELEMENT(loads.next, struct kept_item, link),
                            struct stored_topic_load, kept);
        cr_assert_eq(load->count, (size_t)round + 1);
        while (list_is_empty(&list))
            work_queue_answers(sqlite_queue(keeper.sqlite), &list, &keeper.report);
    }
}

Test(sqlite, a_topic_keeps_its_newest_entries)
{
    static const struct {
        const char *name;
        size_t count, bytes;
        int stored;
        long long least, most;
    } rows[] = {
        {"by count", 100, 0, 1000, 100, 125},
        {"by bytes", 0, 1000, 1000, 100, 125},
        {"the bound that is tighter holds", 50, 1000, 1000, 50, 62},
        {"without bounds all stays", 0, 0, 1000, 1000, 1000},
        {"within the bounds all stays", 1000, 10000, 900, 900, 900},
        {"the newest stays, however large it is", 10, 5, 20, 1, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char topic[16];
        char question[256];
        long long left;

        (void)snprintf(topic, sizeof topic, "t%zu", i);
        keeper.config.history_count = rows[i].count;
        keeper.config.history_bytes = rows[i].bytes;
        keeper_start();
        for (int n = 0; n < rows[i].stored; n += 20) {
            struct submission messages[20];

            for (int m = 0; m < 20; m++)
                messages[m] = keeper_message(&keeper, topic, "ten bytes.");
            keeper_put(&keeper, messages, 20);
        }
        keeper_close(&keeper);
        (void)snprintf(question, sizeof question,
                       "SELECT count(*) FROM entry JOIN topic USING (topic) WHERE name = "
                       "CAST('%s' AS BLOB)",
                       topic);
        left = keeper_ask(&keeper, question);
        cr_expect(left >= rows[i].least && left <= rows[i].most, "%s: %lld", rows[i].name,
                  left);
        (void)snprintf(question, sizeof question,
                       "SELECT last_serial = %d AND last_serial - first_serial + 1 = %lld AND "
                       "bytes = 10 * %lld FROM topic WHERE name = CAST('%s' AS BLOB)",
                       rows[i].stored, left, left, topic);
        cr_expect_eq(keeper_ask(&keeper, question), 1, "%s: its row agrees", rows[i].name);
    }
}
