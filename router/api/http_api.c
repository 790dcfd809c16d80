/*
 * http_api.c - finds the route of a request, checks access, and calls one handler. The routes are
 * one table: method, path, answer, handler, access, parameters. 404, 405 with Allow, OPTIONS, HEAD
 * and the OpenAPI document follow from it. Rejected: a chain of string comparisons.
 */
#include "router/api/api.h"

#include "lib/base/match.h"
#include "lib/json/json_write.h"
#include "lib/wire/http_head.h"
#include "router/http/http_reply.h"
#include <mcpx/json.h>

/* A route requires nothing, a valid token, or a token valid for the topic. */
enum access { ACCESS_OPEN, ACCESS_TOKEN, ACCESS_TOPIC };

struct route {
    enum http_method method;
    /* Literal text, with at most one "{...}" for one or more bytes. */
    const char *path;
    const char *says; /* its answer, as in docs/http-api.md */
    api_handler *handle;
    enum access access; /* for ACCESS_TOPIC, "{...}" is a topic's name */
    /* A kind to be covered by a grant of the caller (api_may); NULL = none. */
    const char *needs;
    /* Rows of its parameters, the last one without a name; NULL = it has none. */
    const struct http_param *query;
    /* Likewise of the members of its body; NULL = the body is not read. */
    const struct http_param *body;
    bool in_topic;    /* its handler checks `needs`, in the topic of the request */
    bool dev;         /* exists in dev mode only */
    const char *type; /* media type of the answer; NULL = application/json */
};

/* A reload takes time: the owner of the connection answers when it is done. */
static void api_reload(const struct api_call *call, struct http_reply *reply)
{
    reply->err = MCPX_EOPENING;
    reply->reload = true;
    mcpx_text_slice(&reply->detail, call->grant->identity);
}

/* ---- the table ---- */

/* In order: name, type, required, least, most. */
#define TEXT(name) name, HTTP_TEXT, .must = NULL
#define TOPIC "topic", HTTP_TOPIC, true, .must = NULL
#define TOPIC_IF_ANY "topic", HTTP_TOPIC, .must = NULL
#define NUMBER(name, least, most)                                                             \
    name, HTTP_NUMBER, false, least, most,                                                    \
        .must = name " must be a number from " #least " to " #most
#define ENVELOPE_ID(name)                                                                     \
    name, HTTP_TEXT, false, 1, MCPX_ID_MAX,                                                   \
        .must = name " must be an envelope id of 1 to 256 bytes"
#define PATTERNS(name)                                                                        \
    name, HTTP_LIST, false, 0, API_PATTERNS_MAX,                                              \
        .must = name " must be an array of at most 64 patterns"
#define GRANTS "capabilities", HTTP_LIST, .must = NULL
#define END .name = NULL

static const struct http_param page[] = {{NUMBER("limit", 1, 1000)}, {TEXT("after")}, {END}};
static const struct http_param history[] = {
    {NUMBER("limit", 1, 1000)}, {ENVELOPE_ID("before")}, {ENVELOPE_ID("after")}, {END}};
static const struct http_param dry_run[] = {{NUMBER("dry_run", 0, 1)}, {END}};
/* A ban lasts a year at most; the configuration can exclude for longer. */
static const struct http_param kick[] = {
    {TOPIC_IF_ANY}, {NUMBER("for", 0, 31536000)}, {NUMBER("dry_run", 0, 1)}, {END}};

/* Our epochs are shorter. Another router's may be longer, and is unknown here. */
static const struct http_param joining[] = {
    {TOPIC},
    {TEXT("routing")},
    {NUMBER("history", 0, 1000000)},
    {ENVELOPE_ID("after")},
    {"epoch", HTTP_TEXT, false, 1, 64, .must = "epoch must be 1 to 64 bytes"},
    {"serial", HTTP_NUMBER, .most = SIZE_MAX,
     .must = "serial must be a number of at most 18 digits"},
    {TEXT("instance")},
    {"instance_key", HTTP_TEXT, false, 1, 64, .must = "instance_key must be 1 to 64 bytes"},
    {TEXT("ticket")},
    {TEXT("token")},
    {END}};

