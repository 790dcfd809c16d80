/*
 * api_metrics.c - the hub's counters as Prometheus text, version 0.0.4, generated from their
 * table, so that a new counter is exported by being declared. Labels hold error codes and fixed
 * numbers only: names of topics, tools and participants are unbounded, and readers of metrics need
 * not know them. Paths are private as well, so a file has the name of its setting. A missing part
 * (a writer of the store, a file of keys) has no lines.
 */
#include "lib/json/json_write.h"
#include "router/api/api.h"
#include "router/policy/identity/jwt.h"
#include "router/store/commit/stage.h"
#include <mcpx/text.h>

/* ---- lines ---- */

/* Appends the two lines before the values of a counter or gauge. The name of a counter ends in
 * _total. */
static void metric_header(const char *name, const char *help, struct mcpx_text *out)
{
    size_t len = strlen(name);
    bool counts = len > 6 && strcmp(name + len - 6, "_total") == 0;

    mx_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
              counts ? "counter" : "gauge");
}

/* Appends a counter or gauge that has no labels. */
static void metric_value(const char *name, const char *help, uint64_t value,
                         struct mcpx_text *out)
{
    metric_header(name, help, out);
    mx_format(out, "%s %s\n", name, value);
}

/*
 * Appends a time in seconds between two texts.
 *
 * time        in units
 * of_second   units in a second: a power of ten
 */
static void metric_seconds(const char *before, uint64_t time, uint64_t of_second,
                           const char *after, struct mcpx_text *out)
{
    mx_format(out, "%s%s.", before, time / of_second);
    for (uint64_t unit = of_second / 10; unit > 0; unit /= 10)
        mx_format(out, "%s", time / unit % 10);
    mcpx_text_puts(out, after);
}

/* ---- histograms ---- */

/* Appends a bound or the sum of a histogram, in its unit. */
static void write_amount(const struct mx_classes *classes, uint64_t amount,
                         struct mcpx_text *out)
{
    if (classes->of_second)
        metric_seconds("", amount, classes->of_second, "", out);
    else
        mx_format(out, "%s", amount);
}

static void metric_histogram(const char *name, const char *help,
                             const struct mx_classes *classes,
                             const struct mx_histogram *histogram, struct mcpx_text *out)
{
    uint64_t sum = 0;

    mx_format(out, "# HELP %s %s\n# TYPE %s histogram\n", name, help, name);
    for (size_t i = 0; i < classes->count; i++) {
        sum += histogram->counts[i];
        mx_format(out, "%s_bucket{le=\"", name);
        write_amount(classes, classes->bounds[i], out);
        mx_format(out, "\"} %s\n", sum);
    }
    sum += histogram->counts[classes->count];
    mx_format(out, "%s_bucket{le=\"+Inf\"} %s\n%s_sum ", name, sum, name);
    write_amount(classes, histogram->sum, out);
    mx_format(out, "\n%s_count %s\n", name, sum);
}

/* ---- the store and its writers ---- */

/* True for a recent figure: an old one would hide a disk without answers. */
static bool is_known(const struct api_call *call, int64_t bytes)
{
    return bytes >= 0 && call->now.mono_ms - call->api->disks->asked_ms < DISK_KNOWN_MS;
}

static void write_stored(const struct api_call *call, struct mcpx_text *out)
{
    const struct store_figures *store = store_figures(call->api->store);
    const struct store_settings *settings = &call->api->config->store;

    metric_histogram("mcpx_store_commit_seconds",
                     "From the begin of a batch until it is stored", &stage_times,
                     &store->sqlite.work, out);
    metric_histogram("mcpx_store_batch_messages", "What was stored together", &stage_sizes,
                     &store->sqlite.sizes, out);
    metric_histogram("mcpx_store_open_seconds",
                     "From the request for a topic until it is loaded", &stage_times,
                     &store->open, out);
    metric_value("mcpx_store_file_bytes", "Size of the database", store->sqlite.bytes, out);
    metric_value("mcpx_store_file_bytes_max", "Size that the database may have, 0 = no bound",
                 settings->file_bytes, out);
    if (is_known(call, call->api->disks->store))
        metric_value("mcpx_store_free_bytes", "Room on the disk of the database",
                     (uint64_t)call->api->disks->store, out);
}

