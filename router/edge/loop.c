/*
 * loop.c - the order of one loop iteration: sockets are read and the hub is fed; then, right before
 * the loop waits again, all output of the hub is written in one round. So messages that arrive
 * together leave together, without a timer, and an idle router delays nothing. libwebsockets runs
 * on this loop. Rejected: its own loop; it costs 300 us per message at a thousand idle connections.
 */
#include "router/connection/bounds.h"
#include "router/connection/loop_budget.h"
#include "router/connection/refusal.h"
#include "router/connection/tls_files.h"
#include "router/edge/edge_parts.h"
#include "router/http/rate_limits.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

enum { SOON_MS = 50 };

static void on_tick(uv_timer_t *timer);

/* Sets the timer for the next call that the hub or the watchdog needs. */
static void set_tick(struct edge *edge, struct mcpx_now now)
{
    int64_t wait = hub_due(edge->hub) - now.mono_ms;
    int64_t watchdog = systemd_notify_watchdog(&edge->notify, now.mono_ms);

    if (edge->stopping || (wait > SOON_MS && !log_flush()))
        wait = SOON_MS;
    if (store_turn_is_blocked(edge) || wait > TICK_MS)
        wait = TICK_MS;
    else if (wait < 1)
        wait = 1;
    if (wait > watchdog)
        wait = watchdog;
    edge->tick_for_ms = hub_due(edge->hub);
    uv_timer_start(&edge->tick, on_tick, (uint64_t)wait, 0);
}

/* Lifts runtime denials that have ended. True while more are left to examine. */
static bool tick_changes(struct edge *edge)
{
    const struct realm realm = api_realm(&edge->api);

    change_plans_tick(&realm, edge_now(edge));
    return realm.changes->to_look > 0;
}

static void on_tick(uv_timer_t *timer)
{
    struct edge *edge = timer->data;
    struct mcpx_now now = edge_now(edge);

    if (!store_turn_is_blocked(edge)) {
        tick_changes(edge);
        hub_tick(edge->hub, now);
        evict_late(edge);
        if (edge->stopping && !edge->settle_until_ms)
            evict_requests(edge);
    }
    tls_watch_lists(edge);
    errand_look(edge, &edge->tls.errand);
    /* Reports lines left out: silence must not look like peace. */
    log_tell(&edge->accept_log, now.mono_ms);
    log_tell(&edge->refuse_log, now.mono_ms);
    log_tell(&edge->request_log.all, now.mono_ms);
    log_tell(&edge->message_log.all, now.mono_ms);
    errand_look(edge, &edge->keys.errand);
    errand_look(edge, &edge->disks.errand);
    set_tick(edge, now);
}

/* Does nothing: while the idle handle is active, the loop does not wait. */
static void on_busy(uv_idle_t *idle)
{
    (void)idle;
}

/* Disconnects all clients, after the output that they still get. */
static void send_away(struct edge *edge)
{
    edge->settle_until_ms = 0;
    loop_budget_pause_reads(edge, false);
    while (flush_round(edge))
        ; /* accepted messages still reach all sockets that take them */
    hub_drain(edge->hub, edge_now(edge));
    evict_requests(edge);
}

/* True when a stopping router has stored all accepted envelopes, or that has taken too long. */
static bool has_settled(struct edge *edge)
{
    return edge->settle_until_ms &&
           (hub_pending(edge->hub) == 0 || edge_now(edge).mono_ms >= edge->settle_until_ms);
}

static void on_round(uv_prepare_t *prepare)
{
    struct edge *edge = prepare->data;
    bool more = dispatch_turn(edge);
    uint64_t took_us;

    store_turn_run(edge);
    if (has_settled(edge))
        send_away(edge);
    more = reload_turn(edge) || more;
    more = grant_recheck_turn(edge) || more;
    if (edge->api.changes->to_look > 0 && !store_turn_is_blocked(edge))
        more = tick_changes(edge) || more;
    more = flush_round(edge) || waiters_have_turn(edge) || more;
    hub_note_written(edge->hub, clock_end(&edge->clock, &took_us));
    mx_histogram_add(&edge->turns, &stage_times, 1, took_us);
    if (more)
        uv_idle_start(&edge->busy, on_busy);
    else
        uv_idle_stop(&edge->busy);
    if (hub_due(edge->hub) < edge->tick_for_ms && !edge->stopping)
        set_tick(edge, edge_now(edge)); /* a client came or went */
    evict_slow(edge);
    ws_server_wake(edge);
    log_flush();
    edge->api.log_lost = log_lost();
    if (edge->stopping && (edge->count == 0 || edge_now(edge).mono_ms >= edge->stop_at_ms))
        uv_stop(&edge->loop);
    clock_forget(&edge->clock);
}

