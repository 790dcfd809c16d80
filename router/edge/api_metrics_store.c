/*
 * api_metrics_store.c - what the store's stages have counted, as Prometheus text. Without a stage
 * there are no lines about it.
 */
#include "lib/core/format.h"
#include "router/edge/api.h"
#include "router/edge/metric_text.h"
#include "router/store/edge/audit.h"

/* An old answer would hide that the disk does not answer any more. */
static bool is_known(const struct api_call *call, int64_t bytes)
{
    return bytes >= 0 && call->now.mono_ms - call->api->disks->asked_ms < DISK_KNOWN_MS;
}

static void write_stored(const struct api_call *call, struct mcpx_text *out)
{
    const struct store_figures *store = store_figures(call->api->store);
    const struct store_settings *settings = &call->api->config->store;

    metric_times("mcpx_store_commit_seconds", "From the begin of a batch until it is stored",
                 &store->sqlite.work, out);
    metric_sizes("mcpx_store_batch_messages", "What was stored together", &store->sqlite.sizes,
                 out);
    metric_times("mcpx_store_open_seconds", "From the wish for a topic until it is loaded",
                 &store->open, out);
    metric_value("mcpx_store_file_bytes", "gauge", "Size of the database", store->sqlite.bytes,
                 out);
    metric_value("mcpx_store_file_bytes_max", "gauge",
                 "Size that the database may have, 0 = no bound", settings->file_bytes, out);
    if (is_known(call, call->api->disks->store))
        metric_value("mcpx_store_free_bytes", "gauge", "Room on the disk of the database",
                     (uint64_t)call->api->disks->store, out);
}

static void write_audited(const struct api_call *call, struct mcpx_text *out)
{
    struct audit_counts counts;

    store_count_audit(call->api->store, &counts);
    metric_value("mcpx_audit_lines_total", "counter", "Lines written to the audit",
                 counts.lines, out);
    metric_value("mcpx_audit_lost_total", "counter",
                 "Lines that could not be written; the audit tells how many, too", counts.lost,
                 out);
    metric_value("mcpx_audit_checkpoints_total", "counter", "Signatures written to the audit",
                 counts.checkpoints, out);
    metric_times("mcpx_audit_sync_seconds",
                 "From the begin of a batch until it is in the audit",
                 &store_figures(call->api->store)->audit.work, out);
    if (is_known(call, call->api->disks->audit))
        metric_value("mcpx_audit_free_bytes", "gauge", "Room on the disk of the audit",
                     (uint64_t)call->api->disks->audit, out);
}

void api_metrics_store(const struct api_call *call, struct mcpx_text *out)
{
    const struct http_api *api = call->api;
    const struct store_figures *store;

    if (!api->store)
        return;
    store = store_figures(api->store);
    metric_value("mcpx_store_pending_messages", "gauge",
                 "Messages, comings and goings that are not stored yet", hub_pending(api->hub),
                 out);
    metric_header("mcpx_store_rejected_total", "counter",
                  "Messages, comings and goings that could not be stored", out);
    mx_format(out, "mcpx_store_rejected_total{reason=\"full\"} %s\n", store->refused_full);
    mx_format(out, "mcpx_store_rejected_total{reason=\"failed\"} %s\n", store->refused_failed);
    if (api->config->hub.stored)
        write_stored(call, out);
    if (api->config->hub.audited)
        write_audited(call, out);
}
