/*
 * api_metrics.c - the hub's counters as Prometheus text, generated from their table, so that a
 * new counter is exported by being declared. Labels hold error codes and fixed numbers only: names
 * of topics, tools and participants are unbounded, and nobody's business who may read metrics.
 */
#include "lib/core/format.h"
#include "router/edge/api.h"
#include "router/edge/metric_text.h"

/* Times are milliseconds here. */
enum { MS = 1000, NS = 1000000000 };

/* The first error with this one's wire name: several errors may share a name. */
static bool is_first_of_code(size_t err)
{
    for (size_t i = 1; i < err; i++) {
        if (strcmp(mcpx_error_wire((enum mcpx_err)i), mcpx_error_wire((enum mcpx_err)err)) ==
            0)
            return false;
    }
    return true;
}

static uint64_t sum_of_code(const uint64_t counts[MCPX_ERR_COUNT], const char *code)
{
    uint64_t sum = 0;

    for (size_t i = 1; i < MCPX_ERR_COUNT; i++) {
        if (strcmp(mcpx_error_wire((enum mcpx_err)i), code) == 0)
            sum += counts[i];
    }
    return sum;
}

/*
 * One series per code, not per error: a label value twice would make the whole page invalid.
 * All codes are there from the start, at 0, so that the first increase shows as a rate.
 */
static void write_codes(const char *name, const uint64_t counts[MCPX_ERR_COUNT],
                        struct mcpx_text *out)
{
    for (size_t i = 1; i < MCPX_ERR_COUNT; i++) {
        const char *code = mcpx_error_wire((enum mcpx_err)i);

        if (is_first_of_code(i))
            mx_format(out, "%s{code=\"%s\"} %s\n", name, code, sum_of_code(counts, code));
    }
}

/* When the process began, by the wall clock of now: steady as long as nobody sets the clock. */
static uint64_t start_time_s(const struct api_call *call)
{
    int64_t ms = call->now.wall_ms - (call->now.mono_ms - call->api->started_mono_ms);

    return ms > 0 ? (uint64_t)ms / 1000 : 0;
}

