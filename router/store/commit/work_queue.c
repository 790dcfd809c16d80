/*
 * work_queue.c - two lists under one mutex. A thread takes a whole list at once, in constant time,
 * so it holds the lock for a few instructions, and never during a write. While a stage works on one
 * batch, the next one collects: this is group commit without a timer.
 *
 * A batch is limited. A stage keeps the rest that it has taken in lists of its own.
 *
 * Rejected: a queue without locks. It saves nothing where a batch is synced, and is hard to read.
 */
#include "router/store/commit/work_queue.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * put, taken         items handed over so far, counted by the loop and by the stage
 * items, kept_items  wait for the stage
 * done, report       wait for the loop
 * mine, mine_kept    belong to the stage's thread alone: taken, but not in a batch yet
 */
struct work_queue {
    struct work_queue_config config;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool ended;
    uint64_t put;
    struct link items, kept_items;
    struct link done;
    struct stage_report report;
    struct link mine, mine_kept;
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

enum mcpx_err work_queue_new(const struct work_queue_config *config, struct work_queue **out)
{
    struct work_queue *queue = calloc(1, sizeof *queue);

    if (!queue)
        return MCPX_ENOMEM;
    queue->config = *config;
    list_init(&queue->items);
    list_init(&queue->kept_items);
    list_init(&queue->done);
    list_init(&queue->mine);
    list_init(&queue->mine_kept);
    if (pthread_mutex_init(&queue->lock, NULL) != 0)
        goto no_lock;
    if (!init_condition(&queue->news))
        goto no_condition;
    *out = queue;
    return MCPX_OK;
no_condition:
    (void)pthread_mutex_destroy(&queue->lock);
no_lock:
    free(queue);
    return MCPX_ESYSTEM;
}

static void *run(void *context)
{
    struct work_queue *queue = context;

    queue->config.run(queue->config.context);
    return NULL;
}

/* Only the loop receives signals. A thread inherits the signal mask of its creator. */
enum mcpx_err work_queue_start(struct work_queue *queue)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    queue->started = pthread_create(&queue->thread, NULL, run, queue) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return queue->started ? MCPX_OK : MCPX_ESYSTEM;
}

void work_queue_put(struct work_queue *queue, struct link *items, size_t count)
{
    (void)pthread_mutex_lock(&queue->lock);
    list_splice(&queue->items, items);
    queue->put += count;
    (void)pthread_cond_signal(&queue->news);
    (void)pthread_mutex_unlock(&queue->lock);
}

void work_queue_put_kept(struct work_queue *queue, struct kept_item *kept)
{
    (void)pthread_mutex_lock(&queue->lock);
    kept->behind = queue->put;
    list_append(&queue->kept_items, &kept->link);
    (void)pthread_cond_signal(&queue->news);
    (void)pthread_mutex_unlock(&queue->lock);
}

void work_queue_answers(struct work_queue *queue, struct link *answers,
                        struct stage_report *report)
{
    (void)pthread_mutex_lock(&queue->lock);
    list_splice(answers, &queue->done);
    stage_report_move(report, &queue->report);
    (void)pthread_mutex_unlock(&queue->lock);
}

void work_queue_end(struct work_queue *queue)
{
    (void)pthread_mutex_lock(&queue->lock);
    queue->ended = true;
    (void)pthread_cond_broadcast(&queue->news);
    (void)pthread_mutex_unlock(&queue->lock);
    if (queue->started)
        (void)pthread_join(queue->thread, NULL);
    queue->started = false;
}

void work_queue_free(struct work_queue *queue)
{
    if (!queue)
        return;
    work_queue_end(queue);
    (void)pthread_cond_destroy(&queue->news);
    (void)pthread_mutex_destroy(&queue->lock);
    free(queue);
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

/* Takes all that was put. Waits for it only while the stage has nothing else to do. */
static bool collect(struct work_queue *queue, int64_t wait_ms)
{
    bool idle = list_is_empty(&queue->mine) && list_is_empty(&queue->mine_kept);
    struct timespec until = after(idle ? wait_ms : 0);
    bool ended;

    (void)pthread_mutex_lock(&queue->lock);
    while (idle && !queue->ended && list_is_empty(&queue->items) &&
           list_is_empty(&queue->kept_items))
        if (pthread_cond_timedwait(&queue->news, &queue->lock, &until) != 0)
            break;
    list_splice(&queue->mine, &queue->items);
    list_splice(&queue->mine_kept, &queue->kept_items);
    ended = queue->ended;
    (void)pthread_mutex_unlock(&queue->lock);
    return !ended || !list_is_empty(&queue->mine) || !list_is_empty(&queue->mine_kept);
}

bool work_queue_take(struct work_queue *queue, int64_t wait_ms, struct batch *batch)
{
    size_t bytes = 0;

    list_init(&batch->items);
    list_init(&batch->kept_items);
    batch->count = 0;
    if (!collect(queue, wait_ms))
        return false;
    batch->first = queue->taken;
    while (!list_is_empty(&queue->mine) && batch->count < BATCH_ITEMS_MAX) {
        struct link *item = queue->mine.next;

        bytes += queue->config.weigh(item);
        if (batch->count > 0 && bytes > BATCH_BYTES_MAX)
            break;
        list_remove(item);
        list_append(&batch->items, item);
        batch->count++;
    }
    queue->taken += batch->count;
    LIST_EACH(link, &queue->mine_kept) {
        const struct kept_item *kept = LIST_ELEMENT(link, struct kept_item, link);

        if (kept->behind > queue->taken)
            break;
        list_remove(link);
        list_append(&batch->kept_items, link);
    }
    return true;
}

void work_queue_answer(struct work_queue *queue, struct link *items,
                       struct stage_report *report)
{
    bool first;

    (void)pthread_mutex_lock(&queue->lock);
    first = list_is_empty(&queue->done);
    list_splice(&queue->done, items);
    stage_report_move(&queue->report, report);
    (void)pthread_mutex_unlock(&queue->lock);
    if (first)
        queue->config.wake(queue->config.waker);
}

bool work_queue_pause(struct work_queue *queue, int64_t wait_ms)
{
    struct timespec until = after(wait_ms);
    bool ended;

    (void)pthread_mutex_lock(&queue->lock);
    while (!queue->ended && pthread_cond_timedwait(&queue->news, &queue->lock, &until) == 0)
        continue;
    ended = queue->ended;
    (void)pthread_mutex_unlock(&queue->lock);
    return !ended;
}

/*
 * ---- reports. The stage's thread counts, and moves its counts to the loop with its answers, so
 * neither reads memory that the other writes.
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