static void write_audited(const struct api_call *call, struct mcpx_text *out)
{
    const struct stage_report *audit = &store_figures(call->api->store)->audit;

    metric_value("mcpx_audit_lines_total", "Lines written to the audit", audit->lines, out);
    metric_value("mcpx_audit_lost_total",
                 "Lines that could not be written; the audit tells how many, too", audit->lost,
                 out);
    metric_value("mcpx_audit_checkpoints_total", "Signatures written to the audit",
                 audit->checkpoints, out);
    metric_histogram("mcpx_audit_sync_seconds",
                     "From the begin of a batch until it is in the audit", &stage_times,
                     &audit->work, out);
    if (is_known(call, call->api->disks->audit))
        metric_value("mcpx_audit_free_bytes", "Room on the disk of the audit",
                     (uint64_t)call->api->disks->audit, out);
}

static void write_about_store(const struct api_call *call, struct mcpx_text *out)
{
    const struct http_api *api = call->api;
    const struct store_figures *store;

    if (!api->store)
        return;
    store = store_figures(api->store);
    metric_value("mcpx_store_pending_messages",
                 "Messages, comings and goings that are not stored yet", hub_pending(api->hub),
                 out);
    metric_header("mcpx_store_rejected_total",
                  "Messages, comings and goings that could not be stored", out);
    mx_format(out, "mcpx_store_rejected_total{reason=\"full\"} %s\n", store->refused_full);
    mx_format(out, "mcpx_store_rejected_total{reason=\"failed\"} %s\n", store->refused_failed);
    if (api->config->hub.stored)
        write_stored(call, out);
    if (api->config->hub.audited)
        write_audited(call, out);
}

/* ---- keys and reloads ---- */

static void write_about_keys(const struct api_call *call, struct mcpx_text *out)
{
    static const char *const rows[][2] = {
        {"mcpx_key_file_keys", "Public keys of a file that are in force"},
        {"mcpx_key_file_age_seconds",
         "Since when the content is there whose keys are in force"},
        {"mcpx_key_file_faulty",
         "1 when the file was not good when it was read last, and older keys are in force"},
        {"mcpx_key_file_reads_total", "Readings of a file with public keys"},
        {"mcpx_key_file_failures_total", "Readings of such a file that gave no keys"},
    };
    const struct tokens *tokens = call->api->config->tokens;
    const struct key_file *file;

    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        if (tokens_key_file(tokens, 0))
            metric_header(rows[row][0], rows[row][1], out);
        for (size_t i = 0; (file = tokens_key_file(tokens, i)) != NULL; i++) {
            const uint64_t figures[] = {
                file->keys.count, (uint64_t)key_file_age_ms(file, call->now.wall_ms) / 1000,
                file->is_faulty, file->reads, file->failures};

            mx_format(out, "%s{setting=\"%s\"} %s\n", rows[row][0], file->setting,
                      figures[row]);
        }
    }
}

static void write_about_reload(const struct api_call *call, struct mcpx_text *out)
{
    const struct reload_report *reloads = &call->api->reloads;
    int64_t age_ms = call->now.mono_ms - reloads->since_ms;

    metric_header("mcpx_policy_info",
                  "Constant 1; the label names participants and profiles that are in force",
                  out);
    mx_format(out, "mcpx_policy_info{rev=\"%s\"} 1\n", call->api->config->rev);
    metric_value("mcpx_config_age_seconds",
                 "Since when the configuration that is in force was read",
                 (uint64_t)(age_ms > 0 ? age_ms : 0) / 1000, out);
    metric_header("mcpx_reloads_total",
                  "Reloads of the configuration: come into force, or refused for a fault",
                  out);
    mx_format(out,
              "mcpx_reloads_total{result=\"done\"} %s\n"
              "mcpx_reloads_total{result=\"refused\"} %s\n",
              reloads->done, reloads->refused);
}

/* ---- the router ---- */

enum { MS = 1000 };

/*
 * One series per code, not per error: several errors may share a name, and a label value twice
 * would make the whole page invalid. All codes are there from the start, at 0, so that the first
 * increase shows as a rate.
 */
