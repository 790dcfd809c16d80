/*
 * api_health.c - is it alive, is it ready? Three questions that schedulers and people ask apart:
 * a draining router is alive but not ready, and must not be killed for it.
 */
#include "lib/base/ident.h"
#include "lib/json/json_write.h"
#include "router/api/api.h"

static int64_t uptime_ms(const struct api_call *call)
{
    int64_t ms = call->now.mono_ms - call->api->started.mono_ms;

    return ms > 0 ? ms : 0;
}

void api_root(const struct api_call *call, struct http_reply *reply)
{
    (void)call;
    reply->type = "text/plain; charset=utf-8";
    mx_format(&reply->body,
              "This is mcpx-router %s, a router for messages of MCPx.\n\n"
              "Programs connect with a WebSocket to /ws?topic=NAME, and need a token for it.\n"
              "/health and /readyz say how the router is, /metrics has its figures.\n"
              "\"man mcpx-router\" and \"mcpxctl --help\" say how to use it.\n",
              mcpx_version());
}

void api_health(const struct api_call *call, struct http_reply *reply)
{
    int64_t ms = uptime_ms(call);
    char now[MX_TIME_LEN + 1];

    mx_time_format(call->now.wall_ms, now);
    mx_format(&reply->body,
              "{\"status\":\"healthy\",\"timestamp\":%q,\"uptime\":%s.%s%s%s,\"protocol\":%q}",
              now, ms / 1000, ms / 100 % 10, ms / 10 % 10, ms % 10, MCPX_PROTOCOL);
}

void api_live(const struct api_call *call, struct http_reply *reply)
{
    (void)call;
    mcpx_text_puts(&reply->body, "{\"status\":\"alive\"}");
}

bool api_is_going(const struct http_api *api)
{
    return api->going || hub_is_draining(api->hub);
}

void api_ready(const struct api_call *call, struct http_reply *reply)
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

void api_upgrade(const struct api_call *call, struct http_reply *reply)
{
    (void)call;
    http_reply_fail(reply, MCPX_EREQUEST,
                    "this path speaks WebSocket; ask for it with Upgrade: websocket");
}
