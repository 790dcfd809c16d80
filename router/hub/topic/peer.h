/*
 * peer.h - connections for the edge that writes to them: the next connection in turn, its next
 * bytes, its participant.
 */
#ifndef HUB_PEER_H
#define HUB_PEER_H

#include "router/policy/grants/grant.h"
#include <mcpx/text.h>

#include <limits.h>

struct hub;
struct peer;

/** Any free instance. */
#define INSTANCE_AUTO UINT_MAX

/** A participant's request to join. Protocol: sections 5 and 7. */
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
 * True when readers with free sockets keep more of a log than its backlog. The hub does not
 * disconnect them for that; the edge must write before it reads on.
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
 * stalled. A welcome lists the current participants; later presence follows. Its members about
 * history and resuming may change until then (protocol section 5).
 */
bool peer_peek(struct peer *peer, struct output *output);

/** The bytes of the last peer_peek are written. */
void peer_pop(struct peer *peer);

/** The socket takes no more for now: hub_next_ready passes the peer over. */
void peer_stall(struct peer *peer);

/**
 * Delays a joiner's welcome, until peer_stall or peer_unstall: hub_next_ready passes the peer over
 * as if it were stalled, but the peer does not count as a slow consumer.
 */
void peer_hold_back(struct peer *peer);

/** The socket takes bytes again, or the welcome has waited. Counts as a sign of life. */
void peer_unstall(struct peer *peer, struct mcpx_now now);

/** Anything was received from the peer, a pong included: it lives. */
void peer_heard(struct peer *peer, struct mcpx_now now);

/** Bytes of private frames waiting; the edge flushes a peer early when many errors pile up. */
size_t peer_private_bytes(const struct peer *peer);

/** Adds to the cost of all peers of its participant in loop iteration `turn`. Returns the sum. */
uint64_t peer_turn_cost(struct peer *peer, uint64_t turn, uint64_t cost);

/** Sets the bytes that the edge holds for the peer because its socket was full. */
void peer_note_unsent(struct peer *peer, size_t bytes);

/** The sum of those bytes for all peers of its participant. */
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

/** True while its join is pending: it is in no topic, and cannot read or send yet. */
bool peer_is_joining(const struct peer *peer);

/** Why the peer is disconnected, as its close frame says; MCPX_OK while it is not. */
enum mcpx_err peer_close_err(const struct peer *peer);

/** Its id for others: the grant's identity, or an instance of it. Lent until it is freed. */
struct mcpx_slice peer_id(const struct peer *peer);

/** Lent until the peer is freed. */
const struct grant *peer_grant(const struct peer *peer);

/** The name of the peer's topic; lent until the peer is freed. */
struct mcpx_slice peer_topic_name(const struct peer *peer);

#endif
