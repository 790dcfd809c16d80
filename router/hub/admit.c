/*
 * admit.c - a participant comes in. Everything that can fail is done before anything is changed,
 * so that a refused or failed join leaves no trace and, in a takeover, the old connection lives.
 * Includes cursor.h, hub_state.h, notice.h.
 */
#include "router/hub/cursor.h"
#include "router/hub/hub_state.h"
#include "router/hub/notice.h"

#include <stdlib.h>

static const int64_t takeover_window_ms = 60000;

/* A participant may be refused this often in a minute before its connection is. */
static const uint64_t refusals_per_minute = 600;

static enum mcpx_err may_replace(const struct hub *hub, const struct peer *old,
                                 struct mcpx_now now)
{
    if (!hub->config.takeover)
        return MCPX_EPRESENT;
    if (old->takeovers[0] != 0 && now.mono_ms - old->takeovers[0] < takeover_window_ms)
        return MCPX_EFLAPPING;
    return MCPX_OK;
}

static bool is_full(size_t count, size_t max)
{
    return max != 0 && count >= max;
}

enum mcpx_err hub_may_admit(const struct hub *hub, const struct grant *grant,
                            const struct admission *admission, struct mcpx_now now)
{
    const struct hub_config *config = &hub->config;
    const struct topic *topic = hub_find(hub, admission->topic);
    const struct peer *old;

    if (hub->draining)
        return MCPX_EGOING;
    if (!topic && !config->create)
        return MCPX_ENOTOPIC;
    if (!topic && is_full(hub->stats.topics, config->topics_max))
        return MCPX_EFULL;
    old = topic ? topic_peer(topic, grant->participant) : NULL;
    if (old)
        return may_replace(hub, old, now);
    if (is_full(hub->stats.peers, config->connections_max) ||
        (topic && is_full(topic->peer_count, config->participants_max)))
        return MCPX_EFULL;
    return MCPX_OK;
}

static bool reads_directed(const struct hub *hub, const struct grant *grant,
                           const struct admission *admission)
{
    if (admission->routing != ROUTING_DEFAULT)
        return admission->routing == ROUTING_DIRECTED;
    if (grant->routing != ROUTING_DEFAULT)
        return grant->routing == ROUTING_DIRECTED;
    return hub->config.directed;
}

static struct peer *peer_new(struct hub *hub, struct grant *grant, void *owner,
                             struct mcpx_now now)
{
    struct peer *peer = calloc(1, sizeof *peer);

    if (!peer)
        return NULL;
    peer->grant = grant_at(grant, now.wall_ms);
    if (!peer->grant) {
        free(peer);
        return NULL;
    }
    peer->hub = hub;
    peer->owner = owner;
    peer->seat = PEER_NO_SEAT;
    peer->heard_ms = now.mono_ms;
    peer->rates.messages.per_minute = hub->config.messages_per_minute;
    peer->rates.bytes.per_minute = hub->config.bytes_per_minute;
    peer->rates.refusals.per_minute = refusals_per_minute;
    peer->changes_ms = mcpx_capset_next_expiry(grant->capset, now.wall_ms);
    list_init(&peer->in_ready);
    list_init(&peer->in_hub);
    log_reader_init(&peer->cursor.reader);
    news_reader_init(&peer->cursor.news);
    return peer;
}

/* Rates and takeovers belong to the participant, not to the connection that brought it. */
static void inherit(struct peer *peer, const struct peer *old, struct mcpx_now now)
{
    peer->rates = old->rates;
    for (size_t i = 1; i < PEER_TAKEOVERS; i++)
        peer->takeovers[i - 1] = old->takeovers[i];
    peer->takeovers[PEER_TAKEOVERS - 1] = now.mono_ms ? now.mono_ms : 1;
}

/*
 * Places the joiner's cursor, notes what it is owed, tells the topic. Its hold on the log is there
 * before telling may let memory go.
 */
static enum mcpx_err enter(struct peer *peer, struct topic *topic,
                           const struct admission *admission, bool replaces)
{
    struct change change = {"join", replaces ? "takeover" : NULL};
    struct welcome *welcome = &peer->welcome;
    enum mcpx_err err;

    peer->topic = topic;
    peer->sender = log_sender(&topic->log, peer->grant->participant);
    peer->cursor.directed = reads_directed(topic->hub, peer->grant, admission);
    if (!topic_reserve(topic))
        return MCPX_ENOMEM;
    welcome->first = true;
    cursor_start(peer, admission, &welcome->count, &welcome->resumed);
    err = notice_presence(topic, peer->grant, change, &peer->join);
    peer->owed = OWED_WELCOME | OWED_JOIN;
    if (err)
        log_reader_release(&peer->cursor.reader);
    else
        topic->hub->stats.resumed += welcome->resumed;
    peer_count_outbox(peer);
    return err;
}

/* From here on nothing can fail. */
static void settle_in(struct peer *peer, struct peer *old, struct mcpx_now now)
{
    struct topic *topic = peer->topic;
    struct hub *hub = peer->hub;

    debts_collect(&topic->debts, peer->grant->participant, &peer->rates);
    if (old)
        inherit(peer, old, now);
    topic_insert(topic, peer); /* in the place of `old`, which is in no topic now */
    topic->holders++;
    list_append(&hub->peers, &peer->in_hub);
    hub->stats.peers++;
    hub->stats.admitted++;
    if (old) {
        hub->stats.takeovers++;
        hub_condemn(hub, old, MCPX_EREPLACED, now);
    }
    peer_wake(peer);
    hub_settle(hub);
}

enum mcpx_err hub_admit(struct hub *hub, struct grant *grant,
                        const struct admission *admission, void *owner, struct mcpx_now now,
                        struct peer **out)
{
    struct topic *topic = hub_find(hub, admission->topic);
    bool is_new = !topic;
    struct peer *peer = NULL;
    struct peer *old;
    enum mcpx_err err = hub_may_admit(hub, grant, admission, now);

    hub->now = now;
    if (err)
        return err;
    err = MCPX_ENOMEM;
    if (is_new)
        topic = topic_new(hub, admission->topic, now);
    if (!topic)
        goto out;
    old = topic_peer(topic, grant->participant);
    peer = peer_new(hub, grant, owner, now);
    if (!peer)
        goto out;
    err = enter(peer, topic, admission, old != NULL);
    if (err)
        goto out;
    settle_in(peer, old, now);
    *out = peer;
    return MCPX_OK;
out:
    if (peer)
        peer_free(peer);
    if (is_new && topic)
        topic_free(topic);
    return err;
}
