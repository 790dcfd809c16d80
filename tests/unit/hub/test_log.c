/*
 * What breaks for whom: late joiners who see too much or too little of the past, duplicate ids,
 * readers handed the wrong bytes. Protocol: section 5 (bounds, order), section 4 (the index).
 */
#include "router/hub/log/log.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* The log of the test that runs. */
static struct log tested;

static void begin(struct log_bounds bounds)
{
    log_init(&tested, (struct mx_map_key){{3, 4}}, &bounds);
}

static void end(void)
{
    log_fini(&tested);
}

TestSuite(log, .fini = end);

/* Appends an envelope with id "e<n>" and a text of `len` bytes that begins with its id. */
static void put(int number, size_t len, int64_t mono_ms)
{
    char id[16], *text = malloc(len);
    struct log_message message = {.piece_count = 2, .mono_ms = mono_ms};

    memset(text, '.', len);
    message.id.len = (size_t)snprintf(id, sizeof id, "e%d", number);
    memcpy(text, id, message.id.len);
    message.id.text = id;
    message.kind = MCPX_SLICE("chat");
    message.pieces[0] = (struct mcpx_slice){text, 1};
    message.pieces[1] = (struct mcpx_slice){text + 1, len - 1};
    cr_assert_eq(log_append(&tested, &message), MCPX_OK);
    free(text);
}

static bool finds(int number)
{
    char id[16];
    uint64_t serial;

    snprintf(id, sizeof id, "e%d", number);
    return log_find(&tested, mcpx_slice_of(id), &serial) &&
           mcpx_slice_equal(entry_id(log_entry(&tested, serial)), mcpx_slice_of(id));
}

Test(log, retains_so_many_envelopes)
{
    begin((struct log_bounds){.count = 3, .bytes = 100000});
    for (int i = 0; i < 10; i++)
        put(i, 20, 0);
    cr_expect_eq(tested.head - tested.history, 3);
    for (int i = 0; i < 10; i++)
        cr_expect_eq(finds(i), i >= 7, "e%d", i);
}

Test(log, retains_so_many_bytes_of_frames_and_notes)
{
    begin((struct log_bounds){.bytes = 336});
    for (int i = 0; i < 10; i++)
        put(i, 98, 0); /* 100 bytes of frame, 12 of note */
    cr_expect_eq(tested.retained_bytes, 336);
    cr_expect(finds(7) && !finds(6));
    put(10, 400, 0); /* larger than the window: delivered, never retained */
    cr_expect_eq(tested.retained_bytes, 0);
    cr_expect_eq(tested.history, tested.head);
    cr_expect_not(finds(10));
}

/* What was loaded may bear times of a clock that was wrong. */
Test(log, lets_nothing_be_younger_than_what_follows_it)
{
    begin((struct log_bounds){.bytes = 100000, .age_ms = 100});
    put(0, 20, 1200);
    put(1, 20, 1100);
    put(2, 20, 1150);
    put(3, 20, 1200);
    log_order_times(&tested);
    log_forget_old(&tested, 1201);
    cr_expect(!finds(0) && !finds(1) && finds(2));
    log_forget_old(&tested, 1251);
    cr_expect(!finds(2) && finds(3));
}

Test(log, forgets_what_is_older_than_its_age)
{
    begin((struct log_bounds){.bytes = 100000, .age_ms = 100});
    put(0, 20, 1000);
    put(1, 20, 1050);
    put(2, 20, 1100);
    cr_expect(finds(0), "exactly as old as allowed");
    put(3, 20, 1101);
    cr_expect(!finds(0) && finds(1));
    log_forget_old(&tested, 1150);
    cr_expect(finds(1));
    log_forget_old(&tested, 5000);
    cr_expect_eq(tested.history, tested.head);
    cr_expect_not(finds(3));
}

Test(log, finds_by_id_what_is_retained_and_leaves_the_rest_alone)
{
    uint64_t serial = 99;

    begin((struct log_bounds){.bytes = 100000});
    cr_expect_not(log_find(&tested, MCPX_SLICE("e0"), &serial));
    put(0, 20, 0);
    put(1, 20, 0);
    cr_expect_not(log_find(&tested, MCPX_SLICE("e"), &serial));
    cr_expect_not(log_find(&tested, MCPX_SLICE("e00"), &serial));
    cr_expect_eq(serial, 99);
    cr_expect(log_find(&tested, MCPX_SLICE("e1"), &serial));
    cr_expect_eq(serial, 1);
}

Test(log, knows_id_kind_text_and_addressees_of_an_entry)
{
    static const struct mcpx_slice to[] = {{"ann", 3}, {"bob", 3}};
    struct log_message message = {.piece_count = 3, .to = to, .to_count = 2, .mono_ms = 5};
    const struct entry *entry;

    message.pieces[0] = MCPX_SLICE("{");
    message.pieces[1] = MCPX_SLICE("");
    message.pieces[2] = MCPX_SLICE("}");
    message.id = MCPX_SLICE("i");
    message.kind = MCPX_SLICE("a/b:c:d");
    begin((struct log_bounds){.bytes = 100000});
    cr_assert_eq(log_append(&tested, &message), MCPX_OK);
    entry = log_entry(&tested, 0);
    cr_expect(mcpx_slice_equal(entry_text(entry), MCPX_SLICE("{}")));
    cr_expect(mcpx_slice_equal(entry_id(entry), MCPX_SLICE("i")));
    cr_expect(mcpx_slice_equal(entry_kind(entry), MCPX_SLICE("a/b:c:d")));
    cr_expect(entry_is_for(entry, to[0]) && entry_is_for(entry, to[1]));
    cr_expect_not(entry_is_for(entry, MCPX_SLICE("an")));
    cr_expect_not(entry_is_for(entry, MCPX_SLICE("")));
    put(1, 20, 0);
    cr_expect(entry_is_for(log_entry(&tested, 1), MCPX_SLICE("anybody")));
}

