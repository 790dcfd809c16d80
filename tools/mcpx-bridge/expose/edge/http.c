/*
 * http.c - the server as its owner sees it: it begins and ends, and lines go to those who wait for
 * them. What MHD does when is told by http_link.c and http_exchange.c.
 */
#include "tools/mcpx-bridge/expose/edge/http.h"
#include "tools/mcpx-bridge/bridge.h"

#include <stdlib.h>
#include <unistd.h>

/* More sockets than connections: one that has to go leaves after the one it goes for has come. */
enum { SOCKETS_MAX = 320, HEAD_MAX = 32768 };

/* ---- answers ---- */

static struct expose_http_exchange *find(const struct expose_http *http, int64_t number)
{
    struct expose_http_exchange *exchange = http->exchanges;

    while (exchange && exchange->number != number)
        exchange = exchange->next;
    return exchange;
}

/*
 * What is no message has no number of ours, and perhaps a number of its own that somebody else has
 * here. It is refused before anything else is said, so the first answer is its.
 */
static struct expose_http_exchange *asker_of(const struct expose_http *http,
                                             struct mcpx_slice line)
{
    struct expose_http_exchange *current = http->current;
    int64_t number;

    if (!expose_post_is_answer(line))
        return NULL;
    if (current && !current->is_said && !current->number)
        return current;
    number = expose_post_number(line);
    return number > 0 ? find(http, number) : NULL;
}

void expose_http_write(struct expose_http *http, struct mcpx_slice line)
{
    struct expose_http_exchange *exchange = asker_of(http, line);
    struct mcpx_text answer = {0};

    if (!exchange)
        return;
    if (exchange->number)
        answer = expose_post_answer(line, mcpx_text_view(&exchange->id));
    else
        mcpx_text_slice(&answer, line);
    expose_http_say(exchange, expose_post_status(line, exchange->wants_events), answer);
}

void expose_http_end(struct expose_http *http)
{
    if (!http)
        return;
    http->is_ending = true;
    for (struct expose_http_exchange *exchange = http->exchanges; exchange;
         exchange = exchange->next) {
        struct mcpx_text answer = {0};

        if (!exchange->is_asked || exchange->is_said || exchange->is_gone)
            continue;
        bridge_add_error(&answer, mcpx_text_view(&exchange->id), BRIDGE_UNAVAILABLE,
                         MCPX_SLICE("the bridge is ending"), (struct mcpx_slice){0});
        expose_http_say(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, answer);
    }
}

size_t expose_http_unwritten(const struct expose_http *http)
{
    size_t count = http ? http->unwritten : 0;

    for (const struct expose_http_exchange *exchange = http ? http->exchanges : NULL; exchange;
         exchange = exchange->next)
        count += exchange->is_said && !exchange->is_sent && !exchange->is_gone ? 1 : 0;
    return count;
}

/* ---- from beginning to end ---- */

static struct MHD_Daemon *start(struct expose_http *http)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, expose_http_request, http,
        MHD_OPTION_LISTEN_SOCKET, http->config.socket, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)SOCKETS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_MAX,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED, expose_http_over, http,
        MHD_OPTION_NOTIFY_CONNECTION, expose_http_connection, http, MHD_OPTION_END);
}

enum mcpx_err expose_http_new(const struct expose_http_config *config,
                              struct expose_http **out)
{
    struct expose_http *http = calloc(1, sizeof *http);
    const union MHD_DaemonInfo *info;

    http->config = *config;
    http->daemon = start(http);
    if (!http->daemon) {
        close(config->socket);
        free(http);
        return MCPX_ESYSTEM;
    }
    info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info || uv_poll_init(config->loop, &http->poll, info->epoll_fd) < 0) {
        MHD_stop_daemon(http->daemon);
        free(http);
        return MCPX_ESYSTEM;
    }
    uv_timer_init(config->loop, &http->timer);
    http->poll.data = http->timer.data = http;
    http->open = 2;
    uv_poll_start(&http->poll, UV_READABLE, expose_http_polled);
    *out = http;
    return MCPX_OK;
}

static void on_closed(uv_handle_t *handle)
{
    expose_http_release(handle->data);
}

/* MHD stops only when nothing is suspended. */
void expose_http_close(struct expose_http *http)
{
    if (!http)
        return;
    expose_http_end(http);
    uv_poll_stop(&http->poll);
    http->is_running = true;
    MHD_run(http->daemon);
    MHD_stop_daemon(http->daemon);
    http->is_closing = true;
    uv_close((uv_handle_t *)&http->poll, on_closed);
    uv_close((uv_handle_t *)&http->timer, on_closed);
}