static void write_codes(const char *name, const uint64_t counts[MCPX_ERR_COUNT],
                        struct mcpx_text *out)
{
    for (size_t i = 1; i < MCPX_ERR_COUNT; i++) {
        const char *code = mcpx_error_wire((enum mcpx_err)i);
        bool is_first = true;
        uint64_t sum = 0;

        for (size_t j = 1; j < MCPX_ERR_COUNT; j++) {
            if (strcmp(mcpx_error_wire((enum mcpx_err)j), code) != 0)
                continue;
            is_first &= j >= i;
            sum += counts[j];
        }
        if (is_first)
            mx_format(out, "%s{code=\"%s\"} %s\n", name, code, sum);
    }
}

/* Under the common names of Prometheus client libraries. */
static void write_process(const struct process *process, struct mcpx_text *out)
{
    const struct {
        const char *name, *help;
        uint64_t value;
    } rows[] = {
        {"process_resident_memory_bytes", "Memory of the process that is in RAM",
         process->resident_bytes},
        {"process_open_fds", "File descriptors that are open", process->open_fds},
        {"process_max_fds", "File descriptors that may be open", process->max_fds},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value > 0) /* else there is no /proc to ask */
            metric_value(rows[i].name, rows[i].help, rows[i].value, out);
    metric_header("process_cpu_seconds_total",
                  "Processor time the process has used, in seconds", out);
    metric_seconds("process_cpu_seconds_total ", process->cpu_ms, MS, "\n", out);
}

/* Readers of metrics learn how many subscribers are behind and how far, not which. */
static void write_lag(const struct lag *lag, struct mcpx_text *out)
{
    metric_value("mcpx_reader_lag_max_envelopes",
                 "Envelopes that the slowest reader was not handed yet", lag->max_envelopes,
                 out);
    metric_value("mcpx_reader_lag_max_bytes",
                 "Bytes of envelopes that a reader was not handed yet, of the slowest one",
                 lag->max_bytes, out);
    metric_header("mcpx_reader_lag_max_seconds",
                  "Since when the oldest envelope waits that a reader was not handed yet",
                  out);
    metric_seconds("mcpx_reader_lag_max_seconds ", (uint64_t)lag->max_ms, MS, "\n", out);
    metric_header("mcpx_readers_lagging",
                  "Participants that are at least so many envelopes behind", out);
    for (size_t i = 0; i < HUB_LAG_STEPS; i++)
        mx_format(out, "mcpx_readers_lagging{envelopes=\"%s\"} %s\n",
                  (uint64_t)hub_lag_steps[i], lag->behind[i]);
}

static void write_times(const struct stats *stats, struct mcpx_text *out)
{
    metric_histogram(
        "mcpx_delivery_seconds",
        "From the acceptance of an envelope until each reader whose socket takes any "
        "has had a turn to be written to",
        &stats_delivery_ms, &stats->delivery, out);
    metric_histogram("mcpx_match_seconds",
                     "How long it took to match a kind against the grants of its sender, of "
                     "some messages",
                     &stats_match_ns, &stats->match, out);
}

/* All reasons are there from the start, as codes are. */
static void write_reasons(const struct stats *stats, struct mcpx_text *out)
{
    metric_header("mcpx_capability_refused_total",
                  "Messages whose kind was refused, by reason", out);
    for (size_t i = MCPX_ALLOWED + 1; i < STATS_REASONS; i++)
        mx_format(out, "mcpx_capability_refused_total{reason=\"%s\"} %s\n",
                  mcpx_refusal_wire((enum mcpx_refusal)i), stats->reasons[i]);
}

/* Refusals by a quota. The log names the owner. */
static void write_caps(const struct stats *stats, struct mcpx_text *out)
{
    metric_header("mcpx_cap_refusals_total",
                  "What was refused or closed because its owner was over a cap, by setting",
                  out);
    for (size_t i = 0; i < CAP_COUNT; i++)
        mx_format(out, "mcpx_cap_refusals_total{cap=\"%s\"} %s\n", cap_setting((enum cap)i),
                  stats->caps[i]);
}

