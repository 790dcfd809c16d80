/*
 * disk_watch.h - how much room the disks have on which the router writes, for the metrics.
 */
#ifndef EDGE_DISK_WATCH_H
#define EDGE_DISK_WATCH_H

#include "router/edge/http_api.h"
#include <uv.h>

struct edge;

/**
 * Both disks are asked by one thread, one after the other: one that hangs holds no other thread.
 *
 * store, audit   paths; empty while that is off
 * known          what was answered last
 * found          what the thread has found; nobody else looks at it while it is `asking`
 */
struct disk_watch {
    uv_work_t work;
    struct mcpx_text store, audit;
    struct disk_figures known, found;
    bool asking;
};

/** Asks for the first time, at once. Returns MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err disk_watch_open(struct edge *edge);

/** Has a thread ask, once a second however often it is called. */
void disk_watch_look(struct edge *edge);

/** Frees it; no thread may be asking any more. */
void disk_watch_close(struct edge *edge);

#endif
