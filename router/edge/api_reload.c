/*
 * api_reload.c - an administrator asks for a reload. It takes its time, so this only says that it
 * is wanted, and whoever has the connection answers when it is done.
 */
#include "lib/core/format.h"
#include "router/edge/api.h"
#include "router/edge/metric_text.h"

void api_reload(const struct api_call *call, struct http_reply *reply)
{
    if (!api_may(call, call->grant, "admin/reload", reply))
        return;
    reply->err = MCPX_EOPENING;
    reply->reload = true;
    mcpx_text_slice(&reply->detail, call->grant->identity);
}

void api_metrics_reload(const struct api_call *call, struct mcpx_text *out)
{
    const struct reload_report *reloads = &call->api->reloads;
    int64_t age_ms = call->now.mono_ms - reloads->since_ms;

    metric_header("mcpx_policy_info", "gauge",
                  "Constant 1; the label names participants and profiles that are in force",
                  out);
    mx_format(out, "mcpx_policy_info{rev=\"%s\"} 1\n", call->api->config->rev);
    metric_value("mcpx_config_age_seconds", "gauge",
                 "Since when the configuration that is in force was read",
                 (uint64_t)(age_ms > 0 ? age_ms : 0) / 1000, out);
    metric_header("mcpx_reloads_total", "counter",
                  "Reloads of the configuration: come into force, or refused for a fault",
                  out);
    mx_format(out,
              "mcpx_reloads_total{result=\"done\"} %s\n"
              "mcpx_reloads_total{result=\"refused\"} %s\n",
              reloads->done, reloads->refused);
}
