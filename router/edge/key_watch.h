/*
 * key_watch.h - keeps the public keys that stand in files up to date.
 */
#ifndef EDGE_KEY_WATCH_H
#define EDGE_KEY_WATCH_H

#include "router/policy/key_file.h"

#include <uv.h>

struct edge;

/**
 * One file is read at a time. Zero-initialised is ready.
 *
 * work, file, reading   what a thread does now; `file` is NULL when it does nothing
 * looked_ms             mono_ms when the files were looked at last
 */
struct key_watch {
    uv_work_t work;
    struct key_file *file;
    struct key_reading reading;
    int64_t looked_ms;
};

/**
 * Looks whether a file has changed, once a second however often it is called, and has a thread read
 * it. The loop puts the keys into force; a file that is broken changes none, but is logged and
 * counted.
 */
void key_watch_look(struct edge *edge);

/** The same at once, for whoever has just written a file. */
void key_watch_reread(struct edge *edge);

#endif
