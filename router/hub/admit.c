/*
 * admit.c - a participant joins. Everything that can fail is done before anything is changed, so a
 * refused or failed join leaves no trace and, in a takeover, the old connection lives.
 *
 * Several connections of one participant may be in one topic. A plain join is the participant
 * itself, and replaces its connection. A join as an instance replaces only its own old connection,
 * which a key identifies. Without the key two returning windows could end each other, after the
 * router gave the number of one to a third. Clients do not choose the number, because they do not
 * know each other.
 */

#include "router/hub/hub_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- which of its instances a joiner will be ---- */

struct instance {
    unsigned number;  /* of the instance */
    uint64_t key;     /* hash of the key that can claim it again; 0 = none */
    struct peer *old; /* the peer it replaces; NULL = none */
    size_t id_len;    /* of the id, which stands in `text` */
    char text[MCPX_ID_MAX];
};

/* The id the instance will have; lent as long as it is. */
static struct mcpx_slice instance_id(const struct instance *instance)
{
    return (struct mcpx_slice){instance->text, instance->id_len};
}

static const int64_t takeover_window_ms = 60000;

/* The longest suffix, "~64". */
enum { SUFFIX_MAX = 3 };

/* `desk` for number 1, `desk~2` for number 2. There is room (max_number). */
static void write_id(struct mcpx_slice identity, struct instance *out)
{
    char suffix[16] = "";
    size_t len = 0;

    if (out->number > 1)
        len = (size_t)snprintf(suffix, sizeof suffix, "~%u", out->number);
    memcpy(out->text, identity.text, identity.len);
    memcpy(out->text + identity.len, suffix, len);
    out->id_len = identity.len + len;
}

/* An identity so long that no suffix fits behind it has no instances. */
static unsigned max_number(const struct hub *hub, const struct grant *grant)
{
    unsigned max = grant->instances ? grant->instances : hub->config.instances;

    return grant->identity.len + SUFFIX_MAX > MCPX_ID_MAX ? 1 : max;
}

static struct peer *seated_peer(const struct topic *topic, const struct instance *instance)
{
    return topic ? topic_peer(topic, instance_id(instance)) : NULL;
}

/* A peer with a pending join has no seat yet. */
static const struct peer *joining_peer(const struct topic *topic,
                                       const struct instance *instance)
{
    const struct pending *own_pending = pending_presence(topic, instance_id(instance));

    return own_pending ? own_pending->peer : NULL;
}

static bool is_own(const struct peer *peer, const struct instance *instance)
{
    return peer && peer->instance_key == instance->key;
}

/* Its own old connection, under any number: the client may not know the number yet. */
static bool find_own(const struct topic *topic, const struct account *account,
                     struct mcpx_slice identity, struct instance *out)
{
    for (unsigned number = 1; account && out->key && number <= INSTANCES_MAX; number++) {
        if (!account_has(account, number))
            continue;
        out->number = number;
        write_id(identity, out);
        out->old = seated_peer(topic, out);
        if (is_own(out->old, out) || is_own(joining_peer(topic, out), out))
            return true;
    }
    out->old = NULL;
    return false;
}

/* The number of its own old connection; else the requested one; else the lowest free one. */
static enum mcpx_err choose_number(const struct hub *hub, const struct topic *topic,
                                   const struct account *account, const struct grant *grant,
                                   const struct admission *admission, struct instance *out)
{
    unsigned max = max_number(hub, grant), wanted = admission->instance;

    if (find_own(topic, account, grant->identity, out))
        return MCPX_OK;
    out->number = wanted <= max && (!account || !account_has(account, wanted))
                      ? wanted
                      : account_free_number(account, max);
    if (out->number == 0)
        return MCPX_EINSTANCES;
    write_id(grant->identity, out);
    return MCPX_OK;
}

/*
 * Finds the instance of an admission. MCPX_EPRESENT, MCPX_EFLAPPING as hub_may_admit;
 * MCPX_EINSTANCES when all numbers of the participant are taken. Protocol: section 7.
 */
static enum mcpx_err instance_find(const struct hub *hub, const struct topic *topic,
                                   const struct account *account, const struct grant *grant,
                                   const struct admission *admission, struct mcpx_now now,
                                   struct instance *out)
{
    bool is_plain = admission->instance == 0;
    enum mcpx_err err = MCPX_OK;

    *out = (struct instance){.number = 1};
    if (is_plain) {
        write_id(grant->identity, out);
        out->old = seated_peer(topic, out);
    } else {
        if (admission->instance_key.len > 0)
            out->key = mx_map_hash(hub->key, admission->instance_key) | 1;
        err = choose_number(hub, topic, account, grant, admission, out);
    }
    if (err || !out->old)
        return err;
    if (is_plain && !hub->config.takeover)
        return MCPX_EPRESENT;
    if (out->old->takeovers[0] != 0 &&
        now.mono_ms - out->old->takeovers[0] < takeover_window_ms)
        return MCPX_EFLAPPING;
    return MCPX_OK;
}

/* ---- admission ---- */

