/*
 * hub.c - the hub's own life, changes of its settings and its participants' grants, and its clock.
 */
#include "router/hub/hub_parts.h"

#include "lib/protocol/capset.h"

#include <stdlib.h>

/* How often deadlines are looked at; none is finer than this. */
static const int64_t tick_ms = 1000;

/* Grants that end or change, and pings, in one tick: a thousand would delay all participants. */
static const int changes_per_tick = 64;

/* Unanswered pings after which a peer is given up. Protocol: section 7. */
static const int pings_max = 2;

static void init_lists(struct hub *hub)
{
    struct link *const heads[] = {
        &hub->topics,         &hub->peers,
        &hub->dirty,          &hub->unpublished,
        &hub->written,        &hub->ready,
        &hub->postponed,      &hub->slow,
        &hub->idle,           &hub->log_budget.waiting,
        &hub->pendings.queue, &hub->pendings.handed,
        &hub->pendings.again, &hub->loads.closed,
    };

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        list_init(heads[i]);
    for (size_t i = 0; i < TOPIC_LOAD_STATES; i++)
        list_init(&hub->loads.in[i]);
}

struct hub *hub_new(const struct hub_config *config, struct chance chance)
{
    struct hub *hub = calloc(1, sizeof *hub);

    if (!hub)
        return NULL;
    init_lists(hub);
    hub->config = *config;
    hub->config.needs_commit |= config->stored;
    hub->chance = chance;
    chance.fill(chance.context, &hub->key, sizeof hub->key);
    hub->unchecked = &hub->peers;
    hub->log_budget.max = hub->stats.log_bytes_max = config->log_bytes;
    hub->log_budget.makers.key = hub->key;
    mcpx_envelope_init(&hub->envelope);
    mcpx_envelope_init(&hub->loaded);
    return hub;
}

void hub_configure(struct hub *hub, const struct hub_config *config, struct mcpx_now now)
{
    hub->now = now;
    hub->config = *config;
    hub->config.needs_commit |= config->stored;
    LIST_EACH(link, &hub->topics)
        topic_set_rates(LIST_ELEMENT(link, struct topic, in_hub), now);
}

void hub_free(struct hub *hub)
{
    if (!hub)
        return;
    pendings_fini(hub);
    LIST_EACH(link, &hub->peers) {
        struct peer *peer = LIST_ELEMENT(link, struct peer, in_hub);

        log_reader_release(&peer->cursor.reader);
        presence_reader_leave(&peer->cursor.presence);
        pending_free_peer(peer);
    }
    LIST_EACH(link, &hub->topics)
        topic_free(LIST_ELEMENT(link, struct topic, in_hub));
    topic_loads_fini(hub);
    free(hub->by_name);
    mx_map_fini(&hub->usages);
    mx_holders_fini(&hub->log_budget.makers);
    mcpx_text_fini(&hub->scratch);
    mcpx_text_fini(&hub->derived);
    mcpx_text_fini(&hub->seats);
    mcpx_envelope_fini(&hub->envelope);
    mcpx_envelope_fini(&hub->loaded);
    free(hub);
}

/* ---- changes of a connected participant ---- */

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

