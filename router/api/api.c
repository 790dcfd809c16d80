/*
 * api.c - functions for all handlers: query and body, read by the rows of a route; the caller's
 * grants; refusals; pages. Handlers of a few lines are here as well. Alive and ready differ: a
 * draining router is alive but not ready, and must not be killed for it.
 */
#include "router/api/api.h"

#include "lib/base/digits.h"
#include "lib/base/ident.h"
#include "lib/json/json_write.h"
#include "lib/wire/http_head.h"
#include <mcpx/json.h>

enum { NAMES_MAX = 1000 }; /* names in one answer */

/* ---- the request ---- */

bool api_read_query(struct api_call *call, const struct http_param *rows,
                    struct mcpx_slice query, struct http_reply *reply)
{
    size_t count = 0;

    for (; rows && rows[count].name; count++)
        call->query[count] = rows[count];
    if (!http_params_read(query, call->query, count, reply))
        return false;
    for (size_t i = 0; i < count; i++)
        if (call->query[i].type == HTTP_TOPIC && call->query[i].value.text &&
            !api_is_topic(call->query[i].value, reply))
            return false;
    return true;
}

/*
 * Jansson reads the bodies of API calls: they are small, and the router does not forward them, so a
 * tree of values is enough. Rejected: its error texts as answers; they quote the input. Returns
 * false with a problem; the caller owns the object.
 */
static bool parse_body(struct mcpx_slice body, json_t **out, struct http_reply *reply)
{
    json_error_t error;

    if (body.len == 0)
        return http_reply_fail(reply, MCPX_EREQUEST, "body is empty; expected a JSON object");
    *out = json_loadb(body.text, body.len, JSON_REJECT_DUPLICATES, &error);
    if (*out)
        return json_is_object(*out) ||
               http_reply_fail(reply, MCPX_EREQUEST, "body must be a JSON object");
    http_reply_fail(reply, MCPX_EREQUEST, NULL);
    mx_format(&reply->detail, "body %s (line %s, column %s)",
              json_error_code(&error) == json_error_duplicate_key ? "names a member twice"
                                                                  : "is not valid JSON",
              error.line, error.column);
    return false;
}

static bool are_ids(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i)) ||
            !mcpx_participant_id_is_valid(json_slice(json_array_get(list, i))))
            return false;
    return true;
}

/* Returns the fault of a present member, to follow its name; NULL when it is valid. */
static const char *member_fault(const struct http_param *member, const json_t *value)
{
    bool is_text = member->type == HTTP_TEXT || member->type == HTTP_TOPIC;

    if (member->type == HTTP_ANY || (is_text && json_is_string(value)))
        return NULL;
    if (is_text)
        return " must be a string";
    if (json_is_array(value) && (!member->most || json_array_size(value) <= member->most) &&
        (member->type != HTTP_IDS || are_ids(value)))
        return NULL;
    return " must be an array";
}

bool api_read_body(struct api_call *call, const struct http_param *member,
                   struct http_reply *reply)
{
    if (!member)
        return true;
    if (!parse_body(call->request->body, &call->body, reply))
        return false;
    for (; member->name; member++) {
        const json_t *value = json_object_get(call->body, member->name);
        const char *fault = value ? member_fault(member, value) : NULL;

        if (!value && member->required)
            fault = " is required";
        if (fault && value && member->must)
            return http_reply_fail(reply, MCPX_EREQUEST, member->must);
        if (fault) {
            http_reply_fail(reply,
                            !value && member->type == HTTP_TOPIC ? MCPX_ETOPIC : MCPX_EREQUEST,
                            member->name);
            mcpx_text_puts(&reply->detail, fault);
            return false;
        }
        if (value && member->type == HTTP_TOPIC && !api_is_topic(json_slice(value), reply))
            return false;
    }
    return true;
}

const struct http_param *api_param(const struct api_call *call, const char *name)
{
    const struct http_param *param = call->query;

    while (strcmp(param->name, name) != 0)
        param++;
    return param;
}