static const struct http_param ticket[] = {{TOPIC}, {END}};
static const struct http_param renew[] = {{TOPIC}, {TEXT("id")}, {TEXT("replaces")}, {END}};
static const struct http_param token[] = {
    {TEXT("participantId")}, {TEXT("topic")}, {GRANTS}, {END}};
static const struct http_param change[] = {{TOPIC},
                                           {PATTERNS("add")},
                                           {PATTERNS("remove")},
                                           {"until", HTTP_ANY, .must = NULL},
                                           {END}};
static const struct http_param check[] = {
    {"kind", HTTP_TEXT, true, .must = NULL},
    {"to", HTTP_IDS, .most = MCPX_TO_MAX,
     .must = "to must be an array of at most 256 participant ids"},
    {TOPIC_IF_ANY},
    {TEXT("participant")},
    {GRANTS},
    {END}};

static const struct route routes[] = {
    {HTTP_GET, "/", "text for people", .handle = api_root,
     .type = "text/plain; charset=utf-8"},
    {HTTP_GET, "/openapi.json", "these calls in OpenAPI 3.1", .handle = api_openapi},
    {HTTP_GET, "/health", "status, clock, uptime", .handle = api_health},
    {HTTP_GET, "/livez", "200 while the process answers", .handle = api_live},
    {HTTP_GET, "/readyz", "200 while connections are welcome, else 503", .handle = api_ready},
    {HTTP_GET, "/metrics", "Prometheus text", .handle = api_metrics,
     .type = "text/plain; version=0.0.4; charset=utf-8"},
    {HTTP_GET, "/ws", "the WebSocket", .handle = api_upgrade},
    {HTTP_GET, "/v0.1/ws", "the WebSocket", .handle = api_upgrade},
    {HTTP_GET, "/v0.1/topics", "the token's topics", .handle = api_topics,
     .access = ACCESS_TOKEN, .query = page},
    {HTTP_GET, "/v0.1/topics/{topic}/participants", "connected participants",
     .handle = api_participants, .access = ACCESS_TOPIC, .query = page},
    {HTTP_GET, "/v0.1/topics/{topic}/history", "retained envelopes, newest first",
     .handle = api_history, .access = ACCESS_TOPIC, .query = history},
    {HTTP_GET, "/v0.1/topics/{topic}/rate-limit", "what its participant may still send",
     .handle = api_rate_limit, .access = ACCESS_TOPIC},
    {HTTP_POST, "/v0.1/tickets", "single-use ticket for a browser", .handle = api_ticket,
     .access = ACCESS_TOKEN, .body = ticket},
    {HTTP_POST, "/v0.1/token", "connections go on under this token", .handle = api_renew,
     .access = ACCESS_TOKEN, .body = renew},
    {HTTP_POST, "/v0.1/check", "whether a kind may be sent, and why not", .handle = api_check,
     .access = ACCESS_TOKEN, .body = check},
    {HTTP_GET, "/admin/participants", "participants", .handle = api_admin_participants,
     .access = ACCESS_TOKEN, .needs = "admin/read", .query = page},
    {HTTP_GET, "/admin/topics", "all topics", .handle = api_admin_topics,
     .access = ACCESS_TOKEN, .needs = "admin/read", .query = page},
    {HTTP_GET, "/admin/policy", "configured policy", .handle = api_admin_policy,
     .access = ACCESS_TOKEN, .needs = "admin/read", .query = page},
    {HTTP_POST, "/admin/reload", "reads the configuration again", .handle = api_reload,
     .access = ACCESS_TOKEN, .needs = "admin/reload"},
    {HTTP_POST, "/admin/participants/{id}/capabilities", "changes grants and denials",
     .handle = api_change, .access = ACCESS_TOKEN, .needs = "admin/grant", .query = dry_run,
     .body = change, .in_topic = true},
    {HTTP_DELETE, "/admin/participants/{id}", "removes a participant", .handle = api_kick,
     .access = ACCESS_TOKEN, .needs = "admin/kick", .query = kick, .in_topic = true},
    {HTTP_POST, "/v0.1/auth/token", "a token", .handle = api_token, .body = token,
     .dev = true},
    {HTTP_POST, "/v0/auth/token", "a token", .handle = api_token, .body = token, .dev = true},
};

/* ---- the table as a document ---- */

