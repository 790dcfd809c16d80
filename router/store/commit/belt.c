/*
 * belt.c - two lists under one mutex. Whoever takes, takes all at once, in constant time, so the
 * lock is held for a few instructions and nobody holds it while anything is written. While a stage
 * works on one batch the next collects: that is group commit without a timer.
 *
 * What a stage has taken and not worked on yet (a batch has bounds) waits in lists of its own.
 *
 * Refused: a queue without locks. It saves nothing where a batch is synced, and is hard to read.
 */
#include "router/store/commit/belt.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * put, answered        items handed over so far, counted by the loop and by the stage
 * items, oneways       wait for the stage
 * done, report         wait for the loop
 * mine, mine_oneways   belong to the stage's thread alone: what it took, and works on later
 */
struct belt {
    struct belt_config config;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool ended;
    uint64_t put;
    struct link items, oneways;
    struct link done;
    struct stage_report report;
    struct link mine, mine_oneways;
    uint64_t taken;
};

static bool init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    bool done;

    if (pthread_condattr_init(&attributes) != 0)
        return false;
    done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(condition, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return done;
}

enum mcpx_err belt_new(const struct belt_config *config, struct belt **out)
{
    struct belt *belt = calloc(1, sizeof *belt);

    if (!belt)
        return MCPX_ENOMEM;
    belt->config = *config;
    list_init(&belt->items);
    list_init(&belt->oneways);
    list_init(&belt->done);
    list_init(&belt->mine);
    list_init(&belt->mine_oneways);
    if (pthread_mutex_init(&belt->lock, NULL) != 0)
        goto no_lock;
    if (!init_condition(&belt->news))
        goto no_condition;
    *out = belt;
    return MCPX_OK;
no_condition:
    (void)pthread_mutex_destroy(&belt->lock);
no_lock:
    free(belt);
    return MCPX_ESYSTEM;
}

static void *run(void *context)
{
    struct belt *belt = context;

    belt->config.run(belt->config.context);
    return NULL;
}

/* The loop reads signals; a thread inherits the mask of who makes it. */
enum mcpx_err belt_start(struct belt *belt)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    belt->started = pthread_create(&belt->thread, NULL, run, belt) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return belt->started ? MCPX_OK : MCPX_ESYSTEM;
}

void belt_put(struct belt *belt, struct link *items, size_t count)
{
    (void)pthread_mutex_lock(&belt->lock);
    list_splice(&belt->items, items);
    belt->put += count;
    (void)pthread_cond_signal(&belt->news);
    (void)pthread_mutex_unlock(&belt->lock);
}

void belt_put_oneway(struct belt *belt, struct oneway *oneway)
{
    (void)pthread_mutex_lock(&belt->lock);
    oneway->behind = belt->put;
    list_append(&belt->oneways, &oneway->link);
    (void)pthread_cond_signal(&belt->news);
    (void)pthread_mutex_unlock(&belt->lock);
}

void belt_answers(struct belt *belt, struct link *answers, struct stage_report *report)
{
    (void)pthread_mutex_lock(&belt->lock);
    list_splice(answers, &belt->done);
    stage_report_move(report, &belt->report);
    (void)pthread_mutex_unlock(&belt->lock);
}

void belt_end(struct belt *belt)
{
    (void)pthread_mutex_lock(&belt->lock);
    belt->ended = true;
    (void)pthread_cond_broadcast(&belt->news);
    (void)pthread_mutex_unlock(&belt->lock);
    if (belt->started)
        (void)pthread_join(belt->thread, NULL);
    belt->started = false;
}

void belt_free(struct belt *belt)
{
    if (!belt)
        return;
    belt_end(belt);
    (void)pthread_cond_destroy(&belt->news);
    (void)pthread_mutex_destroy(&belt->lock);
    free(belt);
}

static struct timespec after(int64_t wait_ms)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(wait_ms / 1000);
    until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return until;
}