size_t api_number(const struct api_call *call, const char *name, size_t otherwise)
{
    const struct http_param *param = api_param(call, name);

    return param->value.text ? param->number : otherwise;
}

struct mcpx_slice api_string(const struct api_call *call, const char *name)
{
    return json_slice(json_object_get(call->body, name));
}

bool api_is_topic(struct mcpx_slice topic, struct http_reply *reply)
{
    return mcpx_topic_name_is_valid(topic) ||
           http_reply_fail(reply, MCPX_ETOPIC,
                           "topic must be 1 to 256 bytes without control characters");
}

bool api_target(const struct api_call *call, struct change_act *act, struct http_reply *reply)
{
    if (!mcpx_participant_id_is_valid(call->name))
        return http_reply_fail(
            reply, MCPX_EREQUEST,
            "the participant must be 1 to 256 bytes without control characters, "
            "and not 'system'");
    act->identity = mcpx_identity_of(call->name);
    act->by = call->grant->identity;
    act->wall_ms = call->now.wall_ms;
    return true;
}

/* ---- the caller ---- */

/* A duplicate header arrives joined by ", ". Its space is not valid in a token. */
enum mcpx_err http_bearer(struct mcpx_slice authorization, struct mcpx_slice *bearer)
{
    struct mcpx_slice token = authorization, scheme = mx_cut_at(&token, ' ');

    if (!mx_same_word(scheme, "Bearer")) {
        *bearer = (struct mcpx_slice){0};
        return MCPX_OK;
    }
    token = mx_trim(token, " ");
    if (!mx_http_is_visible(token))
        return MCPX_ETOKEN;
    *bearer = token;
    return MCPX_OK;
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

/* ---- refusals ---- */

/* Returns the detail for a caller without a valid credential. It names the kind of credential,
 * never its value. */
static const char *token_detail(const struct api_call *call)
{
    struct mcpx_slice bearer;

    if (call->request->named.text)
        return "Invalid certificate, or a token or ticket of another participant";
    if (http_bearer(call->request->authorization, &bearer) != MCPX_OK || bearer.text)
        return "Invalid token";
    if (call->request->join && api_param(call, "ticket")->value.text)
        return "ticket is unknown, used or expired, or its certificate is not shown";
    if (!call->request->join || !api_param(call, "token")->value.text)
        return "No token provided";
    return call->api->config->query_token
               ? "Invalid token"
               : "tokens in the query are not accepted here; use Authorization or a ticket";
}

/* Returns the detail for a refused caller; NULL = the error's own text. */
static const char *refusal_detail(const struct api_call *call, enum mcpx_err err)
{
    static const struct {
        enum mcpx_err err;
        const char *sentence;
    } rows[] = {
        {MCPX_EFORBIDDEN, "Access denied to topic"},
        {MCPX_ENOTOPIC, "topic does not exist and may not be created"},
        {MCPX_EFULL, "topic or router is full; try again later"},
        {MCPX_EPRESENT, "this participant is already connected to the topic"},
        {MCPX_EFLAPPING,
         "this participant was replaced more than three times within a minute, or came too "
         "often; is it running twice? With instance=auto both may stay"},
        {MCPX_EINSTANCES,
         "this participant is connected to the topic as often as it may be; end one of its "
         "connections, or raise auth.instances"},
        {MCPX_EGOING, "the router is going away"},
        {MCPX_ENOTNOW,
         "the router cannot load or store anything of this topic now; try again later"},
        {MCPX_EKICKED, "an administrator keeps this participant out of the topic for now"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].err == err)
            return rows[i].sentence;
    return err == MCPX_ETOKEN ? token_detail(call) : NULL;
}

bool api_over_cap(const struct api_call *call, enum mcpx_err err, enum cap cap,
                  struct http_reply *reply)
{
    hub_note_cap(call->api->hub, cap);
    http_reply_fail(reply, err, NULL);
    mx_format(&reply->detail, "%s (%s)", mcpx_strerror(err), cap_setting(cap));
    return false;
}

bool api_refuse(const struct api_call *call, enum mcpx_err err, struct http_reply *reply)
{
    if (err == MCPX_ESHARE)
        return api_over_cap(call, err, hub_cap_of(call->api->hub, call->grant), reply);
    return http_reply_fail(reply, err, refusal_detail(call, err));
}

struct grant *api_grant_in(const struct api_call *call, struct mcpx_slice topic,
                           struct http_reply *reply)
{
    const struct http_api *api = call->api;
    struct grant *grant = NULL;
    enum mcpx_err err =
        tokens_recheck(api->config->tokens, call->grant, topic, call->now, &grant);