/* Writes type and bounds of a parameter or of a body's member. */
static void write_schema(const char *name, const struct http_param *param,
                         struct mcpx_text *out)
{
    static const struct {
        const char *type, *bound;
    } words[] = {[HTTP_TEXT] = {"string", "Length"},  [HTTP_NUMBER] = {"integer", "imum"},
                 [HTTP_TOPIC] = {"string", "Length"}, [HTTP_LIST] = {"array", "Items"},
                 [HTTP_IDS] = {"array", "Items"},     [HTTP_ANY] = {NULL, NULL}};
    const char *type = words[param->type].type, *bound = words[param->type].bound;

    mx_json_begin_object(out, name);
    mx_json_add_optional(out, "type", mcpx_slice_of(type));
    if (param->most)
        mx_format(out, ",\"min%s\":%s,\"max%s\":%s", bound, param->least, bound, param->most);
    mx_json_end_object(out);
}

static void write_parameters(const struct route *route, struct mcpx_text *out)
{
    const char *open = strchr(route->path, '{');
    struct mcpx_slice name = mcpx_slice_of(open ? open + 1 : "");

    name.len = strcspn(name.text, "}");
    mx_json_begin_array(out, "parameters");
    if (open)
        mx_format(out,
                  "{\"name\":%q,\"in\":\"path\",\"required\":true,"
                  "\"schema\":{\"type\":\"string\"}}",
                  name);
    for (const struct http_param *param = route->query; param && param->name; param++) {
        mx_json_begin_object(out, NULL);
        mx_format(out, "\"name\":%q,\"in\":\"query\"", param->name);
        write_schema("schema", param, out);
        mx_json_end_object(out);
    }
    mx_json_end_array(out);
}

static void write_body(const struct http_param *members, struct mcpx_text *out)
{
    mcpx_text_puts(out, ",\"requestBody\":{\"required\":true,\"content\":{"
                        "\"application/json\":{\"schema\":{\"type\":\"object\"");
    mx_json_begin_object(out, "properties");
    for (const struct http_param *member = members; member->name; member++)
        write_schema(member->name, member, out);
    mx_json_end_object(out);
    mx_json_begin_array(out, "required");
    for (const struct http_param *member = members; member->name; member++)
        if (member->required)
            mx_json_add_item(out, mcpx_slice_of(member->name));
    mx_json_end_array(out);
    mcpx_text_puts(out, "}}}}");
}

static void write_call(const struct route *route, struct mcpx_text *out)
{
    static const char *const methods[] = {
        [HTTP_GET] = "get", [HTTP_POST] = "post", [HTTP_DELETE] = "delete"};

    mx_json_begin_object(out, methods[route->method]);
    mcpx_json_add_member(out, "summary", mcpx_slice_of(route->says));
    if (route->access != ACCESS_OPEN) {
        mcpx_text_puts(out, ",\"security\":[{\"token\":[");
        mx_format(out, route->needs ? "%q]}]" : "%s]}]", route->needs);
    }
    write_parameters(route, out);
    if (route->body)
        write_body(route->body, out);
    mx_format(out,
              ",\"responses\":{\"200\":{\"description\":%q,\"content\":{%q:{}}},"
              "\"default\":{\"$ref\":\"#/components/responses/problem\"}}}",
              route->says, route->type ? route->type : "application/json");
}

/* OpenAPI cannot describe a WebSocket. */
void api_openapi(const struct api_call *call, struct http_reply *reply)
{
    struct mcpx_text *out = &reply->body;
    const char *path = ""; /* path of the calls being written: its rows are adjacent */

    mx_format(out,
              "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"mcpx-router\",\"version\":%q},"
              "\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\","
              "\"scheme\":\"bearer\"}},\"responses\":{\"problem\":{\"description\":"
              "\"refused\",\"content\":{\"application/problem+json\":{}}}}},\"paths\":{",
              mcpx_version());
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if ((routes[i].dev && !call->api->config->dev) || routes[i].handle == api_upgrade)
            continue;
        if (strcmp(path, routes[i].path) != 0) {
            mcpx_text_puts(out, *path ? "}" : "");
            mx_json_begin_object(out, path = routes[i].path);
        }
        write_call(&routes[i], out);
    }
    mcpx_text_puts(out, "}}}");
}

/* ---- the route of a request ---- */

/*
 * True when the path fits. `name` is then its part for "{...}", still encoded. A name may hold
 * plain slashes if literal text follows it: then it is not ambiguous.
 */
