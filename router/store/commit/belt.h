/*
 * belt.h - how work crosses between the loop and the thread of one stage, and back. What crosses is
 * a link inside of what is lent, so crossing allocates nothing and copies nothing.
 *
 * A belt has two lanes to its stage: *items*, each of which comes back answered, and *oneways*,
 * which the stage keeps. A oneway knows how many items are before it.
 *
 *     loop                                        thread
 *     belt_put, belt_put_oneway           ──►     while (belt_take(belt, wait_ms, &batch)) {
 *                                                     ... all of the batch ...
 *     belt_answers, after `wake`          ◄──         belt_answer(belt, &batch.items, &report);
 *                                                 }
 */
#ifndef STORE_BELT_H
#define STORE_BELT_H

#include "router/hub/log/list.h"
#include "router/store/commit/stage.h"
#include <mcpx/error.h>

/** Most items of one batch, and the bytes with which it is full. */
enum { BATCH_ITEMS_MAX = 1000, BATCH_BYTES_MAX = 4 << 20 };

/** What goes to a stage and never comes back. Begins whatever the stage takes. */
struct oneway {
    struct link link;
    uint64_t behind; /* items of the belt that were put before it; belt_put_oneway fills it */
};

/** All that waits for a stage, at most BATCH_ITEMS_MAX and BATCH_BYTES_MAX. */
struct batch {
    /* Links of what was put, in order; the stage owns them until belt_answer. */
    struct link items;
    /* Links of struct oneway, in order: given. */
    struct link oneways;
    size_t count; /* how many */
    /* How many items of this belt were before them: the next has the number first + 1. */
    uint64_t first;
};

struct belt;

/** What a belt is made of. */
struct belt_config {
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
 * Makes a belt; `config` is copied. Its thread is started by belt_start.
 * Returns MCPX_OK, MCPX_ENOMEM, or MCPX_ESYSTEM.
 */
enum mcpx_err belt_new(const struct belt_config *config, struct belt **out);

/** Starts the thread, with all signals blocked. Returns MCPX_OK; MCPX_ESYSTEM: it cannot be. */
enum mcpx_err belt_start(struct belt *belt);

/* ---- the loop's side ---- */

/** Hands over links, in order; `items` is empty afterwards. Nothing may be put after belt_end. */
void belt_put(struct belt *belt, struct link *items, size_t count);

/** Hands over a oneway; the stage takes it. */
void belt_put_oneway(struct belt *belt, struct oneway *oneway);

/** Appends what is answered, in the order in which it was put, and brings `report` up to date. */
void belt_answers(struct belt *belt, struct link *answers, struct stage_report *report);

/** No more will be put. The stage still does what waits; returns when its thread has ended. */
void belt_end(struct belt *belt);

/** belt_end, then frees it. Answers that nobody took stay with their owners. NULL is allowed. */
void belt_free(struct belt *belt);

/* ---- the stage's side: its thread alone ---- */

/**
 * Takes all that waits. When nothing does, waits `wait_ms` milliseconds at most.
 *
 * Returns false when the belt has ended and nothing is left.
 */
bool belt_take(struct belt *belt, int64_t wait_ms, struct batch *batch);

/**
 * Gives back items, in the order in which they were taken; `items` is empty afterwards.
 *
 * report    what the stage has to tell; its figures are zero afterwards
 */
void belt_answer(struct belt *belt, struct link *items, struct stage_report *report);

/** Waits for `wait_ms` milliseconds. Returns false, at once, when the belt has ended. */
bool belt_pause(struct belt *belt, int64_t wait_ms);

#endif
