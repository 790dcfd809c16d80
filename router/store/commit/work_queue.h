/*
 * work_queue.h - carries work between the loop and the thread of one stage. The queue links lent
 * items by a member of theirs, so it allocates and copies nothing.
 *
 * A work queue has two lanes to its stage: *items* come back answered; *kept items* stay with the
 * stage. A kept item knows how many items are before it.
 *
 *     loop                                thread
 *     work_queue_put, _put_kept ────────► while (work_queue_take(queue, wait_ms, &batch)) {
 *                                             ... all of the batch ...
 *     work_queue_answers, after `wake` ◄──    work_queue_answer(queue, &batch.items, &report);
 *                                         }
 */
#ifndef STORE_WORK_QUEUE_H
#define STORE_WORK_QUEUE_H

#include "router/hub/log/list.h"
#include "router/store/commit/stage.h"
#include <mcpx/error.h>

/** Limits of a batch: items, and bytes. A larger item has a batch to itself. */
enum { BATCH_ITEMS_MAX = 1000, BATCH_BYTES_MAX = 4 << 20 };

/** Work that a stage keeps. It is the first member of the stage's own struct. */
struct kept_item {
    struct link link;
    uint64_t behind; /* items put before it; set by work_queue_put_kept */
};

/** Waiting work for a stage, up to BATCH_ITEMS_MAX and BATCH_BYTES_MAX. */
struct batch {
    /* Links of the items, in order; the stage owns them until work_queue_answer. */
    struct link items;
    /* Links of struct kept_item, in order; the stage frees them. */
    struct link kept_items;
    size_t count; /* number of items */
    /* Number of earlier items in this work queue: the first one here is number first + 1. */
    uint64_t first;
};

struct work_queue;

/** The configuration of a work queue. */
struct work_queue_config {
    /* The body of the stage's thread: takes batches until there are no more, then returns. */
    void (*run)(void *context);
    void *context; /* its argument */
    /* Returns the bytes that an item adds to a batch. */
    size_t (*weigh)(const struct link *item);
    /* Called by the stage's thread when a first answer waits; only wakes the loop. */
    void (*wake)(void *waker);
    void *waker; /* its argument */
};

/**
 * Makes a work queue; `config` is copied. work_queue_start starts its thread. Returns MCPX_OK,
 * MCPX_ENOMEM, or MCPX_ESYSTEM.
 */
enum mcpx_err work_queue_new(const struct work_queue_config *config, struct work_queue **out);

/** Starts the thread, with all signals blocked. Returns MCPX_OK or MCPX_ESYSTEM. */
enum mcpx_err work_queue_start(struct work_queue *queue);

/* ---- the loop's side ---- */

/** Hands over links, in order, and empties `items`. Nothing may be put after work_queue_end. */
void work_queue_put(struct work_queue *queue, struct link *items, size_t count);

/** Hands over a kept item; the stage owns it from then on. */
void work_queue_put_kept(struct work_queue *queue, struct kept_item *kept);

/** Appends the answered items, in the order in which they were put, and updates `report`. */
void work_queue_answers(struct work_queue *queue, struct link *answers,
                        struct stage_report *report);

/** Ends the input and waits until the thread has ended. The stage still does all waiting work. */
void work_queue_end(struct work_queue *queue);

/** work_queue_end, then frees it. Answers not taken stay with their owners. NULL is allowed. */
void work_queue_free(struct work_queue *queue);

/* ---- the stage's side: its thread alone ---- */

/**
 * Takes waiting work, up to the limits of a batch. Waits at most `wait_ms` milliseconds for some.
 *
 * Returns false when the work queue has ended and nothing is left. Else the batch may be empty.
 */
bool work_queue_take(struct work_queue *queue, int64_t wait_ms, struct batch *batch);

/**
 * Gives back items, in the order in which they were taken; `items` is empty afterwards.
 *
 * report    the report of the stage; its counts are zero afterwards
 */
void work_queue_answer(struct work_queue *queue, struct link *items,
                       struct stage_report *report);

/** Waits for `wait_ms` milliseconds. Returns false, at once, when the work queue has ended. */
bool work_queue_pause(struct work_queue *queue, int64_t wait_ms);

#endif
