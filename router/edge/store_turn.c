/*
 * store_turn.c - the store's threads only wake the loop. The loop takes their results once per
 * iteration, before output is written, so a stored batch leaves in one write for each subscriber.
 */
#include "lib/base/digits.h"
#include "lib/base/scoped.h"
#include "router/connection/loop_budget.h"
#include "router/edge/edge_parts.h"
#include "router/store/store.h"

#include <sys/statvfs.h>
#include <systemd/sd-daemon.h>

#define STORE_CAP_UNBOUNDED (UINT64_C(1) << 30)

/* Events of the log for the states of a writer, in the order of enum stage_state. */
static const char *const store_events[] = {"store_ready", "store_full", "store_failed",
                                           "store_slow", "store_locked"};
static const char *const audit_events[] = {"audit_ready", "audit_full", "audit_failed",
                                           "audit_slow"};

/* ---- opening ---- */

/* Does nothing: the iteration of the woken loop does the rest. */
static void on_wake(uv_async_t *async)
{
    (void)async;
}

static void wake(void *context)
{
    uv_async_send(context);
}

/* By default a quarter of the file, so one participant leaves three quarters to others. */
static uint64_t cap_of(const struct store_settings *store)
{
    if (store->bytes_per_participant)
        return store->bytes_per_participant;
    return store->file_bytes ? store->file_bytes / 4 : STORE_CAP_UNBOUNDED;
}

static struct store_config store_config_of(const struct config *config)
{
    const struct store_settings *store = &config->store;

    return (struct store_config){.file = config->hub.stored ? store->file : NULL,
                                 .full = !store->normal,
                                 .check = store->check,
                                 .file_bytes = store->file_bytes,
                                 .bytes_per_participant = cap_of(store),
                                 .history_count = config->hub.history_count,
                                 .history_bytes = config->hub.history_bytes,
                                 .history_age_ms = config->hub.history_age_ms,
                                 .slow_ms = config->hub.open_ms};
}

/* ---- free space of its disks ---- */

static int64_t free_bytes(const struct mcpx_text *path)
{
    struct statvfs disk;

    if (path->len == 0 || statvfs(path->text, &disk))
        return -1;
    return (int64_t)(disk.f_bavail * disk.f_frsize);
}

/* The writers look at these disks only when they write, but other programs may fill a disk at any
 * time. */
static void measure(struct edge *edge)
{
    struct disk_watch *watch = &edge->disks;

    watch->found.store = free_bytes(&watch->store);
    watch->found.audit = free_bytes(&watch->audit);
}

static bool take_measure(struct edge *edge)
{
    struct disk_watch *watch = &edge->disks;

    watch->known = watch->found;
    watch->known.asked_ms = watch->errand.looked_ms;
    return false;
}

static const struct errand_sort measuring = {NULL, measure, take_measure};

static enum mcpx_err open_disks(struct edge *edge)
{
    struct disk_watch *watch = &edge->disks;
    const struct config *config = edge->config;

    if (config->hub.stored)
        mcpx_text_puts(&watch->store, config->store.file);
    if (config->hub.audited)
        mcpx_text_puts(&watch->audit, config->audit.folder);
    if (watch->store.failed || watch->audit.failed)
        return MCPX_ENOMEM;
    watch->errand = (struct errand){.sort = &measuring, .looked_ms = edge_now(edge).mono_ms};
    measure(edge);
    (void)take_measure(edge);
    edge->api.disks = &watch->known;
    return MCPX_OK;
}

enum mcpx_err store_turn_open(struct edge *edge, struct mcpx_text *errors)
{
    const struct config *config = edge->config;
    struct audit_config audit = config->audit;
    struct store_config store = store_config_of(config);
    enum mcpx_err err;

    if (!config->hub.needs_commit)
        return MCPX_OK;
    if (uv_async_init(&edge->loop, &edge->wake_store, on_wake)) {
        mcpx_text_puts(errors, "cannot make a handle to be woken with\n");
        return MCPX_ESYSTEM;
    }
    audit.rev = mcpx_slice_of(config->rev);
    if (config->hub.audited)
        store.audit = &audit;
    err = store_new(&store, wake, &edge->wake_store, errors, &edge->store);
    return err ? err : open_disks(edge);
}

/* ---- its states ---- */

static void log_state(const char *const *events, enum stage_state *was,
                      const struct stage_report *report)
{
    bool is_ready = report->state == STAGE_READY;

    if (*was == report->state)
        return;
    *was = report->state;
    LOG(is_ready ? LOG_INFO : LOG_ERROR, events[report->state],
        log_known("reason", mcpx_slice_of(is_ready ? NULL : report->reason)));
}

static void log_lines(struct edge *edge)
{
    mx_scoped_text lines = store_take_lines(edge->store);
    struct mcpx_slice rest = mcpx_text_view(&lines), line;

    while ((line = mx_cut_at(&rest, '\n')).len > 0)
        LOG(LOG_WARN, "topic_unreadable", log_text("reason", line));
}

bool store_turn_is_blocked(const struct edge *edge)
{
    return edge->store && store_is_blocked(edge->store);
}

static void watch(struct edge *edge)
{
    const struct store_figures *figures = store_figures(edge->store);
    const char *why = store_why(edge->store);

    log_state(store_events, &edge->store_state, &figures->sqlite);
    log_state(audit_events, &edge->audit_state, &figures->audit);
    log_lines(edge);
    if (why != edge->api.store_why)
        sd_notifyf(0, "STATUS=%s", why ? why : "ready"); /* for systemctl status */
    edge->api.store = edge->store;
    edge->api.store_why = why;
    loop_budget_pause_reads(edge, edge->settle_until_ms || store_turn_is_blocked(edge));
}

/* ---- its part of an iteration ---- */

static void turn(struct edge *edge)
{
    store_turn(edge->store, edge->hub, edge_now(edge));
    pending_connections_turn(edge);
}

void store_turn_run(struct edge *edge)
{
    if (!edge->store) {
        (void)waiters_turn(edge); /* for a reload */
        return;
    }
    turn(edge);
    if (waiters_turn(edge))
        turn(edge); /* their joins go on at once */
    watch(edge);
}

void store_turn_close(struct edge *edge)
{
    if (edge->store)
        store_turn(edge->store, edge->hub, edge_now(edge));
    store_free(edge->store);
    edge->store = NULL;
    mcpx_text_fini(&edge->disks.store);
    mcpx_text_fini(&edge->disks.audit);
}
