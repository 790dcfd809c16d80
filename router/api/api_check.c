/*
 * api_check.c - the decision of protocol section 3 without sending anything. Anybody with a token
 * may ask about itself and about a list of grants made up on the spot; what a configured
 * participant may do is told only to those whose own grants cover `admin/check`.
 */
#include "lib/json/json_write.h"
#include "router/api/api.h"
#include "router/policy/grants/grant.h"

#include <mcpx/json.h>

#include <openssl/evp.h>
#include <stdlib.h>

/*
 * Compiling 1,000 fresh patterns, or 64 of a kilobyte each, would hold up everybody for 10 ms and
 * more. No token states more bytes than these either.
 */
enum { CHECK_GRANTS_MAX = 64, CHECK_BYTES_MAX = 8192 };

/* What is asked. Slices borrow from the body. */
struct check {
    struct mcpx_kind kind;
    struct mcpx_slice to[MCPX_TO_MAX];
    size_t to_count;
};

static bool read_kind(const json_t *body, struct mcpx_kind *kind, struct http_reply *reply)
{
    struct mcpx_slice text;
    struct mcpx_fault fault = {0};

    if (!api_body_string(body, "kind", &text, reply))
        return false;
    if (!text.text) {
        http_reply_fail(reply, MCPX_EREQUEST, "kind is required");
        return false;
    }
    if (mcpx_kind_parse(text, kind, &fault)) {
        api_body_fault(MCPX_EKIND, "kind", &fault, reply);
        return false;
    }
    return true;
}

static bool read_to(const json_t *body, struct check *check, struct http_reply *reply)
{
    const json_t *to = json_object_get(body, "to");

    check->to_count = 0;
    if (to && (!json_is_array(to) || json_array_size(to) > MCPX_TO_MAX))
        goto refuse;
    for (size_t i = 0; i < json_array_size(to); i++) {
        const json_t *id = json_array_get(to, i);
        struct mcpx_slice text = {json_string_value(id), json_string_length(id)};

        if (!json_is_string(id) || !mcpx_participant_id_is_valid(text))
            goto refuse;
        check->to[check->to_count++] = text;
    }
    return true;
refuse:
    http_reply_fail(reply, MCPX_EREQUEST,
                    "to must be an array of at most 256 participant ids");
    return false;
}

/* NULL with a problem, or a grant the caller owns one reference of. */
static struct grant *grant_of_list(const struct api_call *call, const char *list,
                                   struct http_reply *reply)
{
    struct mcpx_fault fault = {0};
    struct grant *grant = NULL;
    enum mcpx_err err =
        tokens_grant_from_json(call->grant->identity, mcpx_slice_of(list), &fault, &grant);

    if (err)
        api_body_fault(err, "capabilities", &fault, reply);
    return grant;
}

static struct grant *grant_of_participant(const struct api_call *call, struct mcpx_slice id,
                                          struct http_reply *reply)
{
    struct mcpx_slice identity = mcpx_identity_of(id); /* instances have its grants */
    struct grant *grant = NULL;
    enum mcpx_err err;

    if (mcpx_slice_equal(identity, call->grant->identity))
        return grant_ref(call->grant);
    if (!authority_has(call->grant->capset, "admin/check", call->now.wall_ms)) {
        http_reply_fail(reply, MCPX_ECAPABILITY,
                        "asking about another participant needs a grant for admin/check");
        return NULL;
    }
    err = tokens_participant(call->api->config->tokens, identity, &grant);
    if (err)
        http_reply_fail(reply, err,
                        err == MCPX_ENOTFOUND ? "no such configured participant" : NULL);
    return grant;
}

/* Whose grants are asked about: a list, a participant, or the caller itself. */
static struct grant *pick_grant(const struct api_call *call, const json_t *body,
                                struct http_reply *reply)
{
    struct mcpx_slice participant;
    struct grant *grant = NULL;
    char *list = NULL;

