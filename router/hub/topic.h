/*
 * topic.h - one room: its participants, sorted, and its log.
 * Includes layers 0 and 1, debt.h, hub.h, list.h, log.h.
 */
#ifndef HUB_TOPIC_H
#define HUB_TOPIC_H

#include "router/hub/debt.h"
#include "router/hub/hub.h"
#include "router/hub/log.h"

/**
 * One room.
 *
 * in_hub        link among all topics
 * in_dirty      link among the topics with entries that not every peer was offered yet
 * peers         its participants' peers, sorted by participant id
 * people        the same by hash of the participant's id
 * seats         seats given out so far: each peer has one of these numbers while it is here
 * free_seats    those that were given back, `free_seat_count` of them; room for peer_size
 * directed      peers that read in directed mode
 * swept         how many of them hub_next_ready has offered in this round
 * holders       peers that still point here, condemned ones included: it is freed after the last
 * empty_ms      mono_ms since when it has no participant
 * debts         what participants that left still owe to their rates
 */
struct topic {
    struct hub *hub;
    struct link in_hub;
    struct link in_dirty;
    struct mcpx_slice name;
    struct peer **peers;
    struct mx_map people;
    size_t peer_count;
    size_t peer_size;
    uint32_t seats;
    uint32_t *free_seats;
    size_t free_seat_count;
    size_t directed;
    size_t swept;
    size_t holders;
    int64_t empty_ms;
    struct debts debts;
    struct log log;
};

/** Makes an empty topic inside the hub; `name` is copied. NULL when memory runs out. */
struct topic *topic_new(struct hub *hub, struct mcpx_slice name, struct mcpx_now now);

/** Takes it out of the hub and frees it; no peer may point to it any more. */
void topic_free(struct topic *topic);

/** Makes sure that the next topic_insert cannot fail; false when memory runs out. */
bool topic_reserve(struct topic *topic);

/** Puts a peer in its place by participant id, replacing one of the same id, and seats it. */
void topic_insert(struct topic *topic, struct peer *peer);

/** Takes a peer out of the room, its cursor too; harmless when it is not in it. */
void topic_remove(struct topic *topic, struct peer *peer, struct mcpx_now now);

/**
 * Appends a message to the log, its seats filled in, and lets go of what nobody needs. Readers that fell off are left
 * in `hub->fallen`, for hub_settle. Returns MCPX_OK or MCPX_ENOMEM (nothing has changed).
 */
enum mcpx_err topic_append(struct topic *topic, struct log_message *message);

/**
 * Forgets what is older than history may be, and lets go of what nobody needs then. Readers that
 * fell off are left in `hub->fallen`, for hub_settle.
 */
void topic_forget_old(struct topic *topic, int64_t wall_ms);

#endif
