/*
 * http_loop.c - libmicrohttpd on our loop. It has no threads: its one epoll descriptor is polled as
 * any other, and it is run when that, or the time it gave, says so.
 */
#include "lib/edge/alarm.h"
#include "tools/mcpx-bridge/expose/edge/http_state.h"

#include <stdlib.h>

void expose_http_release(struct expose_http *http)
{
    if (--http->open || !http->is_closing)
        return;
    free(http);
}

static void run(struct expose_http *http);

static void on_timer(uv_timer_t *timer)
{
    run(timer->data);
}

void expose_http_polled(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    run(poll->data);
}

void expose_http_soon(struct expose_http *http)
{
    if (!http->is_running && !http->is_closing)
        uv_timer_start(&http->timer, on_timer, 0, 0);
}

static void run(struct expose_http *http)
{
    int64_t now = mx_clock_now().mono_ms, due;
    MHD_UNSIGNED_LONG_LONG ms;

    http->is_running = true;
    due = expose_http_cut(http, now);
    MHD_run(http->daemon);
    http->is_running = false;
    if (MHD_get_timeout(http->daemon, &ms) == MHD_YES && (int64_t)ms < due - now)
        due = now + (int64_t)ms;
    if (due == INT64_MAX && http->first_link)
        due = http->first_link->due_ms;
    if (due == INT64_MAX)
        uv_timer_stop(&http->timer);
    else
        uv_timer_start(&http->timer, on_timer, due > now ? (uint64_t)(due - now) : 0, 0);
}
