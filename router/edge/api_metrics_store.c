/*
 * api_metrics_store.c - what the store's stages have counted, as Prometheus text. Without a stage
 * there are no lines about it.
 */
#include "lib/core/format.h"
#include "router/edge/api.h"
#include "router/edge/metric_text.h"
#include "router/store/edge/audit.h"

/* Times are microseconds here. */
enum { US = 1000000 };

/* Upper bounds are microseconds, shown as seconds; or sizes, shown as they are. */
struct histogram {
    const char *name, *help;
    const struct figure *figure;
    const unsigned *bounds;
    size_t count;
    bool of_times;
};

static void write_bucket(const struct histogram *histogram, unsigned bound, uint64_t sum,
                         struct mcpx_text *out)
{
    mx_format(out, "%s_bucket{le=\"", histogram->name);
    if (histogram->of_times)
        metric_seconds("", bound, US, "\"} ", out);
    else
        mx_format(out, "%s\"} ", (uint64_t)bound);
    mx_format(out, "%s\n", sum);
}

static void write_histogram(const struct histogram *histogram, struct mcpx_text *out)
{
    const struct figure *figure = histogram->figure;
    uint64_t sum = 0;

    metric_header(histogram->name, "histogram", histogram->help, out);
    for (size_t i = 0; i < histogram->count; i++) {
        sum += figure->counts[i];
        write_bucket(histogram, histogram->bounds[i], sum, out);
    }
    sum += figure->counts[histogram->count];
    mx_format(out, "%s_bucket{le=\"+Inf\"} %s\n%s_sum ", histogram->name, sum,
              histogram->name);
    if (histogram->of_times)
        metric_seconds("", figure->sum, US, "\n", out);
    else
        mx_format(out, "%s\n", figure->sum);
    mx_format(out, "%s_count %s\n", histogram->name, sum);
}

static void write_times(const char *name, const char *help, const struct figure *figure,
                        struct mcpx_text *out)
{
    struct histogram histogram = {name, help, figure, figure_times_us, FIGURE_TIMES, true};

    write_histogram(&histogram, out);
}

static void write_stored(const struct store_figures *store, struct mcpx_text *out)
{
    struct histogram sizes = {"mcpx_store_batch_messages",
                              "What was stored together",
                              &store->sqlite.sizes,
                              figure_sizes,
                              FIGURE_SIZES,
                              false};

    write_times("mcpx_store_commit_seconds", "From the begin of a batch until it is stored",
                &store->sqlite.work, out);
    write_histogram(&sizes, out);
    write_times("mcpx_store_open_seconds", "From the wish for a topic until it is loaded",
                &store->open, out);
    metric_value("mcpx_store_file_bytes", "gauge", "Size of the database", store->sqlite.bytes,
                 out);
}

static void write_audited(const struct store *store, struct mcpx_text *out)
{
    struct audit_counts counts;

    store_count_audit(store, &counts);
    metric_value("mcpx_audit_lines_total", "counter", "Lines written to the audit",
                 counts.lines, out);
    metric_value("mcpx_audit_lost_total", "counter",
                 "Lines that could not be written; the audit tells how many, too", counts.lost,
                 out);
    metric_value("mcpx_audit_checkpoints_total", "counter", "Signatures written to the audit",
                 counts.checkpoints, out);
    write_times("mcpx_audit_sync_seconds",
                "From the begin of a batch until it is in the audit",
                &store_figures(store)->audit.work, out);
}

void api_metrics_store(const struct http_api *api, struct mcpx_text *out)
{
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
        write_stored(store, out);
    if (api->config->hub.audited)
        write_audited(api->store, out);
}
