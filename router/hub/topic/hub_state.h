/*
 * hub_state.h - what the files of the hub share: the state behind hub.h.
 */
#ifndef HUB_HUB_STATE_H
#define HUB_HUB_STATE_H

#include "router/hub/topic/hub_config.h"
#include "router/hub/topic/peer_state.h"
#include "router/hub/topic/pool.h"

/**
 * The hub.
 *
 * now          as told by the last call: what is composed later (pages) is stamped with it
 * topics       all of them, in order of creation; `names` finds them
 * peers        all of them, condemned ones included
 * unchecked    the first of them that this round of hub_tick has not looked at yet; `peers` itself
 *              when the round is over
 * dirty        topics whose peers are to be offered new entries
 * unpublished  topics whose news waits to be published, the first due first
 * written      topics with envelopes whose delivery is to be timed
 * ready        peers to be offered out of turn
 * postponed    peers to be offered when nobody else is left (output.c)
 * round        how often everybody has had a turn
 * postpones    some participant was sent so much in this round that its peers wait
 * slow         readers that lost their place in a log, until hub_condemn_slow condemns them
 * lag          see hub_lag
 * pool         the memory of all topics' logs
 * by_name      the topics, sorted; room for by_name_size
 * tallies      by hash of the participant
 * scratch      a text being composed
 * pressed      see hub_is_pressed
 * idle         topics that nobody points to and of which nothing is pending, longest so first
 * last_ticket  tickets given out so far
 * waits        see hub_waits
 * seats        who is addressed by the message being appended
 * derived      the kind completed for the message being routed
 * match_ns     see hub_time_matches; NULL = nothing is timed
 * untimed      decisions until the next one that is timed
 */
struct hub {
    struct hub_config config;
    struct chance chance;
    struct mx_map_key key;
    struct mcpx_now now;
    struct link topics;
    struct link peers;
    struct link *unchecked;
    struct link dirty;
    struct link unpublished;
    struct link written;
    struct link ready;
    struct link postponed;
    uint64_t round;
    struct link slow;
    struct mx_map names;
    struct topic **by_name;
    size_t by_name_size;
    struct mx_map tallies;
    struct mcpx_text scratch;
    struct mcpx_text derived;
    uint64_t (*match_ns)(void);
    unsigned untimed;
    struct mcpx_text seats;
    struct mcpx_envelope envelope, loaded;
    struct stats stats;
    struct lag lag;
    struct pool pool;
    struct pendings *pendings;
    struct openings *openings;
    struct link idle;
    uint64_t last_ticket;
    uint64_t waits;
    int64_t next_tick_ms;
    bool draining;
    bool pressed;
    bool postpones;
};

/** The same topic as hub_topic_find gives, for who is going to change it. */
struct topic *hub_topic(struct hub *hub, struct mcpx_slice name);

#endif