static bool route_fits(const struct route *route, struct mcpx_slice path,
                       struct mcpx_slice *name)
{
    const char *open = strchr(route->path, '{');
    struct mcpx_slice head, tail;

    if (!open)
        return mcpx_slice_equal(path, mcpx_slice_of(route->path));
    head = (struct mcpx_slice){route->path, (size_t)(open - route->path)};
    tail = mcpx_slice_of(strchr(open, '}') + 1);
    if (path.len <= head.len + tail.len || memcmp(path.text, head.text, head.len) != 0 ||
        memcmp(path.text + path.len - tail.len, tail.text, tail.len) != 0)
        return false;
    *name = (struct mcpx_slice){path.text + head.len, path.len - head.len - tail.len};
    return tail.len > 0 || !memchr(name->text, '/', name->len);
}

/* Returns a method's bit; 0 for others. HEAD finds the route of GET: RFC 9110 section 9.3.2. */
static unsigned method_of(struct mcpx_slice method)
{
    if (mcpx_slice_equal(method, MCPX_SLICE("HEAD")) ||
        mcpx_slice_equal(method, MCPX_SLICE("GET")))
        return HTTP_GET;
    if (mcpx_slice_equal(method, MCPX_SLICE("POST")))
        return HTTP_POST;
    if (mcpx_slice_equal(method, MCPX_SLICE("DELETE")))
        return HTTP_DELETE;
    return 0;
}

/*
 * Returns the route of a request, or NULL with a problem or the answer to OPTIONS. `name` is filled
 * when the route has one.
 */
static const struct route *find_route(const struct http_api *api,
                                      const struct http_request *request,
                                      struct mcpx_slice path, struct mcpx_slice *name,
                                      struct http_reply *reply)
{
    unsigned method = method_of(request->method);
    const struct route *found = NULL;
    struct mcpx_slice part = {0};
    unsigned allow = 0;

    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if ((routes[i].dev && !api->config->dev) || !route_fits(&routes[i], path, &part) ||
            (request->join && routes[i].handle != api_upgrade))
            continue;
        allow |= routes[i].method;
        if (routes[i].method == method) {
            found = &routes[i];
            *name = part;
        }
    }
    if (found)
        return found;
    if (!allow) {
        http_reply_fail(reply, MCPX_ENOTFOUND,
                        request->join ? "WebSockets live at /ws and /v0.1/ws"
                                      : "nothing lives at this path");
        return NULL;
    }
    reply->allow = allow;
    reply->preflight = mcpx_slice_equal(request->method, MCPX_SLICE("OPTIONS"));
    if (!reply->preflight)
        http_reply_fail(reply, MCPX_EMETHOD, NULL);
    return NULL;
}

/* Decodes the path's variable part into reply->scratch, which has room for the whole target. */
static bool read_name(const struct route *route, struct mcpx_slice raw, struct api_call *call,
                      struct http_reply *reply)
{
    if (!raw.text)
        return true;
    if (!http_decode(raw, HTTP_PLUS_LITERAL, &reply->scratch, &call->name))
        return http_reply_fail(reply, MCPX_EREQUEST, "path has malformed percent-encoding");
    return route->access != ACCESS_TOPIC || api_is_topic(call->name, reply);
}

/* ---- the caller ---- */

static bool check_access(enum access access, struct api_call *call, struct http_reply *reply)
{
    bool in_topic = access == ACCESS_TOPIC;
    enum mcpx_err err;

    if (access == ACCESS_OPEN)
        return true;
    err = api_find_grant(call, in_topic ? call->name : (struct mcpx_slice){0});
    if (!err && in_topic &&
        changed_barred_until(
            changes_find(call->api->changes, call->grant->identity, call->name),
            call->now.wall_ms))
        err = MCPX_EKICKED;
    return !err || api_refuse(call, err, reply);
}

