/*
 * work_queue.h - how work crosses between the loop and the thread of one stage, and back. What
 * crosses is a link inside of what is lent, so crossing allocates nothing and copies nothing.
 *
 * A work queue has two lanes to its stage: *items*, each of which comes back answered, and
 * *unanswered items*, which the stage keeps. An unanswered item knows how many items are before it.
 *
 *     loop                                thread
 *     work_queue_put, _put_unanswered ──► while (work_queue_take(queue, wait_ms, &batch)) {
 *                                             ... all of the batch ...
 *     work_queue_answers, after `wake` ◄──    work_queue_answer(queue, &batch.items, &report);
 *                                         }
 */
#ifndef STORE_WORK_QUEUE_H
#define STORE_WORK_QUEUE_H

#include "router/hub/log/list.h"
#include "router/store/commit/stage.h"
#include <mcpx/error.h>

/** Most items of one batch, and the bytes with which it is full. */
enum { BATCH_ITEMS_MAX = 1000, BATCH_BYTES_MAX = 4 << 20 };

/** What goes to a stage and never comes back. Begins whatever the stage takes. */
struct unanswered_item {
    struct link link;
    uint64_t behind; /* items put before it; work_queue_put_unanswered fills it in */
};

/** All that waits for a stage, at most BATCH_ITEMS_MAX and BATCH_BYTES_MAX. */
struct batch {
    /* Links of what was put, in order; the stage owns them until work_queue_answer. */
    struct link items;
    /* Links of struct unanswered_item, in order: given. */
    struct link unanswered_items;
    size_t count; /* how many */
    /* How many items of this work queue were before them: the next has the number first + 1. */
    uint64_t first;
};

struct work_queue;

/** What a work queue is made of. */
struct work_queue_config {
    /* The body of the stage's thread: takes batches until there are no more, then returns. */
    void (*run)(void *context);
    void *context; /* its argument */
    /* How many bytes of a batch an item takes. */
    size_t (*weigh)(const struct link *item);
    /* Called by the stage's thread when answers begin to wait; only wakes the loop. */
    void (*wake)(void *waker);
    void *waker; /* its argument */
};

/**
 * Makes a work queue; `config` is copied. Its thread is started by work_queue_start.
 * Returns MCPX_OK, MCPX_ENOMEM, or MCPX_ESYSTEM.
 */
enum mcpx_err work_queue_new(const struct work_queue_config *config, struct work_queue **out);

/** Starts the thread, with all signals blocked. Returns MCPX_OK; MCPX_ESYSTEM: it cannot be. */
enum mcpx_err work_queue_start(struct work_queue *queue);

/* ---- the loop's side ---- */

/** Hands over links, in order, and empties `items`. Nothing may be put after work_queue_end. */
void work_queue_put(struct work_queue *queue, struct link *items, size_t count);

/** Hands over a unanswered_item; the stage takes it. */
void work_queue_put_unanswered(struct work_queue *queue, struct unanswered_item *unanswered);

/** Appends what is answered, in the order in which it was put, and brings `report` up to date. */
void work_queue_answers(struct work_queue *queue, struct link *answers,
                        struct stage_report *report);

/** No more will be put. The stage still does what waits; returns when its thread has ended. */
void work_queue_end(struct work_queue *queue);

/** work_queue_end, then frees it. Answers not taken stay with their owners. NULL is allowed. */
void work_queue_free(struct work_queue *queue);

/* ---- the stage's side: its thread alone ---- */

/**
 * Takes all that waits. When nothing does, waits `wait_ms` milliseconds at most.
 *
 * Returns false when the work queue has ended and nothing is left.
 */
bool work_queue_take(struct work_queue *queue, int64_t wait_ms, struct batch *batch);

/**
 * Gives back items, in the order in which they were taken; `items` is empty afterwards.
 *
 * report    what the stage has to tell; its figures are zero afterwards
 */
void work_queue_answer(struct work_queue *queue, struct link *items,
                       struct stage_report *report);

/** Waits for `wait_ms` milliseconds. Returns false, at once, when the work queue has ended. */
bool work_queue_pause(struct work_queue *queue, int64_t wait_ms);

#endif
