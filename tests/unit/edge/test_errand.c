/*
 * What a thread does for the loop. What breaks for whom: a disk hangs, and certificates of another
 * are not read; or whoever has asked for a reload is told that it is done by one that began before.
 */
#include "router/connection/edge.h"

#include <criterion/criterion.h>

/* An errand of `left` steps, each of which waits for the disk; another has one and waits not. */
static struct edge edge;
static struct errand errand, other;
static uv_sem_t disk;
static int left, steps, asked, others;

static bool begin(struct edge *of)
{
    return !of->stopping && left > 0;
}

static void work(struct edge *of)
{
    (void)of;
    asked += errand.is_asked;
    uv_sem_wait(&disk);
}

static bool take(struct edge *of)
{
    (void)of;
    left--;
    steps++;
    return true;
}

static void work_other(struct edge *of)
{
    (void)of;
}

static bool take_other(struct edge *of)
{
    (void)of;
    others++;
    return false;
}

static void start(void)
{
    static const struct errand_sort sort = {begin, work, take};
    static const struct errand_sort plain = {NULL, work_other, take_other};

    errands_init();
    errand.sort = &sort;
    other.sort = &plain;
    cr_assert(uv_loop_init(&edge.loop) == 0 && uv_sem_init(&disk, 0) == 0);
}

TestSuite(errand, .init = start);

static void disk_answers(int count)
{
    for (; count > 0; count--)
        uv_sem_post(&disk);
    uv_run(&edge.loop, UV_RUN_DEFAULT);
}

Test(errand, a_disk_that_hangs_holds_up_only_its_own)
{
    uint64_t first, next;

    left = 1;
    first = errand_ask(&edge, &errand);
    (void)errand_ask(&edge, &other);
    while (others == 0)
        uv_run(&edge.loop, UV_RUN_ONCE);
    next = errand_ask(&edge, &errand);
    cr_expect_gt(next, first, "it may have looked already");
    cr_expect_eq(errand_ask(&edge, &errand), next, "who asks meanwhile shares it");
    cr_expect_not(errand_is_done(&errand, first));
    disk_answers(1);
    cr_expect(errand_is_done(&errand, first));
    cr_expect_not(errand_is_done(&errand, next), "it cannot begin");
    left = 2;
    errand_go_on(&edge, &errand);
    disk_answers(2);
    cr_expect(errand_is_done(&errand, next) && steps == 3 && asked == 3);
}

Test(errand, looks_once_a_second_until_the_router_stops)
{
    errand.looked_ms = other.looked_ms = edge_now(&edge).mono_ms - TICK_MS;
    left = 1;
    errand_look(&edge, &errand);
    disk_answers(1);
    left = 1;
    errand_look(&edge, &errand);
    cr_expect(steps == 1 && asked == 0 && !errand.is_out);
    edge.stopping = true;
    errand_look(&edge, &other);
    cr_expect_not(errand_is_done(&other, errand_ask(&edge, &other)));
    disk_answers(0);
    cr_expect_eq(others, 0);
}
