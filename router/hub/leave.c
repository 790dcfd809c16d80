/*
 * leave.c - leaving, for any reason. A participant leaves its topic at the moment its connection
 * is disconnected; the connection itself may live on until its close frame is through.
 */
#include "router/hub/hub_parts.h"

/* Sends the leave now, or when it is committed. A join in its place makes it superfluous. */
static void tell_leave(struct peer *peer, struct pending *successor, const char *reason)
{
    if (successor) {
        successor->orphaned = true;
        successor->reason = reason;
    } else if (peer->hub->config.needs_commit) {
        pending_leave(peer, reason);
    } else {
        /* Without memory the others see it in the next welcome. */
        (void)topic_tell_presence(peer, "leave", reason, NULL);
    }
}

void leave_topic(struct peer *peer, enum mcpx_err err)
{
    struct topic *topic = peer->topic;
    struct hub *hub = peer->hub;
    struct pending *successor = pending_presence(topic, peer->id);
    bool was_there = topic_peer(topic, peer->id) == peer;

    topic_remove(topic, peer, hub->now);
    if (was_there && !successor)
        account_leave(&topic->accounts, peer->account, peer->number, hub->now);
    peer->account = NULL;
    if (!was_there || hub->draining)
        return; /* replaced by a newer connection, gone already, or draining */
    /* A plain goodbye needs no reason. */
    tell_leave(peer, successor, err == MCPX_ECLOSED ? NULL : mcpx_error_wire(err));
}

/* `again_ms`: see notice_close. */
static void disconnect(struct hub *hub, struct peer *peer, enum mcpx_err err, int64_t again_ms)
{
    if (err == MCPX_ESLOW) {
        struct error_notice error = {.err = err, .missed = peer->missed};
        struct mcpx_slice text;

        if (notice_error(peer, &error, &text))
            (void)peer_queue(peer, text);
    }
    hub->stats.closed[err]++;
    peer->close_err = err;
    if (peer->state == PEER_OPEN)
        leave_topic(peer, err);
    peer->state = PEER_DISCONNECTED;
    peer->owed = 0;
    mcpx_text_fini(&peer->join);
    notice_close(&peer->outbox, err, again_ms);
    if (peer->outbox.failed)
        mcpx_text_fini(&peer->outbox); /* no memory for the frame: peer_peek only closes */
    peer_count_outbox(peer);
    peer_wake(peer);
}

/*
 * A disconnect sends a `leave`, which may make further readers slow consumers; so this repeats
 * until none is left. Each round takes a peer out of its topic, so it ends.
 */
void hub_disconnect_slow(struct hub *hub)
{
    while (!list_is_empty(&hub->slow)) {
        struct peer *peer = LIST_ELEMENT(hub->slow.next, struct peer, cursor.reader.link);

        hub->stats.slow++;
        disconnect(hub, peer, MCPX_ESLOW, 0);
    }
}

void hub_disconnect(struct hub *hub, struct peer *peer, enum mcpx_err err, struct mcpx_now now)
{
    if (!peer_is_connected(peer))
        return;
    hub->now = now;
    disconnect(hub, peer, err, 0);
    hub_disconnect_slow(hub);
}

void hub_leave(struct hub *hub, struct peer *peer, enum mcpx_err err, struct mcpx_now now)
{
    struct topic *topic = peer->topic;

    hub->now = now;
    if (peer->state == PEER_OPEN)
        leave_topic(peer, err);
    else if (peer->state == PEER_JOINING)
        peer->close_err = err;
    hub->stats.peers--;
    hub->stats.departed += peer->entered;
    pending_free_peer(peer);
    topic->holders--;
    topic_settle(topic);
    hub_disconnect_slow(hub);
}

void hub_drain(struct hub *hub, struct mcpx_now now)
{
    uint64_t count = hub->stats.peers, at = 0;
    uint64_t window_ms = count < DRAIN_SPREAD_MS ? count : DRAIN_SPREAD_MS;

    hub->now = now;
    hub->draining = true;
    LIST_EACH(link, &hub->peers) {
        struct peer *peer = LIST_ELEMENT(link, struct peer, in_hub);

        if (peer_is_connected(peer))
            disconnect(hub, peer, MCPX_EGOING, (int64_t)(at++ * window_ms / count));
    }
    hub_disconnect_slow(hub);
}

void leave_lost_topic(struct topic *topic)
{
    topic->lost = true;
    while (topic->peer_count > 0)
        hub_disconnect(topic->hub, topic->peers[topic->peer_count - 1], MCPX_ENOMEM,
                       topic->hub->now);
}
