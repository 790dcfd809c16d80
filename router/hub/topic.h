/*
 * topic.h - one room: its participants, sorted, its log and its news.
 */
#ifndef HUB_TOPIC_H
#define HUB_TOPIC_H

#include "router/hub/account.h"
#include "router/hub/hub.h"
#include "router/hub/log.h"
#include "router/hub/news.h"
#include "router/hub/order.h"
#include "router/hub/pool.h"
#include "router/hub/tally.h"

struct change;

/** An epoch is 128 random bits in hexadecimal. */
enum { TOPIC_EPOCH_LEN = 32 };

/**
 * One room.
 *
 * in_hub          link among all topics
 * order           the topics behind it, by name
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
 * holders         peers that still point here, condemned ones included: it is freed after the last
 * epoch           names this log: serials of another one mean nothing in it
 * told            the serial its participants were told last
 * empty_ms        mono_ms since when it has no participant
 * maker           on whose tally it is
 * in_made         link among those of its maker
 * part            what it has of all logs' memory
 * accounts        what is remembered of its participants, and of those who left and still owe
 */
struct topic {
    struct hub *hub;
    struct link in_hub;
    struct order order;
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
    size_t holders;
    int64_t empty_ms;
    struct tally *maker;
    struct link in_made;
    struct pool_part part;
    struct accounts accounts;
    struct log log;
    struct news news;
};

/**
 * Makes an empty topic inside the hub, on its maker's tally; `name` is copied. NULL when memory
 * runs out.
 */
struct topic *topic_new(struct hub *hub, struct mcpx_slice name, struct tally *maker,
                        struct mcpx_now now);

/** Takes it out of the hub and frees it; no peer may point to it any more. */
void topic_free(struct topic *topic);

/** Index of the first peer whose id sorts behind `id`; 0 when that is absent. */
size_t topic_place_behind(const struct topic *topic, struct mcpx_slice id);

/** Makes sure that the next topic_insert cannot fail; false when memory runs out. */
bool topic_reserve(struct topic *topic);

/** Puts a peer in its place by its id, replacing one of the same id, and seats it. */
void topic_insert(struct topic *topic, struct peer *peer);

/** Takes a peer out of the room, its cursor too; harmless when it is not in it. */
void topic_remove(struct topic *topic, struct peer *peer, struct mcpx_now now);

/**
 * Appends a message to the log, its seats filled in, publishes the news before it, and frees
 * what nobody needs. Leaves slow readers to hub_condemn_slow. Returns
 * MCPX_OK, MCPX_ENOMEM, or MCPX_ESPACE when all logs together take what they may and none can be
 * made shorter (nothing has changed).
 */
enum mcpx_err topic_append(struct topic *topic, struct log_message *message);

/**
 * Adds the presence of a peer to the news of its topic, to be published with the next message or
 * after a while: those who come in a crowd are told in few writes. Leaves slow
 * readers to hub_condemn_slow.
 *
 * copy   NULL, or gets its frame appended as well
 *
 * Returns MCPX_OK or MCPX_ENOMEM (nothing has changed).
 */
enum mcpx_err topic_tell_presence(const struct peer *peer, struct change change,
                                  struct mcpx_text *copy);

/** Publishes the news now. Leaves slow readers to hub_condemn_slow. */
void topic_publish(struct topic *topic);

/**
 * Forgets what is older than history may be, and frees what nobody needs then. Leaves slow
 * readers to hub_condemn_slow.
 */
void topic_forget_old(struct topic *topic, int64_t wall_ms);

/**
 * Tells everybody where the topic stands (system/position), when what they were told last has come
 * to the older half of a window that moves, or is about to: who comes back can then name a
 * place that is still retained. Costs a few comparisons otherwise, whoever reads. To be called after
 * an envelope was appended, and after the window was moved. Protocol: section 5.
 */
void topic_tell_position(struct topic *topic);

/** Bytes of everything it holds that grows with what is said in it. */
static inline size_t topic_memory(const struct topic *topic)
{
    return log_memory(&topic->log) + topic->news.memory;
}

#endif
