/*
 * pool.h - what participants hold in the hub, and the memory of all topics' logs together: when it
 * is used up, who gives some back next (topic.h). Protocol: section 5 (bounds).
 */
#ifndef HUB_POOL_H
#define HUB_POOL_H

#include "lib/base/holders.h"
#include "router/hub/log/list.h"
#include "router/policy/grants/grant.h"
#include <mcpx/base.h>

struct hub;
struct topic;

/**
 * Where a topic stands.
 *
 * POOL_HISTORY   it may be able to give back history
 * POOL_HELD      what it could give back is still to be read by somebody
 * POOL_WAITING   by somebody who only waits for their turn: looked at again after the next round
 * POOL_NOWHERE   it can give nothing back as far as is known: looked at again when it changes
 */
enum pool_line { POOL_HISTORY, POOL_HELD, POOL_WAITING, POOL_NOWHERE };

/** Lines of topics that can give something back, in the order in which they do. */
enum { POOL_LINES = POOL_HELD + 1 };

/**
 * One participant's tally. It is there as long as anything is on it. A topic that was loaded came
 * to be for nobody who is known: it is on a tally of its own.
 *
 * topics        topics that came to be for it and are still there
 * lines         those of them that can give something back
 * connections   its peers, condemned ones included
 * peers         the same as a list, oldest first
 * openings      topics that are being opened because it asked for them
 * pending       bytes of their messages that were not answered (hub_parts.h)
 * unsent        bytes that the edge holds for them because their sockets were full
 * turn, cost    the edge's loop turn in which it was last heard, and what it has cost in that one
 * round         the round of turns (output.c) in which they were last sent much
 * written       bytes of that
 */
struct tally {
    struct mcpx_slice identity;
    size_t topics;
    struct link lines[POOL_LINES];
    size_t connections;
    struct link peers;
    size_t openings;
    size_t pending;
    size_t unsent;
    uint64_t turn, cost;
    uint64_t round, written;
};

/** The tally of a participant, or NULL when nothing is on it. */
struct tally *tally_find(const struct hub *hub, struct mcpx_slice identity);

/** That of who a grant belongs to, made when there is none; NULL when memory runs out. */
struct tally *tally_open(struct hub *hub, const struct grant *grant);

/** A tally for one topic that is loaded; NULL when memory runs out. */
struct tally *tally_open_loaded(struct hub *hub, struct mcpx_slice topic);

/** Frees it when nothing is on it. To be called when something was taken off. NULL is allowed. */
void tally_close(struct hub *hub, struct tally *tally);

/**
 * All logs' memory.
 *
 * max       bytes; 0 = no bound, and nothing below is kept
 * used      bytes that all topics hold
 * makers    what the tallies have in their lines
 * waiting   topics whose readers have not had their turn
 */
struct pool {
    size_t max;
    size_t used;
    struct mx_holders makers;
    struct link waiting;
};

/** A topic's part: what it was last counted with, how much of that at its maker's, its line. */
struct pool_part {
    struct link link;
    size_t memory, offered;
    enum pool_line line;
};

/** Prepares an empty pool of so many bytes; 0 = no bound. */
void pool_init(struct pool *pool, struct mx_map_key key, size_t max);

/** Frees it; there are no topics any more. */
void pool_fini(struct pool *pool);

/** Prepares a topic's part, which holds nothing. */
void pool_part_init(struct pool_part *part);

/**
 * Counts what a topic holds now (topic_memory), and has it asked again for some of that. To be
 * called whenever that may have changed, or its last participant has left.
 */
void pool_count(struct topic *topic);

/** A topic goes, with all it holds. Its maker is still there. */
void pool_forget(struct topic *topic);

/** The topic that gives something back next, or NULL; `part.line` says what. */
struct topic *pool_first(const struct hub *hub);

/** Puts a topic into another line. */
void pool_enter(struct topic *topic, enum pool_line line);

/** A round is over: who waited for it may have read what was in the way. */
void pool_retry_waiting(struct hub *hub);

/** What one topic may have so that all have the same; 0 = no bound. */
size_t pool_share(const struct hub *hub);

#endif