/* ---- runs ---- */

/* Walks the log run by run and checks that every frame comes once, in order. */
static void walk(uint64_t from)
{
    for (uint64_t serial = from; serial < tested.head;) {
        struct log_run run = log_run_from(&tested, serial, tested.head);
        size_t len = 0;

        cr_assert_gt(run.next, serial);
        cr_expect(run.len <= LOG_RUN_MAX || run.next == serial + 1, "a run of %zu", run.len);
        for (; serial < run.next; serial++) {
            const struct entry *entry = log_entry(&tested, serial);

            cr_expect_eq(
                memcmp(run.bytes + len, entry->segment->bytes + entry->offset, entry->len), 0);
            len += entry->len;
        }
        cr_expect_eq(len, run.len);
    }
}

Test(log, hands_out_whole_frames_in_contiguous_runs)
{
    static const size_t lens[] = {1, 125, 126, 1000, 65535, 65536, 300000, 5, 60000, 6000};
    struct log_run run;

    begin((struct log_bounds){.bytes = 10000000, .backlog_bytes = 10000000});
    for (int i = 0; i < 200; i++)
        put(i, 4 + lens[i % 10], 0);
    walk(0);
    walk(77);
    run = log_run_from(&tested, 7, 8);
    cr_expect_eq(run.next, 8, "no further than asked");
    run = log_run_from(&tested, 6, tested.head);
    cr_expect_eq(run.next, 7, "one large frame is a run of its own");
}

/* ---- readers ---- */

static struct log_bounds tight(void)
{
    return (struct log_bounds){.bytes = 8192, .backlog_bytes = 16384};
}

Test(log, keeps_memory_as_long_as_somebody_reads_it)
{
    struct log_bounds bounds = tight();
    struct reader reader;

    bounds.backlog_bytes = 0;
    begin(bounds);
    log_reader_init(&reader);
    log_reader_place(&tested, &reader, 0); /* before there is any memory */
    for (int i = 0; i < 100; i++) {
        put(i, 1000, 0);
        cr_expect_not(log_drop(&tested), "%d", i);
    }
    cr_expect_eq(tested.tail, 0);
    cr_expect_null(log_overdue(&tested), "no bound, nobody is overdue");
    walk(0);
    log_reader_place(&tested, &reader, 50);
    while (log_drop(&tested))
        ;
    cr_expect(tested.tail > 0 && tested.tail <= 50, "tail is %d", (int)tested.tail);
    walk(50);
    log_reader_release(&reader);
    while (log_drop(&tested))
        ;
    cr_expect(tested.tail <= tested.history && tested.tail > 50);
    cr_expect_lt(tested.memory, 3 * 8192);
    walk(tested.history);
}

Test(log, names_the_readers_that_are_overdue_and_nobody_who_only_waits)
{
    struct reader slow, waiting;
    struct link *overdue;

    begin(tight());
    log_reader_init(&slow);
    log_reader_init(&waiting);
    put(0, 1000, 0);
    log_reader_place(&tested, &slow, 0);
    log_reader_place(&tested, &waiting, 1);
    cr_expect_null(log_overdue(&tested));
    put(1, 50000, 0); /* more than the backlog at once, in a segment of its own */
    overdue = log_overdue(&tested);
    cr_assert(overdue);
    cr_expect_eq(overdue->next, &slow.link);
    cr_expect_eq(slow.link.next, overdue, "nobody else");
    cr_expect_eq(waiting.home, log_entry(&tested, 1)->segment);
    log_reader_release(&slow);
    cr_expect(log_drop(&tested));
    cr_expect_eq(tested.tail, 1);
    walk(1);
    log_reader_release(&waiting);
}

Test(log, does_not_take_free_room_for_backlog)
{
    struct reader reader;

    begin((struct log_bounds){.bytes = 1, .backlog_bytes = 4096});
    log_reader_init(&reader);
    put(0, 4000, 0);
    log_reader_place(&tested, &reader, 0);
    put(1, 100, 0); /* the first of a new, nearly empty segment */
    cr_expect_null(log_overdue(&tested));
    log_reader_release(&reader);
}

Test(log, holds_no_more_memory_than_its_bounds_and_a_few_segments)
{
    size_t most = 0;

    begin(tight());
    for (int i = 0; i < 5000; i++) {
        put(i, 20 + (size_t)(i * 37 % 900), 0);
        while (log_drop(&tested))
            ;
        most = tested.memory > most ? tested.memory : most;
    }
    cr_expect_lt(most, 2 * 8192 + 3 * 4096, "held %zu", most);
    cr_expect_leq(tested.ring_size, 256, "a ring of %zu", tested.ring_size);
}
