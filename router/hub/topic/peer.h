/*
 * peer.h - connections as whoever writes to them knows them: whose turn it is, the bytes that come
 * next, who stands behind one.
 */
#ifndef HUB_PEER_H
#define HUB_PEER_H

#include "router/policy/grants/grant.h"
#include <mcpx/text.h>

#include <limits.h>

struct hub;
struct peer;

/** Whichever instance is free. */
#define INSTANCE_AUTO UINT_MAX

/** How a participant wants to come in. Protocol: sections 5 and 7. */
struct admission {
    struct mcpx_slice topic; /* valid topic name (mcpx_topic_name_is_valid) */
    enum routing routing; /* from ?routing=; ROUTING_DEFAULT = the grant's, then the topic's */
    bool has_history;     /* ?history= was given */
    size_t history;       /* its value */
    struct mcpx_slice after; /* ?after=, absent when not given */
    struct mcpx_slice epoch; /* ?epoch=, absent when not given */
    uint64_t serial;         /* ?serial=, given together with it */
    unsigned instance;       /* ?instance=: 1 .. INSTANCES_MAX, INSTANCE_AUTO; 0 = not given */
    struct mcpx_slice instance_key; /* ?instance_key=, absent when not given */
};

/** A peer that has bytes to write and is not stalled, or NULL. Peers take turns. */
struct peer *hub_next_ready(struct hub *hub);

/**
 * True when readers that only wait for their turn hold on to more of a log than its backlog. They
 * do not fall off for that; the edge has to write before it reads on.
 */
bool hub_is_pressed(const struct hub *hub);

/** One contiguous run of whole WebSocket frames. */
struct output {
    /* `bytes`, `len`: lent until peer_pop or any hub_* call. */
    const char *bytes;
    size_t len;
    /* The run ends with a close frame: write it, then shut the connection. Without memory for
     * the frame the run is empty. */
    bool close;
};

/**
 * The next bytes for this peer: welcome and private frames first, then a run of envelopes and
 * presence of at most 256 KiB or one frame. False when there is nothing (any more), or the peer is
 * stalled. A welcome says who is there now; presence from then on is told. What it says of history
 * and resuming may change until then (protocol section 5).
 */
bool peer_peek(struct peer *peer, struct output *output);

/** The bytes of the last peer_peek are written. */
void peer_pop(struct peer *peer);

/** The socket takes no more for now: hub_next_ready passes the peer over. */
void peer_stall(struct peer *peer);

/**
 * The edge wants a joiner's welcome to wait: hub_next_ready passes the peer over as if it were
 * stalled, but it does not fall off the log. Until peer_stall or peer_unstall.
 */
void peer_hold_back(struct peer *peer);

/** The socket takes bytes again, or the welcome has waited. Counts as a sign of life. */
void peer_unstall(struct peer *peer, struct mcpx_now now);

/** Anything was received from the peer, a pong included: it lives. */
void peer_heard(struct peer *peer, struct mcpx_now now);

/** Bytes of private frames waiting; the edge flushes a peer early when many errors pile up. */
size_t peer_private_bytes(const struct peer *peer);

/**
 * Adds to what all peers of its participant have cost in the loop's turn `turn`. Returns the sum.
 */
uint64_t peer_turn_cost(struct peer *peer, uint64_t turn, uint64_t cost);

/** Tells how many bytes the edge holds for the peer because its socket was full. */
void peer_note_unsent(struct peer *peer, size_t bytes);

/** How many that are for all peers of its participant together. */
size_t peer_unsent_share(const struct peer *peer);

/** Walks all peers, those that join and those disconnected included: NULL begins, and ends. */
struct peer *hub_peer_after(const struct hub *hub, const struct peer *peer);

/** The same for the peers of one participant, without looking at any other. */
struct peer *hub_peer_of(const struct hub *hub, struct mcpx_slice identity,
                         const struct peer *peer);

/** The pointer given to hub_admit. */
void *peer_owner(const struct peer *peer);

/** True from the moment the peer is to be closed. Its participant has left the topic. */
bool peer_is_disconnected(const struct peer *peer);

/** True while its join is pending: it is in no topic, and has nothing to read or to say yet. */
bool peer_is_joining(const struct peer *peer);

/** Why the peer is disconnected, as its close frame says; MCPX_OK while it is not. */
enum mcpx_err peer_close_err(const struct peer *peer);

/** What others know it by: the grant's identity, or an instance of it. Lent until it is freed. */
struct mcpx_slice peer_id(const struct peer *peer);

/** Lent until the peer is freed. */
const struct grant *peer_grant(const struct peer *peer);

/** The name of the peer's topic; lent until the peer is freed. */
struct mcpx_slice peer_topic_name(const struct peer *peer);

#endif
