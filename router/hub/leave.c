/*
 * leave.c - leaving, for any reason. A participant leaves its topic at the moment its connection
 * is disconnected; the connection itself may live on until its close frame is through.
 */
#include "router/hub/hub_parts.h"

#include "lib/protocol/capset.h"

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

static bool is_there(const struct peer *peer)
{
    return peer->state == PEER_OPEN || peer->state == PEER_JOINING;
}

void hub_disconnect(struct hub *hub, struct peer *peer, enum mcpx_err err, struct mcpx_now now)
{
    if (!is_there(peer))
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

        if (is_there(peer))
            disconnect(hub, peer, MCPX_EGOING, (int64_t)(at++ * window_ms / count));
    }
    hub_disconnect_slow(hub);
}

/* One welcome, perhaps the first, has all changes until it is read. */
static void owe_welcome(struct peer *peer)
{
    if (peer->owed & OWED_WELCOME)
        return;
    peer->owed |= OWED_WELCOME;
    peer->welcome = (struct welcome){.first = false};
    peer->welcome_at = peer->outbox.len;
    peer_wake(peer);
}

void hub_remind(struct hub *hub, struct peer *peer, struct mcpx_now now)
{
    hub->now = now;
    if (peer->state == PEER_OPEN)
        owe_welcome(peer);
}

/* True when welcome and presence are the same for both. */
static bool shows_the_same(const struct grant *one, const struct grant *other)
{
    return one->routing == other->routing && mx_capset_equals(one->capset, other->capset) &&
           mcpx_slice_equal(mcpx_text_view(&one->capabilities),
                            mcpx_text_view(&other->capabilities)) &&
           mcpx_slice_equal(mcpx_text_view(&one->whole), mcpx_text_view(&other->whole));
}

/* Sends an update, now or when it is committed. A joining peer's join has the new grants. */
static enum mcpx_err tell_update(struct peer *peer)
{
    if (peer->state != PEER_OPEN)
        return MCPX_OK;
    if (peer->hub->config.needs_commit)
        return pending_update(peer) ? MCPX_OK : MCPX_ENOMEM;
    return topic_tell_presence(peer, "update", NULL, NULL);
}

static enum mcpx_err update_grants(struct hub *hub, struct peer *peer, struct grant *grant,
                                   bool quietly, struct mcpx_now now)
{
    struct grant *before = peer->grant;
    struct grant *shown = is_there(peer) ? grant_at(grant, now.wall_ms) : NULL;
    bool tells;
    enum mcpx_err err = MCPX_OK;

    if (!shown)
        return is_there(peer) ? MCPX_ENOMEM : MCPX_ECLOSED;
    hub->now = now;
    tells = !quietly || !shows_the_same(before, shown);
    peer->grant = shown;
    if (tells)
        err = tell_update(peer);
    if (err) {
        peer->grant = before;
        grant_unref(shown);
        return err;
    }
    peer->changes_ms = mcpx_capset_next_expiry(shown->capset, now.wall_ms);
    grant_unref(before);
    if (tells && peer->state == PEER_OPEN) {
        mcpx_text_reset(&peer->topic->listed);
        owe_welcome(peer);
        hub_disconnect_slow(hub);
    }
    return MCPX_OK;
}

enum mcpx_err hub_update_grants(struct hub *hub, struct peer *peer, struct grant *grant,
                                struct mcpx_now now)
{
    return update_grants(hub, peer, grant, false, now);
}

enum mcpx_err hub_update_grants_quietly(struct hub *hub, struct peer *peer,
                                        struct grant *grant, struct mcpx_now now)
{
    return update_grants(hub, peer, grant, true, now);
}

void leave_lost_topic(struct topic *topic)
{
    topic->lost = true;
    while (topic->peer_count > 0)
        hub_disconnect(topic->hub, topic->peers[topic->peer_count - 1], MCPX_ENOMEM,
                       topic->hub->now);
}

/* ---- refusals: too many end a connection ---- */

/*
 * Bytes of errors that senders may leave unread. Otherwise a sender that never reads would fill
 * the router's memory with refusals. A peer may have 1/64 of the free rest of ANSWERS_ALL, at
 * least ANSWERS_FEW.
 */
enum { ANSWERS_ALL = 67108864, ANSWERS_SHARE = 64, ANSWERS_FEW = 16384 };

static size_t answers_max(const struct hub *hub)
{
    uint64_t held = hub->stats.outbox_bytes;
    uint64_t left = held < ANSWERS_ALL ? ANSWERS_ALL - held : 0;

    return left / ANSWERS_SHARE > ANSWERS_FEW ? (size_t)(left / ANSWERS_SHARE) : ANSWERS_FEW;
}

void answer_sender(struct peer *peer, const struct error_notice *error, struct mcpx_now now)
{
    struct hub *hub = peer->hub;
    enum mcpx_err err = error->err;
    size_t queued = peer->outbox.len;
    struct mcpx_slice text;

    hub->stats.refused[err]++;
    if (!notice_error(peer, error, &text) || !peer_queue(peer, text))
        err = MCPX_ENOMEM;
    peer->answers += peer->outbox.len - queued;
    if (mcpx_error_close(err))
        hub_disconnect(hub, peer, err, now);
    else if ((err != MCPX_EUNAVAILABLE && /* that is not its sender's fault */
              !bucket_take(&peer->account->rates.refusals, 1, now)) ||
             peer->answers > answers_max(hub))
        hub_disconnect(hub, peer, MCPX_EFLOOD, now);
}
