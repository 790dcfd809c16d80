/*
 * api_auth.c - hands out admission: tokens to anybody in dev mode, tickets to those who already
 * bear a token but cannot send it in a WebSocket handshake. Says what callers of the API may do.
 */

#include "lib/json/json_write.h"
#include "router/api/api.h"
#include "router/policy/grants/grant.h"

#include <stdlib.h>

/* What a token request without `capabilities` gets. Protocol: section 8. */
static const char *const default_capabilities = "[\"mcp/*\",\"chat\"]";

/* What a token request asks for. Slices borrow from the body; `capabilities` is owned. */
struct token_wish {
    struct mcpx_slice participant;
    struct mcpx_slice topic;
    char *capabilities;
};

static bool read_wish(const json_t *body, struct token_wish *wish, struct http_reply *reply)
{
    if (!api_body_string(body, "participantId", &wish->participant, reply) ||
        !api_body_string(body, "topic", &wish->topic, reply) ||
        !api_body_array(body, "capabilities", &wish->capabilities, reply))
        return false;
    if (wish->participant.len == 0 || wish->topic.len == 0) {
        http_reply_fail(reply, MCPX_EREQUEST, "participantId and topic are required");
        return false;
    }
    if (!mcpx_identity_is_valid(wish->participant)) {
        http_reply_fail(reply, MCPX_EREQUEST,
                        "participantId must be 1 to 256 bytes without control characters, not "
                        "'system', and not end in ~ and digits");
        return false;
    }
    return api_is_topic(wish->topic, reply);
}

static void issue_token(const struct api_call *call, const struct token_wish *wish,
                        struct http_reply *reply)
{
    struct mcpx_text token = {0};
    struct mcpx_fault fault = {0};
    enum mcpx_err err =
        tokens_issue(call->api->config->tokens, wish->participant, wish->topic,
                     mcpx_slice_of(wish->capabilities), call->now, &fault, &token);

    if (err == MCPX_ENOTFOUND) {
        http_reply_fail(reply, err, "no HMAC key is configured to sign tokens with");
    } else if (err == MCPX_EREQUEST && fault.field &&
               strcmp(fault.field, "participantId") == 0) {
        http_reply_fail(reply, err,
                        "participantId is configured and comes with its own token");
    } else if (err) {
        api_body_fault(err, "capabilities", &fault, reply);
    } else {
        mx_format(&reply->body, "{\"token\":%q,\"capabilities\":%s}", &token,
                  wish->capabilities ? wish->capabilities : default_capabilities);
    }
    if (token.failed)
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
    mcpx_text_fini(&token);
}

void api_token(const struct api_call *call, struct http_reply *reply)
{
    struct token_wish wish = {0};
    json_t *body = api_body_read(call->request->body, reply);

    if (body && read_wish(body, &wish, reply))
        issue_token(call, &wish, reply);
    free(wish.capabilities);
    json_decref(body);
}

/* A ticket that only a certificate was given ends with it. The grant itself is also that of the
 * participant's token. */
static void bind_to_certificate(struct grant **grant)
{
    struct grant *bound = grant_over(grant_base(*grant), (*grant)->capset);

    if (bound)
        bound->needs_certificate = true;
    grant_unref(*grant);
    *grant = bound;
}

/* The grant goes into the ticket as it is for the topic, not as it is in general. */
static void issue_ticket(const struct api_call *call, struct mcpx_slice topic,
                         struct http_reply *reply)
{
    struct grant *grant = api_grant_in(call, topic, reply);
    struct mcpx_text ticket = {0};
    enum mcpx_err err;

    if (!grant)
        return;
    if (!call->claimant.bearer.text)
        bind_to_certificate(&grant);
    err = grant ? tickets_issue(call->api->tickets, grant, topic, call->now, &ticket)
                : MCPX_ENOMEM;
    if (err == MCPX_ELIMIT) {
        http_reply_fail(reply, MCPX_EFULL, "too many unused tickets");
    } else if (err == MCPX_ESHARE) {
        hub_note_cap(call->api->hub, CAP_TICKETS);
        http_reply_fail(reply, err,
                        "this participant has too many unused tickets "
                        "(limits.tickets_per_participant)");
    } else if (err || ticket.failed) {
        http_reply_fail(reply, err ? err : MCPX_ENOMEM, NULL);
    } else {
        mx_format(&reply->body, "{\"ticket\":%q,\"expires_in\":%s}", &ticket, TICKETS_LIFE_S);
    }
    mcpx_text_fini(&ticket);
    grant_unref(grant);
}