/* Has the participant used up this quota of those that refuse a join? */
static bool has_reached(const struct hub *hub, const struct usage *usage, enum cap cap)
{
    if (cap == CAP_CONNECTIONS)
        return usage && is_at_limit(usage->connections, hub->config.connections_each);
    return cap == CAP_TOPICS && usage && is_at_limit(usage->topics, hub->config.topics_each);
}

static enum mcpx_err check_topic(const struct hub *hub, const struct topic *topic,
                                 const struct usage *usage, struct mcpx_slice name,
                                 struct mcpx_now now)
{
    const struct hub_config *config = &hub->config;
    enum mcpx_err err = config->stored ? topic_load_check(hub, topic, name, now) : MCPX_OK;

    if (err || topic)
        return err;
    if (!config->create)
        return MCPX_ENOTOPIC;
    if (!topic_load_has_room(hub))
        return MCPX_EFULL;
    return has_reached(hub, usage, CAP_TOPICS) ? MCPX_ESHARE : MCPX_OK;
}

static enum mcpx_err check_admission(const struct hub *hub, const struct grant *grant,
                                     const struct admission *admission, struct mcpx_now now,
                                     struct instance *instance)
{
    const struct hub_config *config = &hub->config;
    const struct topic *topic = hub_topic_find(hub, admission->topic);
    const struct account *account =
        topic ? accounts_find(&topic->accounts, grant->identity) : NULL;
    const struct usage *usage = usage_find(hub, grant->identity);
    enum mcpx_err err;

    if (hub->draining)
        return MCPX_EGOING;
    err = check_topic(hub, topic, usage, admission->topic, now);
    if (err)
        return err;
    /* Joins cause presence for all: their rate is limited, however the connections ended. */
    if (account && bucket_left(&account->rates.joins, now) == 0)
        return MCPX_EFLAPPING;
    err = instance_find(hub, topic, account, grant, admission, now, instance);
    if (!err && topic && pending_presence(topic, instance_id(instance)))
        return MCPX_EOPENING;
    if (err || instance->old)
        return err;
    if (is_at_limit(hub->stats.peers, config->connections_max) ||
        (topic && is_at_limit(topic->peer_count + topic->joining, config->participants_max)))
        return MCPX_EFULL;
    return has_reached(hub, usage, CAP_CONNECTIONS) ? MCPX_ESHARE : MCPX_OK;
}

enum cap hub_cap_of(const struct hub *hub, const struct grant *grant)
{
    const struct usage *usage = usage_find(hub, grant->identity);

