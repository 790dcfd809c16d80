/*
 * guard_edge.c - the guard's loop: a listener, the agent's command, and the end of both. A
 * guard that dies takes the agent's way to the router with it; there is no mode in which the agent
 * talks past it.
 * Includes guard_edge.h, guard_link.h, loop.h, tools/common/{command,visible}.h only.
 */
#include "tools/mcpx-bridge/guard_edge.h"

#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpx-bridge/guard_link.h"
#include "tools/mcpx-bridge/loop.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

/* Requests remembered, and connections that may wait to be accepted. */
enum { ASKED_MAX = 10000, BACKLOG = 128 };

static void print(const struct mcpx_text *line)
{
    struct mcpx_text shown = {0};

    if (!line->failed)
        text_shown(&shown, mcpx_text_view(line));
    if (!shown.failed && shown.len)
        complain_in_lines(mcpx_text_view(&shown));
    mcpx_text_fini(&shown);
}

void guard_note(const struct guard_server *server, const char *event, const char *format, ...)
{
    struct mcpx_text line = {0};
    char text[600];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    guard_log_note(&line, server->options->json, event, text);
    print(&line);
    mcpx_text_fini(&line);
}

void guard_left_out(void *user, enum guard_verdict verdict, const struct guard_judge *judge)
{
    struct guard_server *server = user;
    struct mcpx_text line = {0};

    server->counts.of[verdict]++;
    if (guard_verdict_is_routine(verdict) && !server->options->verbose)
        return;
    guard_log_left_out(&line, server->options->json, verdict, judge);
    print(&line);
    mcpx_text_fini(&line);
}

static void summarise(const struct guard_server *server)
{
    struct mcpx_text line = {0};

    guard_log_summary(&line, server->options->json, &server->counts);
    print(&line);
    mcpx_text_fini(&line);
}

void guard_stop(struct guard_server *server)
{
    if (server->stopping)
        return;
    server->stopping = true;
    uv_close((uv_handle_t *)&server->listener, NULL);
    uv_close((uv_handle_t *)&server->round, NULL);
    for (int i = 0; i < GUARD_SIGNALS; i++)
        uv_close((uv_handle_t *)&server->signals[i], NULL);
    if (server->has_command)
        uv_close((uv_handle_t *)&server->command, NULL);
    while (server->links)
        guard_link_break(server->links);
}

/* ---- listening ---- */

static void on_connection(uv_stream_t *listener, int status)
{
    struct guard_server *server = listener->data;

    if (status == 0 && guard_link_accept(server) == MCPX_OK)
        return;
    guard_note(server, "not_accepted", "a connection could not be accepted: %s",
               status < 0 ? uv_strerror(status) : "not enough memory or descriptors");
}

static int resolve(struct guard_server *server, struct sockaddr_storage *out)
{
    const struct guard_address *listen = &server->options->listen;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    uv_getaddrinfo_t request;
    char port[8];
    int err;

    snprintf(port, sizeof port, "%d", listen->port);
    err = uv_getaddrinfo(&server->loop, &request, NULL, listen->host, port, &hints);
    if (err < 0)
        return err;
    memcpy(out, request.addrinfo->ai_addr, request.addrinfo->ai_addrlen);
    uv_freeaddrinfo(request.addrinfo);
    return 0;
}

/* The address as the agent is told it: what was asked for, with the port that came of it. */
static int name_yourself(struct guard_server *server)
{
    const char *host = server->options->listen.host;
    bool bracket = strchr(host, ':');
    struct sockaddr_storage name;
    int len = sizeof name;
    int err = uv_tcp_getsockname(&server->listener, (struct sockaddr *)&name, &len);
    unsigned port;

    if (err < 0)
        return err;
    port = name.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&name)->sin6_port
                                      : ((struct sockaddr_in *)&name)->sin_port;
    snprintf(server->gateway, sizeof server->gateway, "ws://%s%s%s:%u", bracket ? "[" : "",
             host, bracket ? "]" : "", (unsigned)ntohs((uint16_t)port));
    snprintf(server->url, sizeof server->url, "%s%s", server->gateway,
             server->options->router.path);
    return 0;
}

static int start_listening(struct guard_server *server)
{
    struct sockaddr_storage address;
    int err = resolve(server, &address);

    if (!err)
        err = uv_tcp_bind(&server->listener, (struct sockaddr *)&address, 0);
    if (!err)
        err = uv_listen((uv_stream_t *)&server->listener, BACKLOG, on_connection);
    return err ? err : name_yourself(server);
}

/* Standard output is the command's, when there is one. */
static void announce(const struct guard_server *server)
{
    const struct guard_options *options = server->options;
    struct mcpx_text line = {0};

    if (server->has_command) {
        guard_note(server, "listening", "%s, in front of %s port %d", server->url,
                   options->router.host, options->router.port);
        return;
    }
    if (options->json) {
        guard_log_note(&line, true, "listening", server->url);
    } else {
        mcpx_text_puts(&line, "listening ");
        mcpx_text_puts(&line, server->url);
        mcpx_text_puts(&line, "\n");
    }
    if (!line.failed)
        fwrite(line.text, 1, line.len, stdout);
    fflush(stdout);
    mcpx_text_fini(&line);
}

/* ---- the whole ---- */

static int fail(struct guard_server *server, const char *what, int err)
{
    guard_note(server, "failed", "%s: %s", what, uv_strerror(err));
    return 1;
}

static int start(struct guard_server *server)
{
    const struct guard_options *options = server->options;
    int err = start_listening(server);

    if (err < 0)
        return fail(server, "cannot listen", err);
    err = guard_signals_start(server);
    if (err < 0)
        return fail(server, "cannot watch for signals", err);
    if (options->command && options->command[0]) {
        err = guard_command_start(server);
        if (err < 0)
            return fail(server, "cannot run the command", err);
    }
    announce(server);
    return 0;
}

int guard_run(const struct guard_options *options)
{
    static struct guard_server server;
    int status = 1;

    server = (struct guard_server){.options = options};
    if (guard_asked_new(ASKED_MAX, &server.asked) != MCPX_OK ||
        uv_loop_init(&server.loop) < 0) {
        guard_asked_free(server.asked);
        return status;
    }
    signal(SIGPIPE, SIG_IGN);
    loop_complaints_start(&server.round, &server.loop);
    uv_tcp_init(&server.loop, &server.listener);
    server.listener.data = &server;
    for (int i = 0; i < GUARD_SIGNALS; i++)
        uv_signal_init(&server.loop, &server.signals[i]);
    status = start(&server);
    if (status)
        guard_stop(&server);
    uv_run(&server.loop, UV_RUN_DEFAULT);
    if (!status) {
        summarise(&server);
        status = server.status;
    }
    uv_loop_close(&server.loop);
    guard_asked_free(server.asked);
    return status;
}
