/*
 * api_renew.c - a fresh token for connections that are there. A participant may have several
 * tokens, one of them narrowed for a helper. So a renewal names the token that it replaces, or a
 * connection, and leaves the others as they are. Protocol: section 7.
 *
 * Rejected: all connections whose token claims the same but for its dates. A token that was
 * narrowed to a few seconds would be renewed along with the one it was made from.
 */
#include "lib/core/format.h"
#include "lib/core/json_write.h"
#include "router/edge/api.h"
#include "router/edge/api_body.h"

#include <mcpx/json.h>
#include <openssl/evp.h>

/*
 * What is to go on.
 *
 * id         of the only connection meant; absent = any of the participant in the topic
 * replaces   the token that the connections came with; absent = the one that is sent, or any where
 *            there is an id
 * old        its digest
 * grant      what the token that is sent gives
 * found      ids of those that go on, items of a JSON array
 */
struct renewing {
    struct mcpx_slice topic, id, replaces;
    unsigned char old[32];
    struct grant *grant;
    struct mcpx_text found;
};

/* Those of the token that is sent are meant as well, so that a renewal can be sent again. */
static bool is_meant(const struct renewing *renewing, const struct peer *peer)
{
    const struct credential *held = peer_grant(peer)->credential;
    const unsigned char *fresh = renewing->grant->credential->token;

    if (renewing->id.text && !mcpx_slice_equal(renewing->id, peer_id(peer)))
        return false;
    if (renewing->id.text && !renewing->replaces.text)
        return true;
    return held && (memcmp(held->token, fresh, sizeof held->token) == 0 ||
                    memcmp(held->token, renewing->old, sizeof held->token) == 0);
}

static enum mcpx_err renew_all(const struct api_call *call, struct renewing *renewing)
{
    struct mcpx_slice identity = renewing->grant->identity, old = renewing->replaces;
    struct peer *peer = NULL;
    enum mcpx_err err = MCPX_OK;

    memcpy(renewing->old, renewing->grant->credential->token, sizeof renewing->old);
    if (old.text &&
        EVP_Digest(old.text, old.len, renewing->old, NULL, EVP_sha256(), NULL) != 1)
        return MCPX_ENOMEM;
    while (!err && (peer = orders_next_peer(call->api->hub, identity, renewing->topic,
                                            peer)) != NULL) {
        if (!is_meant(renewing, peer))
            continue;
        err = hub_regrant_quietly(call->api->hub, peer, renewing->grant, call->now);
        mx_json_add_item(&renewing->found, peer_id(peer));
    }
    return err || !renewing->found.failed ? err : MCPX_ENOMEM;
}

static void renew(const struct api_call *call, struct renewing *renewing,
                  struct http_reply *reply)
{
    int64_t expires_ms = renewing->grant->expires_ms;
    enum mcpx_err err = renew_all(call, renewing);

    if (err) {
        http_reply_fail(reply, err, NULL);
        return;
    }
    if (renewing->found.len == 0) {
        http_reply_fail(reply, MCPX_ENOTFOUND,
                        "the token's participant has no such connection in the topic: name it "
                        "by id, or by the token it came with (replaces)");
        return;
    }
    mcpx_text_puts(&reply->body, "{\"expires_in\":");
    if (!expires_ms)
        mcpx_text_puts(&reply->body, "null");
    else
        mcpx_text_number(&reply->body, expires_ms > call->now.wall_ms
                                           ? (expires_ms - call->now.wall_ms) / 1000
                                           : 0);
    mx_format(&reply->body, ",\"connections\":[%s]}", &renewing->found);
}

void api_renew(const struct api_call *call, struct http_reply *reply)
{
    struct renewing renewing = {.grant = NULL};
    json_t *body = api_body_read(call->request->body, reply);

    if (!body || !api_body_string(body, "topic", &renewing.topic, reply) ||
        !api_body_string(body, "id", &renewing.id, reply) ||
        !api_body_string(body, "replaces", &renewing.replaces, reply) ||
        !api_is_topic(renewing.topic, reply))
        goto out;
    /* A connection that shows no certificate would not end with that of the request. */
    if (call->claimant.bearer.text)
        renewing.grant = api_grant_in(call, renewing.topic, reply);
    else
        http_reply_fail(reply, MCPX_ETOKEN,
                        "a certificate renews nothing: send a fresh token");
    if (renewing.grant)
        renew(call, &renewing, reply);
out:
    mcpx_text_fini(&renewing.found);
    grant_unref(renewing.grant);
    json_decref(body);
}
