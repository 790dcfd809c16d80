/*
 * regrant.c - when thousands of removals end in the same second, some of them are looked after in
 * each turn of the loop: telling a room that somebody may do more costs much more than finding it
 * out.
 */
#include "router/edge/regrant.h"

/* In a turn, removals that have ended and connections of those they were for. */
enum { CHANGES_PER_TURN = 64 };

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
    int64_t longest_ms = api->config->grant_max_ms;
    const struct changed *changed;
    size_t done = 0;

    while (done < CHANGES_PER_TURN &&
           (changed = changes_tick(api->changes, now.wall_ms, longest_ms)) != NULL)
        done += 1 + regrant_participant(api, changed->identity, changed->topic, now);
}
