/*
 * api_health.c - is it alive, is it ready? Three questions that schedulers and people ask apart:
 * a draining router is alive but not ready, and must not be killed for it.
 */
#include "lib/core/ident.h"
#include "router/edge/api.h"
#include <mcpx/json.h>

static int64_t uptime_ms(const struct api_call *call)
{
    int64_t ms = call->now.mono_ms - call->api->started_mono_ms;

    return ms > 0 ? ms : 0;
}

/* Seconds with three decimals, as a JSON number. */
static void write_seconds(int64_t ms, struct mcpx_text *out)
{
    char decimals[4] = {(char)('0' + ms / 100 % 10), (char)('0' + ms / 10 % 10),
                        (char)('0' + ms % 10), '\0'};

    mcpx_text_number(out, ms / 1000);
    mcpx_text_add(out, ".", 1);
    mcpx_text_puts(out, decimals);
}

void api_health(const struct api_call *call, struct http_reply *reply)
{
    char now[MX_TIME_LEN + 1];

    mx_time_format(call->now.wall_ms, now);
    mcpx_text_puts(&reply->body, "{\"status\":\"healthy\",");
    mcpx_json_add_member(&reply->body, "timestamp", mcpx_slice_of(now));
    mcpx_text_puts(&reply->body, ",\"uptime\":");
    write_seconds(uptime_ms(call), &reply->body);
    mcpx_text_add(&reply->body, ",", 1);
    mcpx_json_add_member(&reply->body, "protocol", MCPX_SLICE(MCPX_PROTOCOL));
    mcpx_text_add(&reply->body, "}", 1);
}

void api_live(const struct api_call *call, struct http_reply *reply)
{
    (void)call;
    mcpx_text_puts(&reply->body, "{\"status\":\"alive\"}");
}

void api_ready(const struct api_call *call, struct http_reply *reply)
{
    if (hub_is_draining(call->api->hub))
        http_reply_fail(reply, MCPX_EGOING, NULL);
    else
        mcpx_text_puts(&reply->body, "{\"status\":\"ready\"}");
}

void api_upgrade(const struct api_call *call, struct http_reply *reply)
{
    (void)call;
    http_reply_fail(reply, MCPX_EREQUEST,
                    "this path speaks WebSocket; ask for it with Upgrade: websocket");
}
