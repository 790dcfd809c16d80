/*
 * What breaks for whom: late joiners who see too much or too little of the past, duplicate ids,
 * readers handed the wrong bytes. Protocol: section 5 (bounds, order), section 4 (the index).
 */
#include "router/hub/log/log.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static const struct mx_map_key key = {{3, 4}};

/* Appends an envelope with id "e<n>" and a text of `len` bytes that begins with its id. */
static void put(struct log *log, int number, size_t len, int64_t mono_ms)
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
    cr_assert_eq(log_append(log, &message), MCPX_OK);
    free(text);
}

static bool finds(const struct log *log, int number)
{
    char id[16];
    uint64_t serial;

    snprintf(id, sizeof id, "e%d", number);
    return log_find(log, mcpx_slice_of(id), &serial) &&
           mcpx_slice_equal(entry_id(log_entry(log, serial)), mcpx_slice_of(id));
}

Test(log, retains_so_many_envelopes)
{
    struct log_bounds bounds = {.count = 3, .bytes = 100000};
    struct log log;

    log_init(&log, key, &bounds);
    for (int i = 0; i < 10; i++)
        put(&log, i, 20, 0);
    cr_expect_eq(log.head - log.history, 3);
    for (int i = 0; i < 10; i++)
        cr_expect_eq(finds(&log, i), i >= 7, "e%d", i);
    log_fini(&log);
}

Test(log, retains_so_many_bytes_of_frames_and_notes)
{
    struct log_bounds bounds = {.bytes = 336};
    struct log log;

    log_init(&log, key, &bounds);
    for (int i = 0; i < 10; i++)
        put(&log, i, 98, 0); /* 100 bytes of frame, 12 of note */
    cr_expect_eq(log.retained_bytes, 336);
    cr_expect(finds(&log, 7) && !finds(&log, 6));
    put(&log, 10, 400, 0); /* larger than the window: delivered, never retained */
    cr_expect_eq(log.retained_bytes, 0);
    cr_expect_eq(log.history, log.head);
    cr_expect_not(finds(&log, 10));
    log_fini(&log);
}

/* What was loaded may bear times of a clock that was wrong. */
Test(log, lets_nothing_be_younger_than_what_follows_it)
{
    struct log_bounds bounds = {.bytes = 100000, .age_ms = 100};
    struct log log;

    log_init(&log, key, &bounds);
    put(&log, 0, 20, 1200);
    put(&log, 1, 20, 1100);
    put(&log, 2, 20, 1150);
    put(&log, 3, 20, 1200);
    log_order_times(&log);
    log_forget_old(&log, 1201);
    cr_expect(!finds(&log, 0) && !finds(&log, 1) && finds(&log, 2));
    log_forget_old(&log, 1251);
    cr_expect(!finds(&log, 2) && finds(&log, 3));
    log_fini(&log);
}

Test(log, forgets_what_is_older_than_its_age)
{
    struct log_bounds bounds = {.bytes = 100000, .age_ms = 100};
    struct log log;

    log_init(&log, key, &bounds);
    put(&log, 0, 20, 1000);
    put(&log, 1, 20, 1050);
    put(&log, 2, 20, 1100);
    cr_expect(finds(&log, 0), "exactly as old as allowed");
    put(&log, 3, 20, 1101);
    cr_expect(!finds(&log, 0) && finds(&log, 1));
    log_forget_old(&log, 1150);
    cr_expect(finds(&log, 1));
    log_forget_old(&log, 5000);
    cr_expect_eq(log.history, log.head);
    cr_expect_not(finds(&log, 3));
    log_fini(&log);
}

Test(log, finds_by_id_what_is_retained_and_leaves_the_rest_alone)
{
    struct log_bounds bounds = {.bytes = 100000};
    uint64_t serial = 99;
    struct log log;

    log_init(&log, key, &bounds);
    cr_expect_not(log_find(&log, MCPX_SLICE("e0"), &serial));
    put(&log, 0, 20, 0);
    put(&log, 1, 20, 0);
    cr_expect_not(log_find(&log, MCPX_SLICE("e"), &serial));
    cr_expect_not(log_find(&log, MCPX_SLICE("e00"), &serial));
    cr_expect_eq(serial, 99);
    cr_expect(log_find(&log, MCPX_SLICE("e1"), &serial));
    cr_expect_eq(serial, 1);
    log_fini(&log);
}

Test(log, knows_id_kind_text_and_addressees_of_an_entry)
{
    static const struct mcpx_slice to[] = {{"ann", 3}, {"bob", 3}};
    struct log_message message = {.piece_count = 3, .to = to, .to_count = 2, .mono_ms = 5};
    struct log_bounds bounds = {.bytes = 100000};
    struct log log;
    const struct entry *entry;

    message.pieces[0] = MCPX_SLICE("{");
    message.pieces[1] = MCPX_SLICE("");
    message.pieces[2] = MCPX_SLICE("}");
    message.id = MCPX_SLICE("i");
    message.kind = MCPX_SLICE("a/b:c:d");
    log_init(&log, key, &bounds);
    cr_assert_eq(log_append(&log, &message), MCPX_OK);
    entry = log_entry(&log, 0);
    cr_expect(mcpx_slice_equal(entry_text(entry), MCPX_SLICE("{}")));
    cr_expect(mcpx_slice_equal(entry_id(entry), MCPX_SLICE("i")));
    cr_expect(mcpx_slice_equal(entry_kind(entry), MCPX_SLICE("a/b:c:d")));
    cr_expect(entry_is_for(entry, to[0]) && entry_is_for(entry, to[1]));
    cr_expect_not(entry_is_for(entry, MCPX_SLICE("an")));
    cr_expect_not(entry_is_for(entry, MCPX_SLICE("")));
    put(&log, 1, 20, 0);
    cr_expect(entry_is_for(log_entry(&log, 1), MCPX_SLICE("anybody")));
    log_fini(&log);
}

