/*
 * pool.h - the memory that all topics' logs have together, and who is the next to give some back
 * when it is used up (topic.h). Protocol: section 5 (bounds).
 */
#ifndef HUB_POOL_H
#define HUB_POOL_H

#include "router/hub/log/list.h"
#include "router/policy/grants/grant.h"
#include <mcpx/base.h>

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
 * pending       bytes of their messages that were not answered (pending.h)
 * unsent        bytes that the edge holds for them because their sockets were full
 * turn, cost    the edge's loop turn in which it was last heard, and what it has cost in that one
 * round         the round of turns (output.c) in which they were last sent much
 * written       bytes of that
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
    size_t pending;
    size_t unsent;
    uint64_t turn, cost;
    uint64_t round, written;
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

struct topic;

/** Four classes of size for each power of two. */
enum { POOL_CLASSES = 256 };

/**
 * Where a topic stands.
 *
 * POOL_NOWHERE   it can give nothing back as far as is known; looked at again when it changes, or
 *                at the next tick
 * POOL_EMPTY     nobody is in it
 * POOL_OCCUPIED  somebody is
 * POOL_HELD      what it could give back is still to be read by somebody
 * POOL_WAITING   by somebody who only waits for their turn: looked at again after the next round
 */
enum pool_line { POOL_NOWHERE, POOL_EMPTY, POOL_OCCUPIED, POOL_HELD, POOL_WAITING };

/** Topics by what they hold; a bit for each class that has any. */
struct pool_sizes {
    struct link classes[POOL_CLASSES];
    uint64_t taken[POOL_CLASSES / 64];
};

/**
 * Topics that can give something back.
 *
 * empty     those without participants, those empty for longest first
 * occupied  the others
 * held      those of them whose readers lag
 */
struct pool_lines {
    struct link empty;
    struct pool_sizes occupied, held;
};

/**
 * All logs' memory.
 *
 * max       bytes; 0 = no bound, and nothing below is kept
 * used      bytes that all topics hold
 * greedy    the topics of the maker that has more than its share, who is the only one then
 * others    those of all others
 * waiting   topics whose readers have not had their turn
 */
struct pool {
    size_t max;
    size_t used;
    struct link waiting;
    struct pool_lines greedy, others;
};

/** A topic's part of it: what it was last counted with, and where it stands in `lines`. */
struct pool_part {
    struct link link;
    struct pool_lines *lines;
    size_t memory;
    unsigned char line;
    unsigned char class;
};

/** Prepares an empty pool of so many bytes; 0 = no bound. */
void pool_init(struct pool *pool, size_t max);

/** Prepares a topic's part, which holds nothing. */
void pool_part_init(struct pool_part *part);

/**
 * Counts what a topic holds now (topic_memory) and puts it where it belongs. To be called whenever
 * that may have changed, or its first participant came, or its last one left.
 */
void pool_count(struct topic *topic);

/** A topic goes, with all it holds. Its maker is still there. */
void pool_forget(struct topic *topic);

/** The topic that gives something back next, or NULL; `part.line` says why it is that. */
struct topic *pool_first(struct pool *pool);

/** Puts a topic at the end of another line; not POOL_NOWHERE. */
void pool_enter(struct topic *topic, enum pool_line line);

/** Takes a topic's part out of its line: POOL_NOWHERE. */
void pool_leave(struct pool_part *part);

/** A round is over: who waited for it may have read what was in the way. */
void pool_retry_waiting(struct hub *hub);

/** What one topic may have so that all have the same; 0 = no bound. */
size_t pool_share(const struct hub *hub);

#endif