static void write_tls(const struct tls_figures *tls, struct mcpx_text *out)
{
    metric_value("mcpx_tls_certificate_expiry_seconds",
                 "When the certificate in force ends, in seconds since 1970",
                 tls->until_s > 0 ? (uint64_t)tls->until_s : 0, out);
    metric_value(
        "mcpx_tls_files_unusable",
        "1 while certificate and key on disk cannot be used, and older ones are in force",
        tls->stale, out);
    if (tls->crl_until_s)
        metric_value("mcpx_tls_client_crl_expiry_seconds",
                     "When all revocation lists of the first authority of clients have ended, "
                     "in seconds since 1970",
                     (uint64_t)tls->crl_until_s, out);
    metric_value("mcpx_tls_handshakes_total", "TLS handshakes that succeeded", tls->handshakes,
                 out);
    metric_value("mcpx_tls_failed_total",
                 "TLS handshakes and connections that ended because of an error of TLS",
                 tls->failed, out);
}

/* Writes all reasons of /readyz from the start, so that an alert finds its series. */
static void write_unready(const struct http_api *api, struct mcpx_text *out)
{
    static const char *const of_store[] = {"store full",   "store failed", "store slow",
                                           "store locked", "audit full",   "audit failed",
                                           "audit slow"};

    metric_header("mcpx_unready", "1 while connections are not welcome for this reason", out);
    mx_format(out, "mcpx_unready{reason=\"%s\"} %s\n", mcpx_error_wire(MCPX_EGOING),
              (uint64_t)api_is_going(api));
    for (size_t i = 0; i < sizeof of_store / sizeof *of_store; i++) {
        bool is_so = api->store_why && strcmp(api->store_why, of_store[i]) == 0;

        mx_format(out, "mcpx_unready{reason=\"%s\"} %s\n", of_store[i], (uint64_t)is_so);
    }
}

static void write_changes(const struct changes *changes, struct mcpx_text *out)
{
    metric_value("mcpx_changes",
                 "Changes made at run time that are kept, one for each KiB begun",
                 changes->makers.held, out);
    metric_value("mcpx_granted_total", "Patterns granted at run time", changes->granted, out);
    metric_value("mcpx_revoked_total", "Patterns taken away at run time", changes->revoked,
                 out);
    metric_value("mcpx_kicked_total", "Requests to remove a participant", changes->kicked,
                 out);
}

static void answer_metrics(const struct api_call *call, struct http_reply *reply)
{
    const struct stats *stats = hub_stats(call->api->hub);
    struct mcpx_text *out = &reply->body;

#define WRITE_METRIC(member, name, type, help) metric_value(name, help, stats->member, out);
    STATS_TABLE(WRITE_METRIC)
#undef WRITE_METRIC
    metric_value("mcpx_connections_max", "Participants that may be connected, 0 = no bound",
                 call->api->config->hub.connections_max, out);
    write_unready(call->api, out);
    metric_header("mcpx_refused_total", "Messages and attempts refused, by error", out);
    write_codes("mcpx_refused_total", stats->refused, out);
    write_reasons(stats, out);
    write_caps(stats, out);
    metric_header("mcpx_closed_total", "Connections the router ended, by error", out);
    write_codes("mcpx_closed_total", stats->closed, out);
    write_lag(hub_lag(call->api->hub, call->now), out);
    write_times(stats, out);
    if (call->api->turns)
        metric_histogram("mcpx_loop_turn_seconds",
                         "How long turns of the loop took, without the waiting in between",
                         &stage_times, call->api->turns, out);
    write_changes(call->api->changes, out);
    write_about_store(call, out);
    write_about_keys(call, out);
    write_about_reload(call, out);
    metric_value("mcpx_log_lost_lines_total",
                 "Lines of the log that standard error did not take", call->api->log_lost,
                 out);
    if (call->api->tls)
        write_tls(call->api->tls, out);
    if (call->api->process) {
        process_measure(call->api->process, call->now.mono_ms);
        write_process(call->api->process, out);
    }
    metric_value("process_start_time_seconds", "When the process began, in seconds since 1970",
                 (uint64_t)call->api->started.wall_ms / 1000, out);
    metric_header("mcpx_build_info", "Constant 1; the version is in the label", out);
    mx_format(out, "mcpx_build_info{version=\"%s\"} 1\n", mcpx_version());
}

const struct api_route api_metrics_routes[] = {
    {HTTP_GET, "/metrics", "Prometheus text", .handle = answer_metrics,
     .type = "text/plain; version=0.0.4; charset=utf-8"},
    {.path = NULL},
};