/*
 * Closes the listeners, sends every client 1001, and lets edge_run return; called again, at once. A
 * router with a store first stops reading, and waits until accepted envelopes are stored.
 */
static void stop(struct edge *edge)
{
    struct mcpx_now now = edge_now(edge);

    if (edge->stopping) {
        edge->stop_at_ms = now.mono_ms;
        return;
    }
    sd_notify(0, "STOPPING=1\nSTATUS=stopping");
    LOG(LOG_INFO, "stopping", log_number("connections", (int64_t)edge->count));
    edge->stopping = edge->api.going = true;
    edge->stop_at_ms = now.mono_ms + edge->config->drain_ms;
    listener_close_all(edge);
    if (edge->store) {
        edge->settle_until_ms = now.mono_ms + edge->config->drain_ms / 2;
        loop_budget_pause_reads(edge, true);
        waiters_end_all(edge);
    } else {
        waiters_end_all(edge);
        send_away(edge);
    }
    uv_timer_start(&edge->tick, on_tick, SOON_MS, 0);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct edge *edge = handle->data;

    if (number == SIGHUP)
        reload_all(edge);
    else
        stop(edge);
}

static const int signals_heeded[] = {SIGTERM, SIGINT, SIGHUP};

static void mask_signals(int how)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals_heeded / sizeof *signals_heeded; i++)
        sigaddset(&set, signals_heeded[i]);
    sigprocmask(how, &set, NULL);
}

/* Makes signals ordinary events of the loop. Rejected: signal handlers; they may call next to
 * nothing, and libwebsockets would install its own. Signals sent since the start arrive now. */
static enum mcpx_err open_signals(struct edge *edge)
{
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof signals_heeded / sizeof *signals_heeded; i++) {
        uv_signal_init(&edge->loop, &edge->signals[i]);
        edge->signals[i].data = edge;
        if (uv_signal_start(&edge->signals[i], on_signal, signals_heeded[i]))
            return MCPX_ESYSTEM;
    }
    mask_signals(SIG_UNBLOCK);
    return MCPX_OK;
}

/*
 * Sets the limit of descriptors to the need of the configured connections, at most the hard limit.
 * More would cost time: libwebsockets sizes a table by it, and walks all of it whenever a
 * connection comes or goes.
 */