    if (!err)
        err = changes_admit(api->changes, topic, call->now.wall_ms, &grant);
    if (!err)
        return grant;
    api_refuse(call, err, reply);
    grant_unref(grant);
    return NULL;
}

/* ---- answers ---- */

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

struct name_page api_page(const struct api_call *call)
{
    return (struct name_page){api_number(call, "limit", NAMES_MAX),
                              api_param(call, "after")->value};
}

/* Existing clients do not know pages: a complete answer has no further members. */
void api_page_end(struct mcpx_slice next, struct mcpx_text *out)
{
    if (next.text)
        mx_json_add_bool(out, "complete", false);
    mx_json_add_optional(out, "next", next);
    mx_json_end_object(out);
}

/* ---- state of the router ---- */

static void answer_root(const struct api_call *call, struct http_reply *reply)
{
    (void)call;
    mx_format(&reply->body,
              "This is mcpx-router %s, a router for messages of MCPx.\n\n"
              "Programs connect with a WebSocket to /ws?topic=NAME, and need a token for it.\n"
              "/health and /readyz say how the router is, /metrics has its figures.\n"
              "\"man mcpx-router\" and \"mcpxctl --help\" say how to use it.\n",
              mcpx_version());
}

static void answer_health(const struct api_call *call, struct http_reply *reply)
{
    int64_t ms = call->now.mono_ms - call->api->started.mono_ms;
    char now[MX_TIME_LEN + 1];

    mx_time_format(call->now.wall_ms, now);
    mx_format(&reply->body,
              "{\"status\":\"healthy\",\"timestamp\":%q,\"uptime\":%s.%s%s%s,\"protocol\":%q}",
              now, ms / 1000, ms / 100 % 10, ms / 10 % 10, ms % 10, MCPX_PROTOCOL);
}

static void answer_live(const struct api_call *call, struct http_reply *reply)
{
    (void)call;
    mcpx_text_puts(&reply->body, "{\"status\":\"alive\"}");
}

bool api_is_going(const struct http_api *api)
{
    return api->going || hub_is_draining(api->hub);
}

static void answer_ready(const struct api_call *call, struct http_reply *reply)
{
    const struct http_api *api = call->api;
    bool going = api_is_going(api);
    size_t count = 0;

    if (!going && !api->store_why) {
        mcpx_text_puts(&reply->body, "{\"status\":\"ready\"}");
        return;
    }
    http_reply_fail(reply, going ? MCPX_EGOING : MCPX_EUNAVAILABLE, NULL);
    if (going)
        reply->reasons[count++] = mcpx_error_wire(MCPX_EGOING);
    if (api->store_why)
        reply->reasons[count] = api->store_why;
}

/* ---- routes ---- */

const struct http_param api_page_params[] = {
    {API_NUMBER("limit", 1, 1000)}, {API_TEXT("after")}, {API_END}};

const struct api_route api_routes[] = {
    {HTTP_GET, "/", "text for people", .handle = answer_root,
     .type = "text/plain; charset=utf-8"},
    {HTTP_GET, "/health", "status, clock, uptime", .handle = answer_health},
    {HTTP_GET, "/livez", "200 while the process answers", .handle = answer_live},
    {HTTP_GET, "/readyz", "200 while connections are welcome, else 503",
     .handle = answer_ready},
    {.path = NULL},
};
