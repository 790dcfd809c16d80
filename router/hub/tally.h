/*
 * tally.h - what one participant has of things there are only so many of, in all topics together.
 */
#ifndef HUB_TALLY_H
#define HUB_TALLY_H

#include "router/hub/grant.h"
#include "router/hub/list.h"

struct hub;

/**
 * One participant's tally. It is there as long as anything is on it.
 *
 * topics        topics that came to be for it and are still there
 * made          the same as a list, oldest first
 * bytes         memory of their logs
 * greedy        that is more than its share (pool.h)
 * connections   its peers, condemned ones included
 * peers         the same as a list, oldest first
 * openings      topics that are being opened because it asked for them
 * turn_open     its last place in the line of these (opening.c); 0 = none
 * pending       bytes of their messages that were not answered (pending.h)
 * unsent        bytes that the edge holds for them because their sockets were full
 * turn, cost    the edge's loop turn in which it was last heard, and what it has cost in that one
 */
struct tally {
    struct mcpx_slice identity;
    size_t topics;
    struct link made;
    size_t bytes;
    bool greedy;
    size_t connections;
    struct link peers;
    size_t openings;
    uint64_t turn_open;
    size_t pending;
    size_t unsent;
    uint64_t turn, cost;
};

/** Topics that were loaded are on the tally of nobody, who is never greedy. */
extern const struct grant tally_nobody;

static inline bool tally_is_nobodys(const struct tally *tally)
{
    return tally->identity.len == 0;
}

/** The tally of who a grant belongs to, or NULL when nothing is on it. */
struct tally *tally_find(const struct hub *hub, const struct grant *grant);

/** The same, made when there is none; NULL when memory runs out. */
struct tally *tally_open(struct hub *hub, const struct grant *grant);

/** Frees it when nothing is on it. To be called when something was taken off. NULL is allowed. */
void tally_close(struct hub *hub, struct tally *tally);

#endif
