/*
 * api_renew.c - a fresh token for a connection that is there. The token says who it is for, so only
 * connections of the same participant are ever given its grant: there is nothing to prove besides,
 * and who has such a token could connect in their place. Protocol: section 7.
 */
#include "lib/core/format.h"
#include "lib/core/json_write.h"
#include "router/edge/api.h"
#include "router/edge/api_body.h"

#include <mcpx/json.h>

/*
 * What is to go on.
 *
 * id      of the only connection meant; absent = all of the participant in the topic
 * grant   what the token gives
 * found   ids of those that go on, a JSON array
 */
struct renewing {
    const struct topic *topic;
    struct mcpx_slice id;
    struct grant *grant;
    struct mcpx_text found;
    size_t count;
};

static enum mcpx_err renew_one(const struct api_call *call, struct renewing *renewing,
                               struct mcpx_slice id)
{
    struct peer *peer = topic_peer(renewing->topic, id);
    enum mcpx_err err;

    if (!peer || !mcpx_slice_equal(peer_grant(peer)->identity, renewing->grant->identity) ||
        (renewing->id.text && !mcpx_slice_equal(renewing->id, id)))
        return MCPX_OK;
    err = hub_regrant_quietly(call->api->hub, peer, renewing->grant, call->now);
    if (err)
        return err == MCPX_ECLOSED ? MCPX_OK : err;
    mx_json_add_item(&renewing->found, id);
    renewing->count++;
    return MCPX_OK;
}

/* The participant itself and its instances. */
static enum mcpx_err renew_all(const struct api_call *call, struct renewing *renewing)
{
    struct mcpx_slice identity = renewing->grant->identity;
    struct mcpx_text id = {0};
    enum mcpx_err err = MCPX_OK;

    mx_json_begin_array(&renewing->found, NULL);
    for (unsigned number = 1; !err && number <= INSTANCES_MAX; number++) {
        mcpx_text_reset(&id);
        mcpx_text_slice(&id, identity);
        if (number > 1)
            mx_format(&id, "~%s", number);
        err = id.failed ? MCPX_ENOMEM : renew_one(call, renewing, mcpx_text_view(&id));
    }
    mx_json_end_array(&renewing->found);
    mcpx_text_fini(&id);
    return err;
}

static void answer(const struct api_call *call, const struct renewing *renewing,
                   struct http_reply *reply)
{
    int64_t left_ms = renewing->grant->expires_ms - call->now.wall_ms;

    if (renewing->grant->expires_ms)
        mx_format(&reply->body, "{\"expires_in\":%s,\"connections\":%s}",
                  left_ms > 0 ? left_ms / 1000 : 0, &renewing->found);
    else
        mx_format(&reply->body, "{\"expires_in\":null,\"connections\":%s}", &renewing->found);
}

static void renew(const struct api_call *call, struct mcpx_slice topic, struct mcpx_slice id,
                  struct http_reply *reply)
{
    struct renewing renewing = {.topic = hub_topic_find(call->api->hub, topic),
                                .id = id,
                                .grant = api_grant_in(call, topic, reply)};
    enum mcpx_err err = MCPX_OK;

    if (!renewing.grant)
        return;
    if (renewing.topic)
        err = renew_all(call, &renewing);
    if (!err && renewing.count == 0)
        http_reply_fail(reply, MCPX_ENOTFOUND,
                        "the token's participant has no such connection in the topic");
    else if (err || renewing.found.failed)
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
    else
        answer(call, &renewing, reply);
    mcpx_text_fini(&renewing.found);
    grant_unref(renewing.grant);
}

void api_renew(const struct api_call *call, struct http_reply *reply)
{
    struct mcpx_slice topic = {0}, id = {0};
    json_t *body = api_body_read(call->request->body, reply);

    if (body && api_body_string(body, "topic", &topic, reply) &&
        api_body_string(body, "id", &id, reply) && api_is_topic(topic, reply))
        renew(call, topic, id, reply);
    json_decref(body);
}