void api_ticket(const struct api_call *call, struct http_reply *reply)
{
    struct mcpx_slice topic;
    json_t *body = api_body_read(call->request->body, reply);

    if (!body || !api_body_string(body, "topic", &topic, reply))
        goto out;
    if (topic.len == 0)
        http_reply_fail(reply, MCPX_ETOPIC, "topic is required");
    else if (api_is_topic(topic, reply))
        issue_ticket(call, topic, reply);
out:
    json_decref(body);
}

bool api_may(const struct api_call *call, struct grant *grant, const char *kind,
             struct http_reply *reply)
{
    if (authority_has(grant->capset, kind, call->now.wall_ms))
        return true;
    http_reply_fail(reply, MCPX_ECAPABILITY, "this needs a grant for ");
    mcpx_text_puts(&reply->detail, kind);
    return false;
}

struct grant *api_grant_in(const struct api_call *call, struct mcpx_slice topic,
                           struct http_reply *reply)
{
    const struct http_api *api = call->api;
    struct grant *grant = NULL;
    enum mcpx_err err =
        tokens_rejudge(api->config->tokens, call->grant, topic, call->now, &grant);

    if (!err)
        err = changes_admit(api->changes, topic, call->now.wall_ms, &grant);
    if (!err)
        return grant;
    http_reply_fail(reply, err, err == MCPX_EFORBIDDEN ? "Access denied to topic" : NULL);
    grant_unref(grant);
    return NULL;
}

/*
 * Jansson reads the bodies of API calls: they are small, they are for the router itself, and
 * nobody gets them forwarded, so a value tree is what is wanted here. Its error texts were refused
 * as answers, because they quote the input.
 */

json_t *api_body_read(struct mcpx_slice body, struct http_reply *reply)
{
    json_error_t error;
    json_t *root;

    if (body.len == 0) {
        http_reply_fail(reply, MCPX_EREQUEST, "body is empty; expected a JSON object");
        return NULL;
    }
    root = json_loadb(body.text, body.len, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(root))
        return root;
    if (root) {
        json_decref(root);
        http_reply_fail(reply, MCPX_EREQUEST, "body must be a JSON object");
        return NULL;
    }
    http_reply_fail(reply, MCPX_EREQUEST, NULL);
    mx_format(&reply->detail, "body %s (line %s, column %s)",
              json_error_code(&error) == json_error_duplicate_key ? "names a member twice"
                                                                  : "is not valid JSON",
              error.line, error.column);
    return NULL;
}

static void fail_type(const char *name, const char *wanted, struct http_reply *reply)
{
    http_reply_fail(reply, MCPX_EREQUEST, name);
    mx_format(&reply->detail, " must be %s", wanted);
}

bool api_body_string(const json_t *body, const char *name, struct mcpx_slice *out,
                     struct http_reply *reply)
{
    const json_t *value = json_object_get(body, name);

    if (value && !json_is_string(value)) {
        fail_type(name, "a string", reply);
        return false;
    }
    *out = (struct mcpx_slice){json_string_value(value), json_string_length(value)};
    return true;
}

bool api_body_array(const json_t *body, const char *name, char **out, struct http_reply *reply)
{
    const json_t *value = json_object_get(body, name);

    *out = NULL;
    if (!value)
        return true;
    if (!json_is_array(value)) {
        fail_type(name, "an array", reply);
        return false;
    }
    *out = json_dumps(value, JSON_COMPACT);
    if (!*out)
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
    return *out != NULL;
}

void api_body_fault(enum mcpx_err err, const char *name, const struct mcpx_fault *fault,
                    struct http_reply *reply)
{
    http_reply_fail(reply, err, err == MCPX_ENOMEM ? NULL : name);
    if (err == MCPX_ENOMEM)
        return;
    if (!fault->reason)
        mx_format(&reply->detail, ": %s", mcpx_strerror(err));
    else if (fault->field && *fault->field)
        mx_format(&reply->detail, ": %s (%s, byte %s)", fault->reason, fault->field,
                  fault->offset);
    else
        mx_format(&reply->detail, ": %s (byte %s)", fault->reason, fault->offset);
}