static void set_descriptors(struct edge *edge)
{
    size_t connections = edge->config->hub.connections_max;
    rlim_t wanted = bounds_descriptors(edge->config);
    struct rlimit limit;

    edge->room = SIZE_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return;
    if (connections || limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    edge->room = bounds_room(limit.rlim_cur);
    if (connections && !edge->config->connections_default && limit.rlim_cur < wanted)
        LOG(LOG_WARN, "few_descriptors", log_number("limit", (int64_t)limit.rlim_cur),
            log_number("wanted", (int64_t)wanted));
}

static void open_handles(struct edge *edge)
{
    uv_prepare_init(&edge->loop, &edge->round);
    uv_idle_init(&edge->loop, &edge->busy);
    uv_timer_init(&edge->loop, &edge->tick);
    uv_timer_init(&edge->loop, &edge->welcome);
    uv_timer_init(&edge->loop, &edge->reopen);
    edge->round.data = edge->tick.data = edge->welcome.data = edge->reopen.data = edge;
    uv_prepare_start(&edge->round, on_round);
    uv_timer_start(&edge->tick, on_tick, TICK_MS, 0);
}

static void open_lists(struct edge *edge)
{
    list_init(&edge->all);
    list_init(&edge->welcoming);
    list_init(&edge->leaving);
    list_init(&edge->unauthenticated_all);
    list_init(&edge->joining);
    list_init(&edge->incomplete_all);
    list_init(&edge->full);
    list_init(&edge->waiting);
    list_init(&edge->waiters.all);
}

static enum mcpx_err open_all(struct edge *edge, const struct config_sources *sources,
                              struct mcpx_text *errors)
{
    const struct config *config = edge->config;
    struct mx_map_key key;
    enum mcpx_err err;

    edge->hub = hub_new(&config->hub, clock_chance());
    clock_chance().fill(clock_chance().context, &key, sizeof key);
    systemd_notify_open(&edge->notify);
    edge->unauthenticated.key = edge->incomplete.key = edge->pending_connections.key = key;
    log_share_init(&edge->request_log, "refused", key);
    log_share_init(&edge->message_log, "message_refused", key);
    errands_init();
    signatures_init(&edge->signatures, key);
    open_lists(edge);
    edge->api =
        (struct http_api){.hub = edge->hub,
                          .config = config,
                          .tickets = tickets_new(clock_chance(), config->tickets_each),
                          .changes = changes_new(),
                          .rates = rate_limits_new(clock_chance(), config->connects_per_s,
                                                   config->requests_per_minute),
                          .started = edge_now(edge),
                          .process = &edge->process,
                          .turns = &edge->turns,
                          .work_ns = clock_work_ns,
                          .tell = record_change,
                          .origin_of = connection_origin_of,
                          .turn_away = pending_connections_turn_away,
                          .context = edge};
    if (!edge->hub || !edge->api.tickets || !edge->api.changes || !edge->api.rates)
        return MCPX_ENOMEM;
    hub_time_matches(edge->hub, clock_ns);
    open_handles(edge);
    set_descriptors(edge);
    err = reload_new(edge, sources);
    if (!err)
        err = store_turn_open(edge, errors);
    if (!err)
        err = file_watch_open(edge, errors);
    if (err)
        return err;
    err = open_signals(edge);
    if (!err)
        err = ws_server_open(edge);
    if (!err)
        return listener_open_all(edge, errors);
    mcpx_text_puts(errors, "cannot set up libwebsockets on libuv; is its libuv plugin "
                           "(libwebsockets-evlib-uv) installed?\n");
    return err;
}

enum mcpx_err edge_new(struct config *config, const struct config_sources *sources,
                       struct mcpx_text *errors, struct edge **out)
{
    struct edge *edge = calloc(1, sizeof *edge);
    enum mcpx_err err;

    if (!edge || uv_loop_init(&edge->loop)) {
        free(edge);
        return MCPX_ENOMEM;
    }
    edge->config = config;
    err = open_all(edge, sources, errors);
    if (err)
        edge_free(edge);
    else
        *out = edge;
    return err;
}

void edge_run(struct edge *edge)
{
    sd_notify(0, "READY=1\nSTATUS=ready");
    clock_forget(&edge->clock); /* to open the store may have taken long */
    set_tick(edge, edge_now(edge));
    LOG(LOG_INFO, "ready", log_string("version", mcpx_version()));
    uv_run(&edge->loop, UV_RUN_DEFAULT);
    /* Blocks signals during the cleanup. Unhandled, the next one would kill the router, and its
     * sender would see that status instead of a clean stop. */
    mask_signals(SIG_BLOCK);
    LOG(LOG_INFO, "stopped", log_number("connections_cut", (int64_t)edge->count));
}

/* Threads that read files were made before signals were blocked, so they still take them. libuv
 * restores the default action of a signal when it stops watching. */
static void ignore_signals(void)
{
    for (size_t i = 0; i < sizeof signals_heeded / sizeof *signals_heeded; i++)
        (void)signal(signals_heeded[i], SIG_IGN);
}

/* Closes our handles that are still open; libwebsockets closes its own. */
static void close_ours(struct edge *edge)
{
    uv_handle_t *ours[] = {(uv_handle_t *)&edge->round,      (uv_handle_t *)&edge->busy,
                           (uv_handle_t *)&edge->tick,       (uv_handle_t *)&edge->welcome,
                           (uv_handle_t *)&edge->reopen,     (uv_handle_t *)&edge->signals[0],
                           (uv_handle_t *)&edge->signals[1], (uv_handle_t *)&edge->signals[2]};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (ours[i]->loop && !uv_is_closing(ours[i]))
            uv_close(ours[i], NULL);
}

void edge_free(struct edge *edge)
{
    if (!edge)
        return;
    listener_close_all(edge);
    close_ours(edge);
    ignore_signals();
    ws_server_close(edge);
    if (edge->wake_store.loop)
        uv_unref((uv_handle_t *)&edge->wake_store); /* the store's threads may still use it */
    uv_run(&edge->loop,
           UV_RUN_DEFAULT); /* until every handle has reported that it is closed */
    ws_server_close(edge);
    store_turn_close(
        edge); /* after all connections are closed, so the store has learned of every leave */
    if (edge->wake_store.loop)
        uv_close((uv_handle_t *)&edge->wake_store, NULL);
    uv_run(&edge->loop, UV_RUN_DEFAULT);
    file_watch_close(edge);
    if (uv_loop_close(&edge->loop))
        LOG(LOG_WARN, "loop_not_empty", log_string("hint", "a handle was not closed"));
    mcpx_text_fini(&edge->pongs);
    mx_holders_fini(&edge->pending_connections);
    mx_holders_fini(&edge->incomplete);
    hub_free(edge->hub);
    reload_free(edge->reload);
    mcpx_text_fini(&edge->api.reloads.text);
    tickets_free(edge->api.tickets);
    changes_free(edge->api.changes);
    rate_limits_free(edge->api.rates);
    mx_holders_fini(&edge->unauthenticated);
    free(edge->listeners);
    free(edge);
}
