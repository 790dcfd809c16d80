/*
 * regrant.c - finds the connections of a participant and gives them what was changed.
 */
#include "router/edge/regrant.h"

struct peer *regrant_next(const struct http_api *api, struct mcpx_slice identity,
                          struct mcpx_slice topic, const struct peer *peer)
{
    struct peer *next = hub_peer_of(api->hub, identity, peer);

    while (next && (peer_is_condemned(next) ||
                    (topic.text && !mcpx_slice_equal(peer_topic_name(next), topic))))
        next = hub_peer_of(api->hub, identity, next);
    return next;
}

static void regrant(const struct http_api *api, struct peer *peer, struct mcpx_now now)
{
    struct grant *held = grant_ref((struct grant *)peer_grant(peer));
    struct grant *grant = NULL;
    enum mcpx_err err = changes_apply(api->changes, grant_base(held), peer_topic_name(peer),
                                      now.wall_ms, &grant);

    if (!err)
        err = hub_regrant(api->hub, peer, grant, now);
    if (err)
        hub_condemn(api->hub, peer, MCPX_ENOMEM, now);
    grant_unref(grant);
    grant_unref(held);
}

size_t regrant_participant(const struct http_api *api, struct mcpx_slice identity,
                           struct mcpx_slice topic, struct mcpx_now now)
{
    struct peer *peer = NULL;
    size_t count = 0;

    for (; (peer = regrant_next(api, identity, topic, peer)) != NULL; count++)
        regrant(api, peer, now);
    return count;
}

void regrant_ended(const struct http_api *api, struct mcpx_now now)
{
    const struct changed *changed;

    while ((changed = changes_tick(api->changes, now.wall_ms, api->config->grant_max_ms)) !=
           NULL)
        regrant_participant(api, changed->identity, changed->topic, now);
}
