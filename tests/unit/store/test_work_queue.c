/*
 * test_work_queue.c - what crosses between the loop and a stage arrives, once, in order, whole.
 */
#include "router/store/commit/work_queue.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

enum { DEADLINE_S = 120 };

struct parcel {
    struct link link;
    size_t number, bytes;
};

struct word {
    struct kept_item kept;
    uint64_t expected; /* how many parcels are before it */
};

/*
 * A stage that only looks. Its members are its thread's, until the work queue has ended.
 *
 * hold    when not NULL: waited for before each batch but the first is answered
 */
struct looker {
    struct work_queue *queue;
    sem_t woken, *hold;
    size_t batches, seen, words, largest, largest_bytes, wakes;
    bool in_order, words_in_place;
};

static struct parcel *parcel_of(const struct link *link)
{
    return LIST_ELEMENT(link, struct parcel, link);
}

static size_t weigh(const struct link *item)
{
    return parcel_of(item)->bytes;
}

static void look_at(struct looker *looker, struct batch *batch)
{
    size_t bytes = 0;

    looker->in_order = looker->in_order && batch->first == looker->seen;
    for (struct link *at = batch->items.next; at != &batch->items; at = at->next) {
        looker->in_order = looker->in_order && parcel_of(at)->number == looker->seen++;
        bytes += parcel_of(at)->bytes;
    }
    while (!list_is_empty(&batch->kept_items)) {
        struct word *word = LIST_ELEMENT(
            LIST_ELEMENT(batch->kept_items.next, struct kept_item, link), struct word, kept);

        looker->words_in_place =
            looker->words_in_place && word->kept.behind == word->expected &&
            word->expected >= batch->first && word->expected <= batch->first + batch->count;
        list_remove(&word->kept.link);
        free(word);
        looker->words++;
    }
    looker->largest = batch->count > looker->largest ? batch->count : looker->largest;
    looker->largest_bytes = bytes > looker->largest_bytes ? bytes : looker->largest_bytes;
}

static void run(void *context)
{
    struct looker *looker = context;
    struct stage_report report = {0};
    struct batch batch;

    while (work_queue_take(looker->queue, 3600000, &batch)) {
        look_at(looker, &batch);
        if (batch.count == 0)
            continue;
        if (looker->hold)
            (void)sem_wait(looker->hold);
        looker->batches++;
        mx_histogram_add(&report.sizes, &stage_sizes, 1, batch.count);
        work_queue_answer(looker->queue, &batch.items, &report);
    }
}

static void wake(void *context)
{
    struct looker *looker = context;

    looker->wakes++;
    (void)sem_post(&looker->woken);
}

static void looker_init(struct looker *looker)
{
    struct work_queue_config config = {run, looker, weigh, wake, looker};

    *looker = (struct looker){.in_order = true, .words_in_place = true};
    cr_assert_eq(sem_init(&looker->woken, 0, 0), 0);
    cr_assert_eq(work_queue_new(&config, &looker->queue), MCPX_OK);
}

static void wait_for(sem_t *semaphore)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DEADLINE_S;
    while (sem_timedwait(semaphore, &until) != 0)
        cr_assert_eq(errno, EINTR, "nothing came in time");
}

static void put(struct looker *looker, struct parcel *parcels, size_t from, size_t count,
                size_t bytes)
{
    struct link list;

    list_init(&list);
    for (size_t i = from; i < from + count; i++) {
        parcels[i] = (struct parcel){.number = i, .bytes = bytes};
        list_init(&parcels[i].link);
        list_append(&list, &parcels[i].link);
    }
    work_queue_put(looker->queue, &list, count);
}

/* Takes answers until `count` have come; they are those from `from` on, in order. */
static void take(struct looker *looker, size_t from, size_t count, struct stage_report *report)
{
    struct link answers;
    size_t came = 0;

    list_init(&answers);
    while (came < count) {
        work_queue_answers(looker->queue, &answers, report);
        if (list_is_empty(&answers))
            wait_for(&looker->woken);
        for (; !list_is_empty(&answers); came++) {
            cr_assert_eq(parcel_of(answers.next)->number, from + came);
            list_remove(answers.next);
        }
    }
}