/* Protocol: section 8. Charges the participant. Its address was charged before, and is refunded. */
static bool check_rate(const struct api_call *call, struct http_reply *reply)
{
    const struct http_request *request = call->request;
    struct http_caller *caller = request->caller;
    int64_t wait_ms = 0;

    if (call->grant && !request->again)
        wait_ms =
            rate_limits_knows(call->api->rates, request->from, caller ? caller->looks : 0,
                              call->grant->identity, call->now);
    if (wait_ms > 0) {
        hub_note_cap(call->api->hub, CAP_REQUESTS);
        api_refuse(call, MCPX_EREQUESTS, reply);
        reply->wait_ms = wait_ms;
    } else if (call->grant && caller) {
        caller->is_good = true;
    }
    return wait_ms == 0;
}

/* True for a permitted Origin. Only visible ASCII can be: the answer's header repeats it. */
static bool is_allowed(const struct config *config, struct mcpx_slice origin)
{
    return !origin.text ||
           (mx_http_is_visible(origin) &&
            mx_glob_any_matches(config->origins.text, config->origins.count, origin));
}

static bool is_foreign(const struct http_request *request, const struct http_reply *reply)
{
    return request->origin.text && !reply->origin.text;
}

/* ---- the answer ---- */

static uint64_t work_ns(const struct http_api *api)
{
    return api->work_ns ? api->work_ns() : 0;
}

/* Checks access and rate, and reads all input of the handler. */
static bool prepare_call(const struct route *route, struct api_call *call,
                         struct mcpx_slice name, struct mcpx_slice query,
                         struct http_reply *reply)
{
    return read_name(route, name, call, reply) && check_access(route->access, call, reply) &&
           check_rate(call, reply) &&
           (!route->needs || route->in_topic ||
            api_may(call, call->grant, route->needs, reply)) &&
           api_read_query(call, route->query, query, reply) &&
           api_read_body(call, route->body, reply);
}

/* The same for a WebSocket: its topic is in the query. */
static bool prepare_join(struct api_call *call, struct mcpx_slice query,
                         struct http_reply *reply)
{
    const char *fault;

    if (!api_read_query(call, joining, query, reply))
        return false;
    fault = api_read_wishes(call);
    if (fault)
        return http_reply_fail(reply, MCPX_EREQUEST, fault);
    call->name = call->request->join->topic;
    return check_access(ACCESS_TOPIC, call, reply) && check_rate(call, reply);
}

static void dispatch(struct api_call *call, struct http_reply *reply)
{
    const struct http_request *request = call->request;
    struct http_target target;
    struct mcpx_slice name = {0};
    const struct route *route;

    if (mcpx_slice_equal(request->method, MCPX_SLICE("OPTIONS")) &&
        mcpx_slice_equal(request->target, MCPX_SLICE("*"))) { /* RFC 9110 section 9.3.7 */
        reply->allow = HTTP_GET | HTTP_POST | HTTP_DELETE;
        reply->preflight = true;
        return;
    }
    if (!http_target_parse(request->target, &target)) {
        http_reply_fail(reply, MCPX_EREQUEST, "request target must be a path");
        return;
    }
    route = find_route(call->api, request, target.path, &name, reply);
    if (!route)
        return;
    if (is_foreign(request, reply))
        http_reply_fail(reply, MCPX_EORIGIN, NULL);
    else if (request->body.len > HTTP_BODY_MAX)
        http_reply_fail(reply, MCPX_ETOOBIG, "body exceeds 65536 bytes");
    else if (!mcpx_text_reserve(&reply->scratch, request->target.len))
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
    else if (request->join && prepare_join(call, target.query, reply))
        api_join(call, reply);
    else if (!request->join && prepare_call(route, call, name, target.query, reply)) {
        reply->type = route->type;
        route->handle(call, reply);
    }
}

void http_answer(const struct http_api *api, const struct http_request *request,
                 struct mcpx_now now, struct http_reply *reply)
{
    struct api_call call = {.api = api, .request = request, .now = now};
    uint64_t began_ns = work_ns(api);

    reply->head = mcpx_slice_equal(request->method, MCPX_SLICE("HEAD"));
    if (is_allowed(api->config, request->origin))
        reply->origin = request->origin;
    if (is_foreign(request, reply) && !request->join) /* else path and method come first */
        http_reply_fail(reply, MCPX_EORIGIN, NULL);
    else
        dispatch(&call, reply);
    if (call.grant && !request->join)
        rate_limits_charge(api->rates, call.grant->identity,
                           (work_ns(api) - began_ns) / HTTP_WORK_NS, now);
    grant_unref(call.grant);
    json_decref(call.body);
}
