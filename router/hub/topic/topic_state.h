/*
 * topic_state.h - what a room is made of, for the files that work on it.
 */
#ifndef HUB_TOPIC_STATE_H
#define HUB_TOPIC_STATE_H

#include "router/hub/log/log.h"
#include "router/hub/log/news.h"
#include "router/hub/topic/account.h"
#include "router/hub/topic/pool.h"
#include "router/hub/topic/query.h"

/** An epoch is 128 random bits in hexadecimal. */
enum { TOPIC_EPOCH_LEN = 32 };

/**
 * How far the envelopes of a topic have come. All are counts of envelopes, from the first one on.
 *
 * in_written   link among the topics with envelopes that were written and not timed
 * round        accepted before the first peer had its turn last: once it has it again, everybody
 *              has had a turn since, though the round may go on for ever
 * written      accepted before a turn that everybody has had
 * timed        counted in the statistics
 */
struct delivery {
    struct link in_written;
    uint64_t round;
    uint64_t written;
    uint64_t timed;
};

/**
 * One room.
 *
 * in_hub          link among all topics; in none while the topic is loaded
 * in_dirty        link among the topics with entries that not every peer was offered yet
 * in_unpublished  link among the topics whose news waits to be published
 * publish_ms      mono_ms by which it has to be
 * peers           its participants' peers, sorted by their ids
 * people          the same by hash of the id
 * seats           seats given out so far: each peer has one of these numbers while it is here
 * free_seats      those that were given back, `free_seat_count` of them; room for peer_size
 * directed        peers that read in directed mode
 * listed          what welcomes say of each participant, each followed by a comma, in the order of
 *                 `peers`; empty = to be written anew
 * turn            index of the peer that hub_next_ready offers next
 * turns_left      how many it has to offer in this round
 * delivery        how far its envelopes have come
 * holders         peers that still point here, condemned ones included: it is freed after the last
 * epoch           names this log: serials of another one mean nothing in it
 * told            the serial its participants were told last
 * pending         submissions that were not answered
 * joining         of them, joins that replace nobody
 * in_idle         link among the topics with neither
 * lost            memory had no room for what is stored: it ends, to be opened again
 * empty_ms        mono_ms since when it has no participant
 * maker           on whose tally it is
 * part            what it has of all logs' memory
 * accounts        what is remembered of its participants, and of those who left and still owe
 */
struct topic {
    struct hub *hub;
    struct link in_hub;
    struct link in_dirty;
    struct link in_unpublished;
    int64_t publish_ms;
    struct mcpx_slice name;
    char epoch[TOPIC_EPOCH_LEN + 1];
    uint64_t told;
    struct peer **peers;
    struct mx_map people;
    size_t peer_count;
    size_t peer_size;
    uint32_t seats;
    uint32_t *free_seats;
    size_t free_seat_count;
    size_t directed;
    struct mcpx_text listed;
    size_t turn;
    size_t turns_left;
    struct delivery delivery;
    size_t holders;
    size_t pending;
    size_t joining;
    struct link in_idle;
    bool lost;
    int64_t empty_ms;
    struct tally *maker;
    struct pool_part part;
    struct accounts accounts;
    struct log log;
    struct news news;
};

/** Bytes of everything it holds that grows with what is said in it. */
static inline size_t topic_memory(const struct topic *topic)
{
    return log_memory(&topic->log) + topic->news.memory;
}

/** Prepares that of an empty log. */
void delivery_init(struct delivery *delivery);

/** The round of turns has come back to the first peer. */
void delivery_came_round(struct topic *topic);

/** Everybody has had a turn since the last envelope was accepted. */
void delivery_done(struct topic *topic);

/** Makes sure that the next by_name_insert cannot fail; false when memory runs out. */
bool by_name_reserve(struct hub *hub);

/** Puts a topic in its place among hub->by_name, or takes it out. */
void by_name_insert(struct topic *topic);
void by_name_remove(const struct topic *topic);

#endif
