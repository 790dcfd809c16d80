/*
 * command.c - the agent's command and the signals for it. A person may use it on the terminal,
 * so it keeps the guard's standard input, output and error, its process group and its terminal.
 * The child of child.h was refused, because it has pipes and a session of its own.
 */
#include "tools/mcpx-bridge/guard/edge/command.h"

#include "tools/mcpx-bridge/guard/edge/server.h"
#include "tools/mcpx-bridge/guard/edge/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static const int numbers[GUARD_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

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
        true; /* the handle must be closed even when the program does not exist */
    return err;
}

/*
 * The terminal sends SIGINT and SIGQUIT to the whole foreground group, so the command got them
 * already. Only a signal handler learns who sent a signal, and the loop's handler does not
 * tell: so ours runs before it. `sent` is set when a process has sent that signal since the
 * last check.
 */
static volatile sig_atomic_t sent[GUARD_SIGNALS];
static void (*pass_to_loop[GUARD_SIGNALS])(int);

static size_t place_of(int number)
{
    size_t at = 0;

    while (at < GUARD_SIGNALS - 1 && numbers[at] != number)
        at++;
    return at;
}

/* On Linux the codes of what a process has sent are 0 or less; those of the kernel are above. */
static void on_raw_signal(int number, siginfo_t *info, void *context)
{
    size_t at = place_of(number);

    (void)context;
    if (info->si_code <= 0)
        sent[at] = 1;
    pass_to_loop[at](number);
}

static int catch_before_loop(size_t at)
{
    struct sigaction action, loops;

    if (sigaction(numbers[at], NULL, &loops) != 0)
        return -errno;
    pass_to_loop[at] = loops.sa_handler;
    action = loops;
    action.sa_flags |= SA_SIGINFO;
    action.sa_sigaction = on_raw_signal;
    return sigaction(numbers[at], &action, NULL) == 0 ? 0 : -errno;
}

static bool came_from_terminal(int number)
{
    size_t at = place_of(number);
    bool by_process = sent[at];

    sent[at] = 0;
    return (number == SIGINT || number == SIGQUIT) && !by_process;
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
    for (size_t i = 0; i < GUARD_SIGNALS; i++) {
        int err = uv_signal_start(&server->signals[i], on_signal, numbers[i]);

        if (!err)
            err = catch_before_loop(i);
        if (err < 0)
            return err;
        server->signals[i].data = server;
    }
    return 0;
}
