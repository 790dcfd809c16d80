/*
 * guard_command.c - the agent's command and the signals that are meant for it. It is a program
 * somebody may be talking to, so it keeps the guard's standard input, output and error, its
 * process group and its terminal; the supervised child of child.h, which has pipes and a session
 * of its own, was refused for that reason.
 * Includes guard_edge.h only.
 */
#include "tools/mcpx-bridge/guard_edge.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void on_ended(uv_process_t *process, int64_t code, int signal)
{
    struct guard_server *server = process->data;

    server->status = signal ? 128 + signal : (int)code;
    guard_stop(server);
}

static int tell_address(const struct guard_server *server)
{
    if (setenv("MCPX_URL", server->url, 1) != 0 ||
        setenv("MCPX_GATEWAY", server->gateway, 1) != 0 ||
        setenv("GATEWAY_URL", server->gateway, 1) != 0)
        return UV_ENOMEM;
    return 0;
}

int guard_command_start(struct guard_server *server)
{
    uv_stdio_container_t stdio[3];
    uv_process_options_t options = {
        .exit_cb = on_ended,
        .file = server->options->command[0],
        .args = server->options->command,
        .stdio_count = 3,
        .stdio = stdio,
    };
    int err = tell_address(server);

    if (err < 0)
        return err;
    for (int i = 0; i < 3; i++) {
        stdio[i].flags = UV_INHERIT_FD;
        stdio[i].data.fd = i;
    }
    server->command.data = server;
    err = uv_spawn(&server->loop, &server->command, &options);
    server->has_command =
        true; /* the handle is to be closed even when the program is not there */
    return err;
}

/* The terminal sends its signals to the whole foreground group: the command has had this one. */
static bool came_from_terminal(int number)
{
    return (number == SIGINT || number == SIGQUIT) && isatty(STDIN_FILENO) &&
           tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct guard_server *server = handle->data;

    if (!server->has_command)
        guard_stop(server);
    else if (!came_from_terminal(number))
        uv_process_kill(&server->command, number);
}

int guard_signals_start(struct guard_server *server)
{
    static const int numbers[GUARD_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

    for (int i = 0; i < GUARD_SIGNALS; i++) {
        int err = uv_signal_start(&server->signals[i], on_signal, numbers[i]);

        if (err < 0)
            return err;
        server->signals[i].data = server;
    }
    return 0;
}