/* ---- runs ---- */

/* Walks the log run by run and checks that every frame comes once, in order. */
static void walk(struct log *log, uint64_t from)
{
    for (uint64_t serial = from; serial < log->head;) {
        struct log_run run = log_run_from(log, serial, log->head);
        size_t len = 0;

        cr_assert_gt(run.next, serial);
        cr_expect(run.len <= LOG_RUN_MAX || run.next == serial + 1, "a run of %zu", run.len);
        for (; serial < run.next; serial++) {
            const struct entry *entry = log_entry(log, serial);

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
    struct log_bounds bounds = {.bytes = 10000000, .backlog_bytes = 10000000};
    struct log_run run;
    struct log log;

    log_init(&log, key, &bounds);
    for (int i = 0; i < 200; i++)
        put(&log, i, 4 + lens[i % 10], 0);
    walk(&log, 0);
    walk(&log, 77);
    run = log_run_from(&log, 7, 8);
    cr_expect_eq(run.next, 8, "no further than asked");
    run = log_run_from(&log, 6, log.head);
    cr_expect_eq(run.next, 7, "one large frame is a run of its own");
    log_fini(&log);
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
    struct log log;

    bounds.backlog_bytes = 0;
    log_init(&log, key, &bounds);
    log_reader_init(&reader);
    log_reader_place(&log, &reader, 0); /* before there is any memory */
    for (int i = 0; i < 100; i++) {
        put(&log, i, 1000, 0);
        cr_expect_not(log_drop(&log), "%d", i);
    }
    cr_expect_eq(log.tail, 0);
    cr_expect_null(log_overdue(&log), "no bound, nobody is overdue");
    walk(&log, 0);
    log_reader_place(&log, &reader, 50);
    while (log_drop(&log))
        ;
    cr_expect(log.tail > 0 && log.tail <= 50, "tail is %d", (int)log.tail);
    walk(&log, 50);
    log_reader_release(&reader);
    while (log_drop(&log))
        ;
    cr_expect(log.tail <= log.history && log.tail > 50);
    cr_expect_lt(log.memory, 3 * 8192);
    walk(&log, log.history);
    log_fini(&log);
}

Test(log, names_the_readers_that_are_overdue_and_nobody_who_only_waits)
{
    struct log_bounds bounds = tight();
    struct reader slow, waiting;
    struct link *overdue;
    struct log log;

    log_init(&log, key, &bounds);
    log_reader_init(&slow);
    log_reader_init(&waiting);
    put(&log, 0, 1000, 0);
    log_reader_place(&log, &slow, 0);
    log_reader_place(&log, &waiting, 1);
    cr_expect_null(log_overdue(&log));
    put(&log, 1, 50000, 0); /* more than the backlog at once, in a segment of its own */
    overdue = log_overdue(&log);
    cr_assert(overdue);
    cr_expect_eq(overdue->next, &slow.link);
    cr_expect_eq(slow.link.next, overdue, "nobody else");
    cr_expect_eq(waiting.home, log_entry(&log, 1)->segment);
    log_reader_release(&slow);
    cr_expect(log_drop(&log));
    cr_expect_eq(log.tail, 1);
    walk(&log, 1);
    log_reader_release(&waiting);
    log_fini(&log);
}

Test(log, does_not_take_free_room_for_backlog)
{
    struct log_bounds bounds = {.bytes = 1, .backlog_bytes = 4096};
    struct reader reader;
    struct log log;

    log_init(&log, key, &bounds);
    log_reader_init(&reader);
    put(&log, 0, 4000, 0);
    log_reader_place(&log, &reader, 0);
    put(&log, 1, 100, 0); /* the first of a new, nearly empty segment */
    cr_expect_null(log_overdue(&log));
    log_reader_release(&reader);
    log_fini(&log);
}

Test(log, holds_no_more_memory_than_its_bounds_and_a_few_segments)
{
    struct log_bounds bounds = tight();
    size_t most = 0;
    struct log log;

    log_init(&log, key, &bounds);
    for (int i = 0; i < 5000; i++) {
        put(&log, i, 20 + (size_t)(i * 37 % 900), 0);
        while (log_drop(&log))
            ;
        most = log.memory > most ? log.memory : most;
    }
    cr_expect_lt(most, 2 * 8192 + 3 * 4096, "held %zu", most);
    cr_expect_leq(log.ring_size, 256, "a ring of %zu", log.ring_size);
    log_fini(&log);
}
