/*
 * api_auth.c - issues credentials: tokens to all clients in dev mode, tickets to participants that
 * cannot send a token in a WebSocket handshake, renewals.
 */
#include "lib/json/digest.h"
#include "lib/json/json_write.h"
#include "router/api/api.h"
#include "router/policy/grants/grant.h"

#include <stdlib.h>

/* ---- dev mode ---- */

/* Grants of a token requested without `capabilities`. Protocol: section 8. */
static const char *const default_capabilities = "[\"mcp/*\",\"chat\"]";

static void issue_token(const struct api_call *call, const char *capabilities,
                        struct http_reply *reply)
{
    mx_scoped_text token = {0};
    struct mcpx_fault fault = {0};
    enum mcpx_err err = tokens_issue(
        call->api->config->tokens, api_string(call, "participantId"),
        api_string(call, "topic"), mcpx_slice_of(capabilities), call->now, &fault, &token);

    if (err == MCPX_ENOTFOUND)
        http_reply_fail(reply, err, "no HMAC key is configured to sign tokens with");
    else if (err == MCPX_EREQUEST && fault.field && strcmp(fault.field, "participantId") == 0)
        http_reply_fail(reply, err,
                        "participantId is configured and comes with its own token");
    else if (err)
        api_body_fault(err, "capabilities", &fault, reply);
    else
        mx_format(&reply->body, "{\"token\":%q,\"capabilities\":%s}", &token, capabilities);
    if (token.failed)
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
}

static void answer_token(const struct api_call *call, struct http_reply *reply)
{
    const json_t *list = json_object_get(call->body, "capabilities");
    struct mcpx_slice participant = api_string(call, "participantId");
    struct mcpx_slice topic = api_string(call, "topic");
    char *capabilities = NULL;

    if (participant.len == 0 || topic.len == 0) {
        http_reply_fail(reply, MCPX_EREQUEST, "participantId and topic are required");
    } else if (!mcpx_identity_is_valid(participant)) {
        http_reply_fail(reply, MCPX_EREQUEST,
                        "participantId must be 1 to 256 bytes without control characters, not "
                        "'system', and not end in ~ and digits");
    } else if (api_is_topic(topic, reply)) {
        capabilities = list ? json_dumps(list, JSON_COMPACT) : strdup(default_capabilities);
        if (capabilities)
            issue_token(call, capabilities, reply);
        else
            http_reply_fail(reply, MCPX_ENOMEM, NULL);
    }
    free(capabilities);
}

/* ---- tickets ---- */

/* A ticket issued for a certificate alone needs one again. The copy leaves the participant's own
 * grant as it is. */
static void bind_to_certificate(struct grant **grant)
{
    struct grant *bound = grant_over(grant_base(*grant), (*grant)->capset);

    if (bound)
        bound->needs_certificate = true;
    grant_unref(*grant);
    *grant = bound;
}

/* The ticket holds the grant in its topic, not the general one. */
static void answer_ticket(const struct api_call *call, struct http_reply *reply)
{
    struct mcpx_slice topic = api_string(call, "topic");
    struct grant *grant = api_grant_in(call, topic, reply);
    mx_scoped_text ticket = {0};
    enum mcpx_err err;

    if (!grant)
        return;
    if (!call->credentials.bearer.text)
        bind_to_certificate(&grant);
    err = grant ? tickets_issue(call->api->tickets, grant, topic, call->now, &ticket)
                : MCPX_ENOMEM;
    if (err == MCPX_ELIMIT) {
        http_reply_fail(reply, MCPX_EFULL, "too many unused tickets");
    } else if (err == MCPX_ESHARE) {
        api_over_cap(call, err, CAP_TICKETS, reply);
    } else if (err || ticket.failed) {
        http_reply_fail(reply, err ? err : MCPX_ENOMEM, NULL);
    } else {
        mx_format(&reply->body, "{\"ticket\":%q,\"expires_in\":%s}", &ticket, TICKETS_LIFE_S);
    }
    grant_unref(grant);
}

/* ---- renewals ---- */

/*
 * A fresh token for existing connections. A participant may have several tokens, one of them
 * narrowed for a helper. So a renewal names the replaced token, or a connection, and leaves other
 * connections unchanged. Protocol: section 7.
 *
 * Rejected: all connections with the same claims but for dates; that would also renew a token
 * narrowed to a few seconds.
 */

struct renewing {
    struct mcpx_slice topic;
    /* Of the only connection to renew; absent = any of the participant in the topic. */
    struct mcpx_slice id;
    /* The connections' present token; absent = the request's token, or any for an id. */
    struct mcpx_slice replaces;
    unsigned char old[32];  /* its digest */
    struct grant *grant;    /* of the token of the request */
    struct mcpx_text found; /* ids of renewed connections, items of a JSON array */
};

/* Connections with the fresh token match as well, so that a client may repeat a renewal. */
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
    if (old.text && !mx_sha256(old, renewing->old))
        return MCPX_ENOMEM;
    while (!err && (peer = change_plans_next_peer(call->api->hub, identity, renewing->topic,
                                                  peer)) != NULL) {
        if (!is_meant(renewing, peer))
            continue;
        err = hub_update_grants(call->api->hub, peer, renewing->grant, true, call->now);
        mx_json_add_item(&renewing->found, peer_id(peer));
    }
    return err || !renewing->found.failed ? err : MCPX_ENOMEM;
}

static void renew(const struct api_call *call, struct renewing *renewing,
                  struct http_reply *reply)
{
    int64_t expires_ms = renewing->grant->expires_ms;
    enum mcpx_err err = renew_all(call, renewing);

    if (!err && renewing->found.len == 0)
        err = MCPX_ENOTFOUND;
    if (err) {
        http_reply_fail(reply, err,
                        err == MCPX_ENOTFOUND
                            ? "the token's participant has no such connection in the topic: "
                              "name it by id, or by the token it came with (replaces)"
                            : NULL);
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

static void answer_renew(const struct api_call *call, struct http_reply *reply)
{
    struct renewing renewing = {.topic = api_string(call, "topic"),
                                .id = api_string(call, "id"),
                                .replaces = api_string(call, "replaces")};

    /* A connection without a certificate would outlive the certificate of the request. */
    if (call->credentials.bearer.text)
        renewing.grant = api_grant_in(call, renewing.topic, reply);
    else
        http_reply_fail(reply, MCPX_ETOKEN,
                        "a certificate renews nothing: send a fresh token");
    if (renewing.grant)
        renew(call, &renewing, reply);
    mcpx_text_fini(&renewing.found);
    grant_unref(renewing.grant);
}

static const struct http_param ticket_body[] = {{API_TOPIC}, {API_END}};
static const struct http_param renewal[] = {
    {API_TOPIC}, {API_TEXT("id")}, {API_TEXT("replaces")}, {API_END}};
static const struct http_param token_body[] = {
    {API_TEXT("participantId")}, {API_TEXT("topic")}, {API_GRANTS}, {API_END}};

const struct api_route api_auth_routes[] = {
    {HTTP_POST, "/v0.1/tickets", "single-use ticket for a browser", .handle = answer_ticket,
     .access = ACCESS_TOKEN, .body = ticket_body},
    {HTTP_POST, "/v0.1/token", "connections go on under this token", .handle = answer_renew,
     .access = ACCESS_TOKEN, .body = renewal},
    {HTTP_POST, "/v0.1/auth/token", "a token", .handle = answer_token, .body = token_body,
     .dev = true},
    {HTTP_POST, "/v0/auth/token", "a token", .handle = answer_token, .body = token_body,
     .dev = true},
    {.path = NULL},
};