/* Takes all that others have put. Waits for it while the stage has nothing else to do. */
static bool collect(struct belt *belt, int64_t wait_ms)
{
    bool idle = list_is_empty(&belt->mine) && list_is_empty(&belt->mine_oneways);
    struct timespec until = after(idle ? wait_ms : 0);
    bool ended;

    (void)pthread_mutex_lock(&belt->lock);
    while (idle && !belt->ended && list_is_empty(&belt->items) &&
           list_is_empty(&belt->oneways))
        if (pthread_cond_timedwait(&belt->news, &belt->lock, &until) != 0)
            break;
    list_splice(&belt->mine, &belt->items);
    list_splice(&belt->mine_oneways, &belt->oneways);
    ended = belt->ended;
    (void)pthread_mutex_unlock(&belt->lock);
    return !ended || !list_is_empty(&belt->mine) || !list_is_empty(&belt->mine_oneways);
}

bool belt_take(struct belt *belt, int64_t wait_ms, struct batch *batch)
{
    size_t bytes = 0;

    list_init(&batch->items);
    list_init(&batch->oneways);
    batch->count = 0;
    if (!collect(belt, wait_ms))
        return false;
    batch->first = belt->taken;
    while (!list_is_empty(&belt->mine) && batch->count < BATCH_ITEMS_MAX) {
        struct link *item = belt->mine.next;

        bytes += belt->config.weigh(item);
        if (batch->count > 0 && bytes > BATCH_BYTES_MAX)
            break;
        list_remove(item);
        list_append(&batch->items, item);
        batch->count++;
    }
    belt->taken += batch->count;
    LIST_EACH(link, &belt->mine_oneways) {
        const struct oneway *oneway = LIST_ELEMENT(link, struct oneway, link);

        if (oneway->behind > belt->taken)
            break;
        list_remove(link);
        list_append(&batch->oneways, link);
    }
    return true;
}

void belt_answer(struct belt *belt, struct link *items, struct stage_report *report)
{
    bool first;

    (void)pthread_mutex_lock(&belt->lock);
    first = list_is_empty(&belt->done);
    list_splice(&belt->done, items);
    stage_report_move(&belt->report, report);
    (void)pthread_mutex_unlock(&belt->lock);
    if (first)
        belt->config.wake(belt->config.waker);
}

bool belt_pause(struct belt *belt, int64_t wait_ms)
{
    struct timespec until = after(wait_ms);
    bool ended;

    (void)pthread_mutex_lock(&belt->lock);
    while (!belt->ended && pthread_cond_timedwait(&belt->news, &belt->lock, &until) == 0)
        continue;
    ended = belt->ended;
    (void)pthread_mutex_unlock(&belt->lock);
    return !ended;
}

/*
 * ---- what a stage tells. Figures are counted by its thread and moved to the loop with its
 * answers, so neither reads what the other writes.
 */

const struct mx_classes stage_times = {
    {100, 250, 500, 1000, 2500, 5000, 10000, 25000, 100000, 500000, 1000000, 5000000},
    12,
    1000000};
const struct mx_classes stage_sizes = {{1, 4, 16, 64, 256, 1000}, 6, 0};

static void move(struct mx_histogram *to, struct mx_histogram *from)
{
    for (size_t i = 0; i <= MX_CLASSES_MAX; i++)
        to->counts[i] += from->counts[i];
    to->sum += from->sum;
    *from = (struct mx_histogram){0};
}

void stage_report_move(struct stage_report *to, struct stage_report *from)
{
    to->state = from->state;
    memcpy(to->reason, from->reason, sizeof to->reason);
    to->bytes = from->bytes;
    to->lines += from->lines;
    to->lost += from->lost;
    to->checkpoints += from->checkpoints;
    from->lines = from->lost = from->checkpoints = 0;
    move(&to->work, &from->work);
    move(&to->sizes, &from->sizes);
}