    return has_reached(hub, usage, CAP_CONNECTIONS) ? CAP_CONNECTIONS : CAP_TOPICS;
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

/*
 * Makes a peer with all memory for its join, but not yet in its topic. The id is copied behind it,
 * because its grant may be replaced. NULL when memory runs out.
 */
static struct peer *peer_new(struct topic *topic, struct grant *grant,
                             const struct admission *admission,
                             const struct instance *instance, void *owner)
{
    struct hub *hub = topic->hub;
    struct account *account = accounts_open(&topic->accounts, grant->identity);
    struct grant *shown = account ? grant_at(grant, hub->now.wall_ms) : NULL;
    struct peer *peer = shown ? malloc(sizeof *peer + instance->id_len) : NULL;

    if (!peer) {
        grant_unref(shown);
        return NULL;
    }
    *peer = (struct peer){
        .hub = hub,
        .topic = topic,
        .owner = owner,
        .sender = log_sender(&topic->log, instance_id(instance)),
        .seat = PEER_NO_SEAT,
        .cursor.directed = reads_directed(hub, shown, admission),
        .grant = shown,
        .account = account,
        .id = {(const char *)(peer + 1), instance->id_len},
        .number = instance->number,
        .instance_key = instance->key,
        .heard_ms = hub->now.mono_ms,
        .changes_ms = mcpx_capset_next_expiry(grant->capset, hub->now.wall_ms),
    };
    memcpy(peer + 1, instance->text, instance->id_len);
    list_init(&peer->in_ready);
    list_init(&peer->in_hub);
    list_init(&peer->in_usage);
    log_reader_init(&peer->cursor.reader);
    presence_reader_init(&peer->cursor.presence);
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
 * Places the joiner's cursor, notes its owed output, sends presence. The cursor comes first,
 * because presence may free memory of the log.
 */
static enum mcpx_err begin_join(struct peer *peer, const struct admission *admission,
                                const char *reason)
{
    enum mcpx_err err;

    if (!topic_reserve(peer->topic))
        return MCPX_ENOMEM;
    cursor_start(peer, admission);
    err = topic_tell_presence(peer, "join", reason, &peer->join);
    peer->owed = OWED_WELCOME | OWED_JOIN;
    if (err)
        log_reader_release(&peer->cursor.reader);
    peer_count_outbox(peer);
    return err;
}

/* Counts the connection and takes its number. Nothing can fail from here on. */
static void count_in(struct peer *peer, struct usage *usage, struct mcpx_now now)
{
    struct topic *topic = peer->topic;

    account_enter(&topic->accounts, peer->account, peer->number);
    (void)bucket_take(&peer->account->rates.joins, 1, now); /* check_admission has asked */
    topic->holders++;
    topic_settle(topic);
    list_append(&peer->hub->peers, &peer->in_hub);
    peer->hub->stats.peers++;
    peer->usage = usage;
    usage->connections++;
    list_append(&usage->peers, &peer->in_usage);
}

static void finish_join(struct peer *peer, struct peer *old, struct mcpx_now now)
{
    struct hub *hub = peer->hub;

    peer->entered = true;
    if (old)
        inherit_takeovers(peer, old, now);
    topic_insert(peer->topic, peer); /* in the place of `old`, which is in no topic now */
    hub->stats.admitted++;
    if (old) {
        hub->stats.takeovers++;
        hub_disconnect(hub, old, MCPX_EREPLACED, now);
    }
}

/* Admits the peer at once, or when its join is committed. */
static enum mcpx_err join(struct peer *peer, const struct admission *admission,
                          struct peer *old, struct usage *usage)
{
    struct hub *hub = peer->hub;
    const char *reason = old ? "takeover" : NULL;
    enum mcpx_err err = MCPX_OK;

    if (!hub->config.needs_commit)
        err = begin_join(peer, admission, reason);
    else if (!pending_join(peer, admission, reason))
        err = MCPX_ENOMEM;
    if (err)
        return err;
    count_in(peer, usage, hub->now);
    if (hub->config.needs_commit) {
        peer->state = PEER_JOINING;
        peer->topic->joining += old == NULL;
        return MCPX_OK;
    }
    finish_join(peer, old, hub->now);
    peer_wake(peer);
    hub_disconnect_slow(hub);
    return MCPX_OK;
}

enum mcpx_err hub_admit(struct hub *hub, struct grant *grant,
                        const struct admission *admission, void *owner, struct mcpx_now now,
                        struct peer **out)
{
    struct topic *topic = (struct topic *)hub_topic_find(hub, admission->topic);
    bool is_new = !topic;
    struct peer *peer;
    struct instance instance;
    struct usage *usage;
    enum mcpx_err err;

    hub->now = now;
    err = check_admission(hub, grant, admission, now, &instance);
    if (err)
        return err;
    usage = usage_open(hub, grant);
    if (!usage)
        return MCPX_ENOMEM;
    err = MCPX_ENOMEM;
    if (is_new)
        topic = topic_load_create(hub, admission->topic, usage);
    peer = topic ? peer_new(topic, grant, admission, &instance, owner) : NULL;
    if (peer)
        err = join(peer, admission, instance.old, usage);
    if (!err) {
        *out = peer;
        return MCPX_OK;
    }
    if (peer)
        pending_free_peer(peer);
    if (is_new && topic)
        topic_free(topic); /* and the usage with it, when nothing else is on it */
    else
        usage_close(hub, usage);
    return err;
}

/* ---- after the commit ---- */

/* Frees its number, unless the peer it was to replace still has it. */
static void give_back(struct peer *peer)
{
    struct topic *topic = peer->topic;

    if (!topic_peer(topic, peer->id))
        account_leave(&topic->accounts, peer->account, peer->number, peer->hub->now);
    peer->account = NULL;
}

/* Sends its leave to the others, though it has just joined. */
static void leave_again(struct peer *peer)
{
    leave_topic(peer, peer->close_err);
    peer->hub->stats.departed += peer->state == PEER_GONE;
    peer->owed = 0;
    mcpx_text_fini(&peer->join);
    peer_count_outbox(peer);
}

/* The join is committed but has failed, so its leave follows. */
static void turn_away(struct peer *peer, struct peer *old, enum mcpx_err err)
{
    struct hub *hub = peer->hub;

    if (old) {
        hub_disconnect(hub, old, MCPX_EREPLACED,
                       hub->now); /* its leave follows, and its number */
        peer->account = NULL;
    } else {
        give_back(peer);
        pending_leave(peer, mcpx_error_wire(err));
    }
    hub_disconnect(hub, peer, err, hub->now);
}

void admit_commit(struct pending *pending)
{
    struct peer *peer = pending->peer;
    struct topic *topic = peer->topic;
    struct peer *old = topic_peer(topic, peer->id);
    bool waits = peer->state == PEER_JOINING;
    struct mcpx_now now = peer->hub->now;
    const char *reason = pending->submission.reason.text;
    enum mcpx_err err =
        topic->lost ? MCPX_ENOTNOW : begin_join(peer, pending->admission, reason);

    topic->joining -= !reason;
    if (err) {
        turn_away(peer, old, err);
        return;
    }
    if (waits)
        peer->state = PEER_OPEN;
    finish_join(peer, old, now);
    if (waits) {
        peer_heard(peer, now);
        peer_wake(peer);
    } else {
        leave_again(peer);
    }
}

void admit_reject(struct pending *pending)
{
    struct peer *peer = pending->peer;

    peer->topic->joining -= !pending->submission.reason.text;
    give_back(peer);
    hub_disconnect(peer->hub, peer, MCPX_ENOTNOW, peer->hub->now);
    if (pending->orphaned)
        pending_leave(peer, pending->reason);
}
