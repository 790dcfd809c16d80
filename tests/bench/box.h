/*
 * box.h - a hub without sockets: one who speaks, many who read, and a clock that stands still.
 */
#ifndef BENCH_BOX_H
#define BENCH_BOX_H

#include "router/hub/hub.h"
#include "router/hub/topic/query.h"

/**
 * One hub with one topic.
 *
 * speaker    admitted first; reads everything
 * serial     of the next message
 */
struct box {
    struct hub *hub;
    struct mcpx_capset *capset;
    struct peer *speaker;
    struct mcpx_now now;
    uint64_t serial;
};

/** Opens a box with `readers` beside the speaker. Ends the program when memory runs out. */
void box_open(struct box *box, size_t readers, enum routing routing);

/** Frees all of it. */
void box_close(struct box *box);

/** Numbers a text of speech_new(…, "speaker", …) and routes it. Aborts when it is refused. */
void box_say(struct box *box, char *text, size_t len);

/** Routes a text as it is. Aborts when it is refused. */
void box_say_as_is(struct box *box, const char *text, size_t len);

/** Reads all that is ready, as the edge does. Returns the bytes of it. */
size_t box_read(struct box *box);

/** Admits one more reader, named by number, who asks for so much history. */
struct peer *box_admit(struct box *box, size_t number, enum routing routing, size_t history);

/** It leaves. */
void box_depart(struct box *box, struct peer *peer);

#endif
