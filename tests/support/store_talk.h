/*
 * store_talk.h - a router that stores, and the rude clients of its room "room": started, talked in,
 * asked.
 */
#ifndef SUPPORT_STORE_TALK_H
#define SUPPORT_STORE_TALK_H

#include "tests/support/rude_client.h"
#include "tests/support/store_place.h"

/** A router and its place. */
struct store_router {
    struct store_place place;
    struct daemon daemon;
};

/** Makes a place (store_place_make) and starts a router there. */
void talk_start(struct store_router *router, const char *store, const char *audit,
                const char *more);

/** Ends it, which has to go well; talk_stop removes the place, too. Both may have been done. */
void talk_end(struct store_router *router);
void talk_stop(struct store_router *router);

/** Ends it and starts it again, on a disk that talk_set_disk changes; it is fine at first. */
void talk_restart_on_disk(struct store_router *router);

/** What the disk is from now on: a word of slow_disk.c, or "fine". */
void talk_set_disk(const struct store_router *router, const char *word);

/** Chats PREFIX0, PREFIX1 ... up to `count`. */
void talk_say(struct rude *rude, const char *prefix, int count);

/** Reads on until a frame with this envelope id. */
void talk_expect(struct rude *rude, const char *id);

/** PREFIX`first`, and all up to `end`, each once and in order; other frames may be between them. */
void talk_expect_order(struct rude *rude, const char *prefix, int first, int end);

/** Joins and reads the welcome. `epoch`, if not NULL, gets the topic's, of 32 digits and a NUL. */
void talk_enter(struct rude *rude, struct store_router *router, const char *participant,
                const char *query, char *epoch);

/** Sends a GET with a token; the status. To be shut. */
int talk_get(struct rude *rude, struct store_router *router, const char *path,
             const char *participant);

/** Is an envelope with this id in the history? */
bool talk_history_holds(struct store_router *router, const char *id);

/** The status of /readyz, once. */
int talk_ready(struct store_router *router);

/** True once /readyz answers with this status and text. */
bool talk_becomes(struct store_router *router, int status, const char *text);

#endif
