/*
 * run.c - the guard's loop: a listener, the agent's command, and the end of both. When the
 * guard dies, the agent's connections to the router break: the agent has no way around the
 * guard.
 */
#include "tools/mcpx-bridge/guard/edge/run.h"

#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpx-bridge/edge/loop.h"
#include "tools/mcpx-bridge/guard/edge/command.h"
#include "tools/mcpx-bridge/guard/edge/link.h"
#include "tools/mcpx-bridge/guard/edge/report.h"
#include "tools/mcpx-bridge/guard/edge/server.h"
#include "tools/mcpx-bridge/guard/edge/stop.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

/* Requests remembered, and connections that may wait to be accepted. */
enum { ASKED_MAX = 10000, BACKLOG = 128 };

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

/* The address for the agent: the one that was asked for, with the port that the system gave. */
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
    guard_announce(server);
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
        guard_summarise(&server);
        status = server.status;
    }
    uv_loop_close(&server.loop);
    guard_asked_free(server.asked);
    return status;
}
