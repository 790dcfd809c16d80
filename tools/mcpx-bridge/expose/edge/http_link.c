/*
 * http_link.c - connections, and libmicrohttpd on our loop. It has no threads: its one epoll
 * descriptor is polled as any other, and it is run when that, or the time it gave, says so.
 *
 * Whoever opens a connection and says nothing, or says it byte by byte, or does not read, is cut
 * after a while; and when there are too many, the one that was quiet longest has to go, so that
 * nobody can keep others out by opening all there are. A connection that waits for an answer of
 * ours owes nothing and is never cut. MHD's own timeout was refused: every byte starts it anew.
 */
#include "lib/edge/alarm.h"
#include "tools/mcpx-bridge/expose/edge/http.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { QUIET_MS = 30000, LINKS_MAX = 256 };

static void unlist(struct expose_http *http, struct expose_http_link *link)
{
    if (!link->is_listed)
        return;
    link->is_listed = false;
    *(link->previous ? &link->previous->next : &http->first_link) = link->next;
    *(link->next ? &link->next->previous : &http->last_link) = link->previous;
    link->previous = link->next = NULL;
}

static void list(struct expose_http *http, struct expose_http_link *link)
{
    link->is_listed = true;
    link->due_ms = mx_clock_now().mono_ms + QUIET_MS;
    link->previous = http->last_link;
    *(http->last_link ? &http->last_link->next : &http->first_link) = link;
    http->last_link = link;
}

/* The socket stays MHD's: it reads the end, and closes. */
static void cut(struct expose_http *http, struct expose_http_link *link)
{
    unlist(http, link);
    shutdown(link->socket, SHUT_RDWR);
}

static void begin(struct expose_http *http, struct MHD_Connection *connection,
                  struct expose_http_link **out)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct expose_http_link *link;

    if (!info)
        return;
    link = calloc(1, sizeof *link);
    link->socket = info->connect_fd;
    *out = link;
    list(http, link);
    if (++http->link_count > LINKS_MAX)
        cut(http, http->first_link);
}

void expose_http_connection(void *user, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode what)
{
    struct expose_http *http = user;
    struct expose_http_link *link = *context;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        begin(http, connection, (struct expose_http_link **)context);
    } else if (link) {
        unlist(http, link);
        http->link_count--;
        free(link);
        *context = NULL;
    }
}

/* The address without its port. */
static struct mcpx_slice address_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    const struct sockaddr_in *four = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

    if (!address)
        return (struct mcpx_slice){0};
    if (address->sa_family == AF_INET)
        return (struct mcpx_slice){(const char *)&four->sin_addr, sizeof four->sin_addr};
    return (struct mcpx_slice){(const char *)&six->sin6_addr, sizeof six->sin6_addr};
}

bool expose_http_same_client(struct MHD_Connection *one, struct MHD_Connection *other)
{
    return mcpx_slice_equal(address_of(one), address_of(other));
}

void expose_http_touch(struct expose_http *http, struct MHD_Connection *connection,
                       bool it_owes)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct expose_http_link *link = info ? info->socket_context : NULL;

    if (!link)
        return;
    unlist(http, link);
    if (it_owes)
        list(http, link);
}

static int64_t expose_http_cut(struct expose_http *http, int64_t now_ms)
{
    while (http->first_link && http->first_link->due_ms <= now_ms)
        cut(http, http->first_link);
    return http->first_link ? http->first_link->due_ms : INT64_MAX;
}

/* ---- the loop ---- */

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
