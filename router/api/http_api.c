/*
 * http_api.c - finds the route of a request and its caller, checks access, and calls one handler.
 * The routes are tables beside their handlers: method, path, answer, handler, access, parameters.
 * 404, 405 with Allow, OPTIONS, HEAD and the OpenAPI document follow from them. Rejected: a chain
 * of string comparisons.
 */
#include "router/api/api.h"

#include "lib/base/match.h"
#include "lib/json/json_write.h"
#include "lib/wire/http_head.h"
#include "router/http/http_reply.h"
#include <mcpx/json.h>

static api_handler answer_openapi;

static const struct api_route own_routes[] = {
    {HTTP_GET, "/openapi.json", "these calls in OpenAPI 3.1", .handle = answer_openapi},
    {HTTP_GET, "/ws", "the WebSocket", .handle = NULL},
    {HTTP_GET, "/v0.1/ws", "the WebSocket", .handle = NULL},
    {.path = NULL},
};

/* All routes, in the order of the OpenAPI document. */
static const struct api_route *const tables[] = {
    api_routes,      own_routes,       api_metrics_routes, api_topics_routes,
    api_auth_routes, api_check_routes, api_admin_routes,   api_change_routes};

/* ---- the tables as a document ---- */

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

static void write_parameters(const struct api_route *route, struct mcpx_text *out)
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

static void write_call(const struct api_route *route, struct mcpx_text *out)
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
static void answer_openapi(const struct api_call *call, struct http_reply *reply)
{
    struct mcpx_text *out = &reply->body;
    const char *path = ""; /* path of the calls being written: its rows are adjacent */

    mx_format(out,
              "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"mcpx-router\",\"version\":%q},"
              "\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\","
              "\"scheme\":\"bearer\"}},\"responses\":{\"problem\":{\"description\":"
              "\"refused\",\"content\":{\"application/problem+json\":{}}}}},\"paths\":{",
              mcpx_version());
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct api_route *route = tables[i]; route->path; route++) {
            if ((route->dev && !call->api->config->dev) || !route->handle)
                continue;
            if (strcmp(path, route->path) != 0) {
                mcpx_text_puts(out, *path ? "}" : "");
                mx_json_begin_object(out, path = route->path);
            }
            write_call(route, out);
        }
    mcpx_text_puts(out, "}}}");
}

/* ---- the route of a request ---- */

/*
 * True when the path fits. `name` is then its part for "{...}", still encoded. A name may hold
 * plain slashes if literal text follows it: then it is not ambiguous.
 */
static bool route_fits(const struct api_route *route, struct mcpx_slice path,
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
static const struct api_route *find_route(const struct http_api *api,
                                          const struct http_request *request,
                                          struct mcpx_slice path, struct mcpx_slice *name,
                                          struct http_reply *reply)
{
    unsigned method = method_of(request->method);
    const struct api_route *found = NULL;
    struct mcpx_slice part = {0};
    unsigned allow = 0;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct api_route *route = tables[i]; route->path; route++) {
            if ((route->dev && !api->config->dev) || !route_fits(route, path, &part) ||
                (request->join && route->handle))
                continue;
            allow |= route->method;
            if (route->method == method) {
                found = route;
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
static bool read_name(const struct api_route *route, struct mcpx_slice raw,
                      struct api_call *call, struct http_reply *reply)
{
    if (!raw.text)
        return true;
    if (!http_decode(raw, HTTP_PLUS_LITERAL, &reply->scratch, &call->name))
        return http_reply_fail(reply, MCPX_EREQUEST, "path has malformed percent-encoding");
    return route->access != ACCESS_TOPIC || api_is_topic(call->name, reply);
}

/* ---- the caller ---- */

/* A ticket gives the present grant of the token or certificate it was issued for. */
static enum mcpx_err use_ticket(struct api_call *call, struct mcpx_slice topic)
{
    const struct mcpx_slice named = call->credentials.named;
    struct grant *issued = NULL;
    enum mcpx_err err = tickets_use(call->api->tickets, api_param(call, "ticket")->value,
                                    topic, call->now, &issued);

    if (!err && issued->needs_certificate && !named.text)
        err = MCPX_ETOKEN;
    if (!err)
        err = tokens_recheck(call->api->config->tokens, grant_base(issued), topic, call->now,
                             &call->grant);
    if (!err && named.text && !mcpx_slice_equal(named, call->grant->identity))
        err = MCPX_ETOKEN; /* it is of another participant */
    grant_unref(issued);
    return err == MCPX_ENOTFOUND ? MCPX_ETOKEN : err;
}

/*
 * Finds the caller by head, certificate, and the query of a request for a WebSocket. An absent
 * topic means any. A bearer token comes first. With a bad one, the query is not used: the client
 * should notice its error. A ticket precedes a token of the query, because it is safer.
 */
static enum mcpx_err find_grant(struct api_call *call, struct mcpx_slice topic)
{
    const struct http_request *request = call->request;
    struct credentials *credentials = &call->credentials;

    credentials->named = request->named;
    if (request->caller)
        credentials->signature = &request->caller->signature;
    if (http_bearer(request->authorization, &credentials->bearer) != MCPX_OK)
        return MCPX_ETOKEN;
    if (request->join && !credentials->bearer.text) {
        if (api_param(call, "ticket")->value.text)
            return use_ticket(call, topic);
        if (call->api->config->query_token)
            credentials->bearer = api_param(call, "token")->value;
    }
    if (credentials->bearer.len == 0 && !credentials->named.text)
        return MCPX_ETOKEN;
    return tokens_ask(call->api->config->tokens, credentials, topic, call->now, &call->grant);
}

static bool check_access(enum api_access access, struct api_call *call,
                         struct http_reply *reply)
{
    bool in_topic = access == ACCESS_TOPIC;
    enum mcpx_err err;

    if (access == ACCESS_OPEN)
        return true;
    err = find_grant(call, in_topic ? call->name : (struct mcpx_slice){0});
    if (!err && in_topic &&
        change_list_banned_until(
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
        api_over_cap(call, MCPX_EREQUESTS, CAP_REQUESTS, reply);
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
static bool prepare_call(const struct api_route *route, struct api_call *call,
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
    if (!api_read_admission(call, query, reply))
        return false;
    call->name = call->request->join->topic;
    return check_access(ACCESS_TOPIC, call, reply) && check_rate(call, reply);
}

static void dispatch(struct api_call *call, struct http_reply *reply)
{
    const struct http_request *request = call->request;
    struct http_target target;
    struct mcpx_slice name = {0};
    const struct api_route *route;

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
    else if (!request->join && !route->handle)
        http_reply_fail(reply, MCPX_EREQUEST,
                        "this path speaks WebSocket; ask for it with Upgrade: websocket");
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