enum mcpx_err hub_update_grants(struct hub *hub, struct peer *peer, struct grant *grant,
                                bool quietly, struct mcpx_now now)
{
    struct grant *before = peer->grant;
    struct grant *shown = peer_is_connected(peer) ? grant_at(grant, now.wall_ms) : NULL;
    bool tells;
    enum mcpx_err err = MCPX_OK;

    if (!shown)
        return peer_is_connected(peer) ? MCPX_ENOMEM : MCPX_ECLOSED;
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

/* ---- time ---- */

/* Pings a silent peer, and finally gives it up. True when it did either. */
static bool check_silence(struct hub *hub, struct peer *peer)
{
    int64_t silent_ms = hub->now.mono_ms - peer->heard_ms;

    if (hub->config.ping_ms == 0 || silent_ms < hub->config.ping_ms * (peer->pings + 1))
        return false;
    if (peer->pings == pings_max) {
        hub_disconnect(hub, peer, MCPX_ETIMEOUT, hub->now);
        return true;
    }
    peer->pings++;
    notice_ping(&peer->outbox);
    peer_count_outbox(peer);
    peer_wake(peer);
    return true;
}

/* Returns true when it did more than check. */
static bool check_peer(struct hub *hub, struct peer *peer)
{
    int64_t wall_ms = hub->now.wall_ms;
    bool changed = true;

    if (!peer_is_connected(peer))
        return false;
    if (peer->grant->expires_ms && wall_ms >= peer->grant->expires_ms) {
        hub_disconnect(hub, peer, MCPX_EEXPIRED, hub->now);
        return true;
    }
    if (peer->changes_ms && wall_ms >= peer->changes_ms)
        (void)hub_update_grants(hub, peer, peer->grant, false,
                                hub->now); /* tried again at the next tick */
    else
        changed = false;
    if (peer->state == PEER_OPEN) /* its own `update` may have pushed it off the log */
        changed = check_silence(hub, peer) || changed;
    return changed || peer_is_disconnected(peer);
}

static void check_topic(struct hub *hub, struct topic *topic)
{
    topic_forget_old(topic, hub->now.mono_ms);
    topic_tell_position(topic);
    accounts_expire(&topic->accounts, hub->now);
    mcpx_text_fini(&topic->listed);
    if (topic->holders == 0 && topic->pending == 0 &&
        (topic->lost || hub->now.mono_ms - topic->empty_ms >= hub->config.linger_ms))
        topic_load_close(topic);
}

int64_t hub_due(const struct hub *hub)
{
    const struct topic *topic = LIST_FIRST(&hub->unpublished, struct topic, in_unpublished);

    return topic && topic->publish_ms < hub->next_tick_ms ? topic->publish_ms
                                                          : hub->next_tick_ms;
}

/* Continues where the last tick has stopped. Returns false when it must stop again. */
static bool check_peers(struct hub *hub)
{
    int left = changes_per_tick;

    if (hub->unchecked == &hub->peers)
        hub->unchecked = hub->peers.next;
    while (hub->unchecked != &hub->peers && left > 0) {
        struct peer *peer = LIST_ELEMENT(hub->unchecked, struct peer, in_hub);

        hub->unchecked = hub->unchecked->next;
        left -= check_peer(hub, peer);
    }
    return hub->unchecked == &hub->peers;
}

static void check_all(struct hub *hub)
{
    hub->next_tick_ms = hub->now.mono_ms + tick_ms;
    if (!check_peers(hub)) { /* the others are told first of these */
        hub->next_tick_ms = hub->now.mono_ms + 1;
        return;
    }
    LIST_EACH(link, &hub->topics)
        check_topic(hub, LIST_ELEMENT(link, struct topic, in_hub));
    pending_retry_all(hub);
    topic_loads_expire(hub);
}

void hub_tick(struct hub *hub, struct mcpx_now now)
{
    struct topic *topic;

    if (now.mono_ms < hub_due(hub))
        return;
    hub->now = now;
    while ((topic = LIST_FIRST(&hub->unpublished, struct topic, in_unpublished)) &&
           topic->publish_ms <= now.mono_ms)
        topic_publish(topic);
    if (now.mono_ms >= hub->next_tick_ms)
        check_all(hub);
    hub_disconnect_slow(hub);
}

bool hub_is_pressed(const struct hub *hub)
{
    return hub->pressed;
}

void hub_note_edge(struct hub *hub, size_t unsent_bytes, size_t incomplete_bytes)
{
    hub->stats.unsent_bytes = unsent_bytes;
    hub->stats.incomplete_bytes = incomplete_bytes;
}

void hub_note_cap(struct hub *hub, enum cap cap)
{
    hub->stats.caps[cap]++;
}

const struct stats *hub_stats(const struct hub *hub)
{
    return &hub->stats;
}

bool hub_is_draining(const struct hub *hub)
{
    return hub->draining;
}