Test(queue, all_that_is_put_comes_back_once_and_in_order)
{
    enum { ROUNDS = 2000, EACH = 7 };
    struct parcel *parcels = calloc((size_t)ROUNDS * EACH, sizeof *parcels);
    struct stage_report report = {0};
    struct looker looker;

    looker_init(&looker);
    cr_assert_eq(work_queue_start(looker.queue), MCPX_OK);
    for (size_t round = 0; round < ROUNDS; round++) {
        struct word *word = calloc(1, sizeof *word);

        put(&looker, parcels, round * EACH, EACH, 100);
        word->expected = (round + 1) * EACH;
        work_queue_put_kept(looker.queue, &word->kept);
    }
    take(&looker, 0, (size_t)ROUNDS * EACH, &report);
    work_queue_end(looker.queue);
    cr_expect(looker.in_order, "the stage sees them in order");
    cr_expect(looker.words_in_place, "a oneway stands behind what was put before it");
    cr_expect_eq(looker.seen, (size_t)ROUNDS * EACH);
    cr_expect_eq(looker.words, (size_t)ROUNDS, "oneways that wait at the end are taken too");
    cr_expect_eq(report.sizes.sum, looker.seen, "the report counts what was answered");
    cr_expect_leq(looker.wakes, looker.batches, "a batch wakes the loop once");
    work_queue_free(looker.queue);
    free(parcels);
}

Test(queue, a_batch_is_what_has_waited_within_its_bounds)
{
    static const struct {
        const char *name;
        size_t count, bytes, batches, largest;
    } rows[] = {
        {"all that waits is one batch", 900, 10, 1, 900},
        {"a thousand at most", 2500, 10, 3, BATCH_ITEMS_MAX},
        {"four mebibytes at most", 10, 1 << 20, 3, 4},
        {"what is larger goes alone", 3, 5 << 20, 3, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct parcel *parcels = calloc(rows[i].count, sizeof *parcels);
        struct stage_report report = {0};
        struct looker looker;

        looker_init(&looker);
        put(&looker, parcels, 0, rows[i].count, rows[i].bytes);
        cr_assert_eq(work_queue_start(looker.queue), MCPX_OK);
        take(&looker, 0, rows[i].count, &report);
        work_queue_end(looker.queue);
        cr_expect_eq(looker.batches, rows[i].batches, "%s: %zu batches", rows[i].name,
                     looker.batches);
        cr_expect_eq(looker.largest, rows[i].largest, "%s: %zu", rows[i].name, looker.largest);
        work_queue_free(looker.queue);
        free(parcels);
    }
}

Test(queue, the_next_batch_collects_while_one_is_worked_on)
{
    struct parcel parcels[101];
    struct stage_report report = {0};
    struct looker looker;
    sem_t hold;

    looker_init(&looker);
    cr_assert_eq(sem_init(&hold, 0, 0), 0);
    looker.hold = &hold;
    put(&looker, parcels, 0, 1, 10);
    cr_assert_eq(work_queue_start(looker.queue), MCPX_OK);
    cr_assert_eq(sem_post(&hold), 0);
    take(&looker, 0, 1, &report);
    put(&looker, parcels, 1, 1, 10);
    for (size_t i = 2; i < 101; i++)
        put(&looker, parcels, i, 1, 10);
    for (size_t i = 0; i < 101; i++)
        cr_assert_eq(sem_post(&hold), 0);
    take(&looker, 1, 100, &report);
    work_queue_end(looker.queue);
    cr_expect(looker.in_order);
    cr_expect_leq(looker.batches, 101);
    work_queue_free(looker.queue);
}

Test(queue, what_waits_when_it_ends_is_still_done)
{
    struct parcel parcels[3000];
    struct stage_report report = {0};
    struct looker looker;
    struct link answers;

    looker_init(&looker);
    put(&looker, parcels, 0, 3000, 10);
    cr_assert_eq(work_queue_start(looker.queue), MCPX_OK);
    work_queue_end(looker.queue);
    cr_expect_eq(looker.seen, 3000);
    list_init(&answers);
    work_queue_answers(looker.queue, &answers, &report);
    cr_expect_not(list_is_empty(&answers), "its answers can be taken afterwards");
    work_queue_free(looker.queue);
}

Test(queue, a_queue_that_was_not_started_can_be_freed)
{
    struct looker looker;

    looker_init(&looker);
    work_queue_free(looker.queue);
    work_queue_free(NULL);
}
