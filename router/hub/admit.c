/*
 * admit.c - a participant comes in. Everything that can fail is done before anything is changed,
 * so that a refused or failed join leaves no trace and, in a takeover, the old connection lives.
 */
#include "router/hub/cursor.h"
#include "router/hub/hub_state.h"
#include "router/hub/instance.h"
#include "router/hub/notice.h"
#include "router/hub/topic.h"

#include <stdlib.h>

static bool is_full(size_t count, size_t max)
{
    return max != 0 && count >= max;
}

/* Coming and going is told to everybody: it is damped, whatever ended the connections. */
static bool comes_too_often(const struct topic *topic, const struct grant *grant,
                            struct mcpx_now now)
{
    const struct account *account =
        topic ? accounts_find(&topic->accounts, grant->identity) : NULL;

    return account && bucket_left(&account->rates.joins, now) == 0;
}

/* Would it be let in, and at which place? */
static enum mcpx_err check_admission(const struct hub *hub, const struct grant *grant,
                                     const struct admission *admission, struct mcpx_now now,
                                     struct instance *instance)
{
    const struct hub_config *config = &hub->config;
    const struct topic *topic = hub_topic_find(hub, admission->topic);
    const struct tally *tally = tally_find(hub, grant);
    enum mcpx_err err;

    if (hub->draining)
        return MCPX_EGOING;
    if (!topic && !config->create)
        return MCPX_ENOTOPIC;
    if (!topic && is_full(hub->stats.topics, config->topics_max))
        return MCPX_EFULL;
    if (!topic && tally && is_full(tally->topics, config->topics_each))
        return MCPX_ESHARE;
    if (comes_too_often(topic, grant, now))
        return MCPX_EFLAPPING;
    err = instance_find(hub, topic, grant, admission, now, instance);
    if (err || instance->old)
        return err;
    if (is_full(hub->stats.peers, config->connections_max) ||
        (topic && is_full(topic->peer_count, config->participants_max)))
        return MCPX_EFULL;
    if (tally && is_full(tally->connections, config->connections_each))
        return MCPX_ESHARE;
    return MCPX_OK;
}

enum mcpx_err hub_may_admit(const struct hub *hub, const struct grant *grant,
                            const struct admission *admission, struct mcpx_now now)
{
    struct instance instance;

    return check_admission(hub, grant, admission, now, &instance);
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

/* The id is copied behind it: a grant may be exchanged. */
static struct peer *peer_new(struct hub *hub, struct grant *grant,
                             const struct instance *instance, void *owner, struct mcpx_now now)
{
    struct peer *peer = calloc(1, sizeof *peer + instance->id_len);

    if (!peer)
        return NULL;
    memcpy(peer + 1, instance->text, instance->id_len);
    peer->id = (struct mcpx_slice){(const char *)(peer + 1), instance->id_len};
    peer->number = instance->number;
    peer->instance_key = instance->key;
    peer->grant = grant_at(grant, now.wall_ms);
    if (!peer->grant) {
        free(peer);
        return NULL;
    }
    peer->hub = hub;
    peer->owner = owner;
    peer->seat = PEER_NO_SEAT;
    peer->heard_ms = now.mono_ms;
    peer->changes_ms = mcpx_capset_next_expiry(grant->capset, now.wall_ms);
    list_init(&peer->in_ready);
    list_init(&peer->in_hub);
    log_reader_init(&peer->cursor.reader);
    news_reader_init(&peer->cursor.news);
    return peer;
}

/* Takeovers belong to the id, not to the connection that brought it. */
static void inherit_takeovers(struct peer *peer, const struct peer *old, struct mcpx_now now)
{
    for (size_t i = 1; i < PEER_TAKEOVERS; i++)
        peer->takeovers[i - 1] = old->takeovers[i];
    peer->takeovers[PEER_TAKEOVERS - 1] = now.mono_ms ? now.mono_ms : 1;
}

/*
 * Places the joiner's cursor, notes what it is owed, tells the topic. Its hold on the log is there
 * before telling may let memory go.
 */
static enum mcpx_err begin_join(struct peer *peer, struct topic *topic,
                                const struct admission *admission, bool replaces)
{
    struct change change = {"join", replaces ? "takeover" : NULL};
    enum mcpx_err err;

    peer->topic = topic;
    peer->sender = log_sender(&topic->log, peer->id);
    peer->cursor.directed = reads_directed(topic->hub, peer->grant, admission);
    if (!topic_reserve(topic))
        return MCPX_ENOMEM;
    peer->account = accounts_open(&topic->accounts, peer->grant->identity);
    if (!peer->account)
        return MCPX_ENOMEM;
    cursor_start(peer, admission);
    err = topic_tell_presence(peer, change, &peer->join);
    peer->owed = OWED_WELCOME | OWED_JOIN;
    if (err)
        log_reader_release(&peer->cursor.reader);
    peer_count_outbox(peer);
    return err;
}

/* From here on nothing can fail. */
static void finish_join(struct peer *peer, struct peer *old, struct tally *tally,
                        struct mcpx_now now)
{
    struct topic *topic = peer->topic;
    struct hub *hub = peer->hub;

    account_enter(&topic->accounts, peer->account, peer->number);
    (void)bucket_take(&peer->account->rates.joins, 1, now); /* check_admission has asked */
    if (old)
        inherit_takeovers(peer, old, now);
    topic_insert(topic, peer); /* in the place of `old`, which is in no topic now */
    topic->holders++;
    list_append(&hub->peers, &peer->in_hub);
    hub->stats.peers++;
    hub->stats.admitted++;
    peer->tally = tally;
    tally->connections++;
    if (old) {
        hub->stats.takeovers++;
        hub_condemn(hub, old, MCPX_EREPLACED, now);
    }
    peer_wake(peer);
    hub_condemn_slow(hub);
}

enum mcpx_err hub_admit(struct hub *hub, struct grant *grant,
                        const struct admission *admission, void *owner, struct mcpx_now now,
                        struct peer **out)
{
    struct topic *topic = hub_topic(hub, admission->topic);
    bool is_new = !topic;
    struct peer *peer = NULL;
    struct instance instance;
    struct tally *tally;
    enum mcpx_err err = check_admission(hub, grant, admission, now, &instance);

    hub->now = now;
    if (err)
        return err;
    tally = tally_open(hub, grant);
    if (!tally)
        return MCPX_ENOMEM;
    err = MCPX_ENOMEM;
    if (is_new)
        topic = topic_new(hub, admission->topic, tally, now);
    if (!topic)
        goto out;
    peer = peer_new(hub, grant, &instance, owner, now);
    if (!peer)
        goto out;
    err = begin_join(peer, topic, admission, instance.old != NULL);
    if (err)
        goto out;
    finish_join(peer, instance.old, tally, now);
    *out = peer;
    return MCPX_OK;
out:
    if (peer)
        peer_free(peer);
    if (is_new && topic)
        topic_free(topic); /* and the tally with it, when nothing else is on it */
    else
        tally_close(hub, tally);
    return err;
}