    if (json_array_size(json_object_get(body, "capabilities")) > CHECK_GRANTS_MAX) {
        http_reply_fail(reply, MCPX_EREQUEST, "capabilities must hold at most 64 grants");
        return NULL;
    }
    if (!api_body_string(body, "participant", &participant, reply) ||
        !api_body_array(body, "capabilities", &list, reply))
        return NULL;
    if (list && participant.text)
        http_reply_fail(reply, MCPX_EREQUEST,
                        "give participant or capabilities, but not both");
    else if (list && strlen(list) > CHECK_BYTES_MAX)
        http_reply_fail(reply, MCPX_EREQUEST, "capabilities must be at most 8192 bytes");
    else if (list)
        grant = grant_of_list(call, list, reply);
    else if (participant.text)
        grant = grant_of_participant(call, participant, reply);
    else
        grant = grant_ref(call->grant);
    free(list);
    return grant;
}

/* Decides, and appends the members of `capability_violation`, protocol section 6; what does not
 * apply is left out. The object stays open. */
static void write_decision(struct grant *grant, const struct check *check, int64_t wall_ms,
                           struct mcpx_text *out)
{
    const struct mcpx_question question = {&check->kind, check->to, check->to_count, wall_ms};
    struct mcpx_decision found = {0};
    const struct mcpx_decision *decision = &found;

    mcpx_capset_explain(grant->capset, &question, &found);
    mx_json_add_bool(out, "allowed", decision->refusal == MCPX_ALLOWED);
    mx_json_add_optional(out, "reason", mcpx_slice_of(mcpx_refusal_wire(decision->refusal)));
    mx_json_add_optional(out, "grant", decision->grant);
    mx_json_add_optional(out, "nearest", decision->nearest);
    mx_json_add_optional(out, "would_allow", decision->would_allow);
    mx_json_add_optional(out, "alternative", decision->alternative);
}

/* The topic whose changes are to be looked at; absent when none is. False with a problem. */
static bool read_topic(const struct api_call *call, const json_t *body,
                       struct mcpx_slice *topic, struct http_reply *reply)
{
    struct grant *own;

    if (!api_body_string(body, "topic", topic, reply))
        return false;
    if (!topic->text)
        return true;
    if (!api_is_topic(*topic, reply))
        return false;
    own = api_grant_in(call, *topic, reply);
    grant_unref(own);
    return own;
}

/* As it is decided in a topic now, with what was changed at run time. */
static void write_now(const struct api_call *call, struct grant *grant,
                      const struct check *check, struct mcpx_slice topic,
                      struct http_reply *reply)
{
    struct grant *now = NULL;
    enum mcpx_err err =
        changes_apply(call->api->changes, grant, topic, call->now.wall_ms, &now);

    if (err) {
        http_reply_fail(reply, err == MCPX_ELIMIT ? MCPX_EFULL : err, NULL);
        return;
    }
    mx_json_begin_object(&reply->body, "now");
    write_decision(now, check, call->now.wall_ms, &reply->body);
    mx_json_end_object(&reply->body);
    grant_unref(now);
}

void api_check(const struct api_call *call, struct http_reply *reply)
{
    struct mcpx_slice topic;
    struct check check;
    struct grant *grant = NULL;
    json_t *body = api_body_read(call->request->body, reply);

    if (!body || !read_kind(body, &check.kind, reply) || !read_to(body, &check, reply) ||
        !read_topic(call, body, &topic, reply))
        goto out;
    grant = pick_grant(call, body, reply);
    if (!grant)
        goto out;
    mx_json_begin_object(&reply->body, NULL);
    write_decision(grant, &check, call->now.wall_ms, &reply->body);
    if (topic.text && !json_object_get(body, "capabilities"))
        write_now(call, grant, &check, topic, reply);
    mx_json_end_object(&reply->body);
out:
    grant_unref(grant);
    json_decref(body);
}

/*
 * A fresh token for connections that are there. A participant may have several tokens, one of them
 * narrowed for a helper. So a renewal names the token that it replaces, or a connection, and
 * leaves the others as they are. Protocol: section 7.
 *
 * Rejected: all connections whose token claims the same but for its dates. A token that was
 * narrowed to a few seconds would be renewed along with the one it was made from.
 */

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
