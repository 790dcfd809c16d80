/*
 * errand.c - files are looked at once a second; inotify was refused: it tells nothing of files on a
 * network, and misses a folder that is mounted anew. All of that takes a thread: a disk that has
 * gone away answers nothing for minutes, a large list of revoked certificates takes a second, and a
 * hundred thousand participants take several.
 */
#include "router/connection/errand.h"

#include "router/connection/edge.h"

#include <stdlib.h>

/* Threads of libuv. Those that look after files may all wait for a disk that has gone away. */
static const char threads[] = "8";

void errands_init(void)
{
    (void)setenv("UV_THREADPOOL_SIZE", threads, 0);
}

static void on_thread(uv_work_t *work)
{
    LIST_ELEMENT(work, struct errand, work)->sort->work(work->data);
}

static void on_done(uv_work_t *work, int status);

/* False when it is under way, or there is nothing to do. */
static bool set_out(struct edge *edge, struct errand *errand)
{
    const struct errand_sort *sort = errand->sort;

    if (errand->is_out || !sort || !(sort->begin ? sort->begin(edge) : !edge->stopping))
        return false;
    errand->is_out = true;
    errand->work.data = edge;
    if (uv_queue_work(&edge->loop, &errand->work, on_thread, on_done))
        abort(); /* it only fails without a function */
    return true;
}

static void begin(struct edge *edge, struct errand *errand)
{
    if (errand->is_out)
        return;
    errand->is_asked = errand->asked != errand->begun;
    if (set_out(edge, errand))
        errand->begun = errand->asked;
}

static void on_done(uv_work_t *work, int status)
{
    struct errand *errand = LIST_ELEMENT(work, struct errand, work);
    struct edge *edge = work->data;
    bool more = errand->sort->take(edge);

    (void)status; /* it is never cancelled */
    errand->is_out = false;
    if (more && set_out(edge, errand))
        return;
    errand->done = errand->begun;
    errand_go_on(edge, errand);
}

void errand_look(struct edge *edge, struct errand *errand)
{
    int64_t now_ms = edge_now(edge).mono_ms;

    if (errand->is_out || now_ms - errand->looked_ms < TICK_MS)
        return;
    errand->looked_ms = now_ms;
    begin(edge, errand);
}

uint64_t errand_ask(struct edge *edge, struct errand *errand)
{
    if (errand->sort)
        errand->asked = errand->begun + 1;
    begin(edge, errand);
    return errand->asked;
}

void errand_go_on(struct edge *edge, struct errand *errand)
{
    if (errand->asked != errand->begun)
        begin(edge, errand);
}
