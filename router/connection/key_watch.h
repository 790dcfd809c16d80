/*
 * key_watch.h - keeps the public keys that stand in files up to date.
 */
#ifndef EDGE_KEY_WATCH_H
#define EDGE_KEY_WATCH_H

#include "router/api/http_api.h"
#include "router/policy/identity/key_file.h"

#include <uv.h>

struct edge;

/**
 * A thread looks at one file after the other, and reads those that have changed.
 *
 * work, file, index   what the thread does now; `file` is NULL when it does nothing
 * has_read, reading   what it has found
 * again               all files are to be looked at once more
 * looked_ms           mono_ms when the files were looked at last
 */
struct key_watch {
    uv_work_t work;
    struct key_file *file;
    size_t index;
    bool has_read, again;
    struct key_reading reading;
    int64_t looked_ms;
};

/**
 * Has a thread look whether a file has changed, once a second however often it is called. The loop
 * puts the keys into force; a file that is broken changes none, but is logged and counted.
 */
void key_watch_look(struct edge *edge);

/** The same at once, for whoever has just written a file. */
void key_watch_reread(struct edge *edge);

/*
 * How much room the disks have on which the router writes, for the metrics.
 */

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