/* By the names that client libraries of Prometheus agree on. */
static void write_process(const struct process *process, struct mcpx_text *out)
{
    const struct {
        const char *name, *type, *help;
        uint64_t value;
    } rows[] = {
        {"process_resident_memory_bytes", "gauge", "Memory of the process that is in RAM",
         process->resident_bytes},
        {"process_open_fds", "gauge", "File descriptors that are open", process->open_fds},
        {"process_max_fds", "gauge", "File descriptors that may be open", process->max_fds},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        metric_value(rows[i].name, rows[i].type, rows[i].help, rows[i].value, out);
    metric_header("process_cpu_seconds_total", "counter",
                  "Processor time the process has used, in seconds", out);
    metric_seconds("process_cpu_seconds_total ", process->cpu_ms, MS, "\n", out);
}

/* Who is behind is nobody's business here, only how many are, and how far. */
static void write_lag(const struct lag *lag, struct mcpx_text *out)
{
    metric_value("mcpx_reader_lag_max_envelopes", "gauge",
                 "Envelopes that the slowest reader was not handed yet", lag->max_envelopes,
                 out);
    metric_value("mcpx_reader_lag_max_bytes", "gauge",
                 "Bytes of envelopes that a reader was not handed yet, of the slowest one",
                 lag->max_bytes, out);
    metric_header("mcpx_reader_lag_max_seconds", "gauge",
                  "Since when the oldest envelope waits that a reader was not handed yet",
                  out);
    metric_seconds("mcpx_reader_lag_max_seconds ", (uint64_t)lag->max_ms, MS, "\n", out);
    metric_header("mcpx_readers_lagging", "gauge",
                  "Participants that are at least so many envelopes behind", out);
    for (size_t i = 0; i < HUB_LAG_STEPS; i++)
        mx_format(out, "mcpx_readers_lagging{envelopes=\"%s\"} %s\n",
                  (uint64_t)hub_lag_steps[i], lag->behind[i]);
}

static void write_times(const struct stats *stats, struct mcpx_text *out)
{
    const struct times *delivery = &stats->delivery, *match = &stats->match;

    metric_histogram(
        "mcpx_delivery_seconds",
        "From the acceptance of an envelope until each reader whose socket takes any "
        "has had a turn to be written to",
        &(struct metric_classes){delivery->counts, delivery->sum, stats_delivery_ms,
                                 STATS_BOUNDS, MS},
        out);
    metric_histogram(
        "mcpx_match_seconds",
        "How long it took to match a kind against the grants of its sender, of "
        "some messages",
        &(struct metric_classes){match->counts, match->sum, stats_match_ns, STATS_BOUNDS, NS},
        out);
}

/* From the start all are there, as codes are. */
static void write_reasons(const struct stats *stats, struct mcpx_text *out)
{
    metric_header("mcpx_capability_refused_total", "counter",
                  "Messages whose kind was refused, by reason", out);
    for (size_t i = MCPX_ALLOWED + 1; i < STATS_REASONS; i++)
        mx_format(out, "mcpx_capability_refused_total{reason=\"%s\"} %s\n",
                  mcpx_refusal_wire((enum mcpx_refusal)i), stats->reasons[i]);
}

/* Of what one owner may have. Who that was is in the log. */
static void write_caps(const struct stats *stats, struct mcpx_text *out)
{
    metric_header("mcpx_cap_refusals_total", "counter",
                  "What was refused or closed because its owner was over a cap, by setting",
                  out);
    for (size_t i = 0; i < CAP_COUNT; i++)
        mx_format(out, "mcpx_cap_refusals_total{cap=\"%s\"} %s\n", cap_setting((enum cap)i),
                  stats->caps[i]);
}

static void write_tls(const struct tls_figures *tls, struct mcpx_text *out)
{
    metric_value("mcpx_tls_certificate_expiry_seconds", "gauge",
                 "When the certificate in force ends, in seconds since 1970",
                 tls->until_s > 0 ? (uint64_t)tls->until_s : 0, out);
    metric_value(
        "mcpx_tls_files_unusable", "gauge",
        "1 while certificate and key on disk cannot be used, and older ones are in force",
        tls->stale, out);
    if (tls->crl_until_s)
        metric_value("mcpx_tls_client_crl_expiry_seconds", "gauge",
                     "When all revocation lists of the first authority of clients have ended, "
                     "in seconds "
                     "since 1970",
                     (uint64_t)tls->crl_until_s, out);
    if (tls->has_ocsp) {
        metric_value("mcpx_tls_ocsp_expiry_seconds", "gauge",
                     "When the OCSP response ends that clients are shown, in seconds since "
                     "1970; 0 when there is none",
                     (uint64_t)tls->ocsp_until_s, out);
        metric_value("mcpx_tls_ocsp_unusable", "gauge",
                     "1 while the OCSP response on disk cannot be used", tls->ocsp_stale, out);
    }
    metric_value("mcpx_tls_handshakes_total", "counter", "TLS handshakes that succeeded",
                 tls->handshakes, out);
    metric_value("mcpx_tls_failed_total", "counter",
                 "TLS handshakes and connections that ended because of an error of TLS",
                 tls->failed, out);
}

/* Each reason that /readyz can give, from the start, so that an alert has something to look at. */
static void write_unready(const struct http_api *api, struct mcpx_text *out)
{
    static const char *const of_store[] = {"store full", "store failed", "store slow",
                                           "audit full", "audit failed", "audit slow"};

    metric_header("mcpx_unready", "gauge",
                  "1 while connections are not welcome for this reason", out);
    mx_format(out, "mcpx_unready{reason=\"%s\"} %s\n", mcpx_error_wire(MCPX_EGOING),
              (uint64_t)api_is_going(api));
    for (size_t i = 0; i < sizeof of_store / sizeof *of_store; i++) {
        bool is_so = api->store_why && strcmp(api->store_why, of_store[i]) == 0;

        mx_format(out, "mcpx_unready{reason=\"%s\"} %s\n", of_store[i], (uint64_t)is_so);
    }
}

static void write_changes(struct changes *changes, struct mcpx_text *out)
{
    const struct changes_figures *figures = changes_figures(changes);

    metric_value("mcpx_changes", "gauge", "Grants and removals made at run time that are kept",
                 changes_count(changes), out);
    metric_value("mcpx_granted_total", "counter", "Patterns granted at run time",
                 figures->granted, out);
    metric_value("mcpx_revoked_total", "counter", "Patterns taken away at run time",
                 figures->revoked, out);
    metric_value("mcpx_kicked_total", "counter", "Requests to remove a participant",
                 figures->kicked, out);
}

void api_metrics(const struct api_call *call, struct http_reply *reply)
{
    const struct stats *stats = hub_stats(call->api->hub);
    struct mcpx_text *out = &reply->body;

    reply->type = "text/plain; version=0.0.4; charset=utf-8";
#define WRITE_METRIC(member, name, type, help)                                                \
    metric_value(name, type, help, stats->member, out);
    STATS_TABLE(WRITE_METRIC)
#undef WRITE_METRIC
    metric_value("mcpx_connections_max", "gauge",
                 "Participants that may be connected, 0 = no bound",
                 call->api->config->hub.connections_max, out);
    write_unready(call->api, out);
    metric_header("mcpx_refused_total", "counter", "Messages and attempts refused, by error",
                  out);
    write_codes("mcpx_refused_total", stats->refused, out);
    write_reasons(stats, out);
    write_caps(stats, out);
    metric_header("mcpx_closed_total", "counter", "Connections the router ended, by error",
                  out);
    write_codes("mcpx_closed_total", stats->closed, out);
    write_lag(hub_lag(call->api->hub, call->now), out);
    write_times(stats, out);
    if (call->api->turns)
        metric_times("mcpx_loop_turn_seconds",
                     "How long turns of the loop took, without the waiting in between",
                     call->api->turns, out);
    if (call->api->changes)
        write_changes(call->api->changes, out);
    api_metrics_store(call, out);
    api_metrics_keys(call, out);
    api_metrics_reload(call, out);
    metric_value("mcpx_log_lost_lines_total", "counter",
                 "Lines of the log that standard error did not take", call->api->log_lost,
                 out);
    if (call->api->tls)
        write_tls(call->api->tls, out);
    if (call->api->process) {
        process_ask(call->api->process, call->now.mono_ms);
        write_process(call->api->process, out);
    }
    metric_value("process_start_time_seconds", "gauge",
                 "When the process began, in seconds since 1970", start_time_s(call), out);
    metric_header("mcpx_build_info", "gauge", "Constant 1; the version is in the label", out);
    mx_format(out, "mcpx_build_info{version=\"%s\"} 1\n", mcpx_version());
}
