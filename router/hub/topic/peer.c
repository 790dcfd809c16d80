/*
 * peer.c - one connection: its id, the state of its socket, and the private frames waiting for the
 * socket. The edge and the files above use it.
 */

#include "router/hub/topic/hub_state.h"

void peer_wake(struct peer *peer)
{
    if (!peer->stalled && list_is_empty(&peer->in_ready))
        list_append(&peer->hub->ready, &peer->in_ready);
}

void peer_count_outbox(struct peer *peer)
{
    size_t size = peer->outbox.size + peer->join.size;

    peer->hub->stats.outbox_bytes += size - peer->outbox_counted;
    peer->outbox_counted = size;
}

bool peer_queue(struct peer *peer, struct mcpx_slice text)
{
    if (!frame_reserve(&peer->outbox, FRAME_HEAD_MAX + text.len))
        return false;
    frame_add(&peer->outbox, text);
    peer_count_outbox(peer);
    peer_wake(peer);
    return true;
}

void peer_end(struct peer *peer)
{
    if (peer->hub->unchecked == &peer->in_hub)
        peer->hub->unchecked = peer->in_hub.next;
    list_remove(&peer->in_ready);
    list_remove(&peer->in_hub);
    list_remove(&peer->in_usage);
    if (peer->usage) {
        peer->usage->connections--;
        peer->usage->unsent -= peer->unsent;
    }
    usage_close(peer->hub, peer->usage);
    mcpx_text_fini(&peer->outbox);
    mcpx_text_fini(&peer->join);
    peer_count_outbox(peer);
    peer->state = PEER_GONE;
}

void peer_stall(struct peer *peer)
{
    peer->stalled = true;
    peer->held_back = false;
    list_remove(&peer->in_ready);
}

void peer_hold_back(struct peer *peer)
{
    peer_stall(peer);
    peer->held_back = true;
}

void peer_unstall(struct peer *peer, struct mcpx_now now)
{
    peer->stalled = peer->held_back = false;
    peer_heard(peer, now);
    peer_wake(peer);
}

void peer_heard(struct peer *peer, struct mcpx_now now)
{
    peer->heard_ms = now.mono_ms;
    peer->pings = 0;
}

size_t peer_private_bytes(const struct peer *peer)
{
    return peer->outbox.len;
}

uint64_t peer_turn_cost(struct peer *peer, uint64_t turn, uint64_t cost)
{
    struct usage *usage = peer->usage;

    if (usage->turn != turn)
        usage->cost = 0;
    usage->turn = turn;
    usage->cost += cost;
    return usage->cost;
}

void peer_note_unsent(struct peer *peer, size_t bytes)
{
    peer->usage->unsent += bytes - peer->unsent;
    peer->unsent = bytes;
}

size_t peer_unsent_share(const struct peer *peer)
{
    return peer->usage->unsent;
}

struct peer *hub_peer_after(const struct hub *hub, const struct peer *peer)
{
    const struct link *next = peer ? peer->in_hub.next : hub->peers.next;

    return next == &hub->peers ? NULL : LIST_ELEMENT(next, struct peer, in_hub);
}

struct peer *hub_peer_of(const struct hub *hub, struct mcpx_slice identity,
                         const struct peer *peer)
{
    const struct usage *usage = peer ? peer->usage : usage_find(hub, identity);
    const struct link *next;

    if (!usage)
        return NULL;
    next = peer ? peer->in_usage.next : usage->peers.next;
    return next == &usage->peers ? NULL : LIST_ELEMENT(next, struct peer, in_usage);
}

void *peer_owner(const struct peer *peer)
{
    return peer->owner;
}

bool peer_is_disconnected(const struct peer *peer)
{
    return peer->state == PEER_DISCONNECTED || peer->state == PEER_SHUT;
}

bool peer_is_joining(const struct peer *peer)
{
    return peer->state == PEER_JOINING;
}

enum mcpx_err peer_close_err(const struct peer *peer)
{
    return peer->close_err;
}

struct mcpx_slice peer_id(const struct peer *peer)
{
    return peer->id;
}

const struct grant *peer_grant(const struct peer *peer)
{
    return peer->grant;
}

struct mcpx_slice peer_topic_name(const struct peer *peer)
{
    return peer->topic->name;
}
