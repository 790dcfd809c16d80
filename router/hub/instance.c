/*
 * instance.c - several connections of one participant in one topic. Who asks for nothing is the
 * participant itself and replaces who was, as ever; who asks for an instance replaces nobody but
 * its own old connection, which is known by a key. Without that key two windows that come back
 * after a break could end each other: the router gave the number of the one that was away to a
 * third. Choosing the number is not left to clients, because they would have to know each other.
 */
#include "router/hub/instance.h"

#include "router/hub/hub_state.h"
#include "router/hub/pending.h"

#include <stdio.h>

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

/* One whose join is pending is not seated yet. */
static const struct peer *joining_peer(const struct topic *topic,
                                       const struct instance *instance)
{
    const struct pending *presence = pending_presence(topic, instance_id(instance));

    return presence ? presence->peer : NULL;
}

static bool is_own(const struct peer *peer, const struct instance *instance)
{
    return peer && peer->instance_key == instance->key;
}

/* Its own old connection, whatever its number: a client may not have heard that yet. */
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

/* The number of its own old connection; else the one that it asks for; else the lowest free one. */
static enum mcpx_err choose_number(const struct hub *hub, const struct topic *topic,
                                   const struct grant *grant,
                                   const struct admission *admission, struct instance *out)
{
    const struct account *account =
        topic ? accounts_find(&topic->accounts, grant->identity) : NULL;
    unsigned max = max_number(hub, grant), wish = admission->instance;

    if (find_own(topic, account, grant->identity, out))
        return MCPX_OK;
    out->number = wish <= max && (!account || !account_has(account, wish))
                      ? wish
                      : account_free_number(account, max);
    if (out->number == 0)
        return MCPX_EINSTANCES;
    write_id(grant->identity, out);
    return MCPX_OK;
}

enum mcpx_err instance_find(const struct hub *hub, const struct topic *topic,
                            const struct grant *grant, const struct admission *admission,
                            struct mcpx_now now, struct instance *out)
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
        err = choose_number(hub, topic, grant, admission, out);
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
