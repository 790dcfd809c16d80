/*
 * run.c - the guard's loop: a listener, the agent's command with its signals, and the end of both.
 * When the guard dies, the agent's connections to the router break: an agent that goes on without a
 * guard would believe unchecked messages. A person may use the command on the terminal, so it keeps
 * the guard's standard input, output and error, its process group and its terminal. Rejected: the
 * child of child.h, because it has pipes and a session of its own.
 */
#include "tools/mcpx-bridge/guard/edge/server.h"

#include "tools/common/command.h"
#include "tools/mcpx-bridge/verbs.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* The address goes to standard output, unless the command uses that. */
static void announce(const struct guard_server *server)
{
    mx_scoped_text line = {0};

    if (server->has_command) {
        guard_note(server, "listening", "%s, in front of %s port %s", server->url,
                   server->router.host, server->router.port);
        return;
    }
    if (server->json)
        line = guard_log_note(true, "listening", mx_formatted("%s", server->url));
    else
        mx_format(&line, "listening %s\n", server->url);
    fwrite(line.text, 1, line.len, stdout);
    fflush(stdout);
}

/* ---- the end ---- */

/* Several may ask for it; it happens once. */
static void stop_all(struct guard_server *server)
{
    if (server->is_stopping)
        return;
    server->is_stopping = true;
    uv_close((uv_handle_t *)&server->listener, NULL);
    loop_handles_close(&server->handles);
    if (server->has_command)
        uv_close((uv_handle_t *)&server->process, NULL);
    while (server->links)
        guard_link_break(server->links);
}

/* ---- the command, and signals ---- */

static void on_ended(uv_process_t *process, int64_t code, int signal)
{
    struct guard_server *server = process->data;

    server->status = signal ? 128 + signal : (int)code;
    stop_all(server);
}

/* libuv resets an ignored SIGHUP in a command; env ignores it again. Returns the arguments. */
static char **ignore_hangup(char **command)
{
    static char *const env[] = {"env", "--ignore-signal=HUP", "--"};
    size_t count = 1;
    char **words;

    while (command[count - 1])
        count++;
    words = malloc(sizeof env + count * sizeof *command);
    memcpy(words, env, sizeof env);
    memcpy(words + sizeof env / sizeof *env, command, count * sizeof *command);
    return words;
}

static int start_command(struct guard_server *server)
{
    uv_stdio_container_t stdio[3];
    uv_process_options_t options = {.exit_cb = on_ended, .stdio_count = 3, .stdio = stdio};

    if (loop_ignores_hangup())
        server->command = ignore_hangup(server->command);
    options.args = server->command;
    options.file = server->command[0];
    setenv("MCPX_URL", server->url, 1);
    setenv("MCPX_GATEWAY", server->gateway, 1);
    setenv("GATEWAY_URL", server->gateway, 1);
    for (int i = 0; i < 3; i++) {
        stdio[i].flags = UV_INHERIT_FD;
        stdio[i].data.fd = i;
    }
    server->process.data = server;
    server->has_command = true; /* a handle to close, even when there is no such program */
    return uv_spawn(&server->loop, &server->process, &options);
}

/*
 * The terminal sends SIGINT and SIGQUIT to the whole foreground group, so the command got them
 * already. Only a signal handler learns the sender of a signal, and the loop's handler hides it: so
 * ours runs before it. `sent` is set when a process has sent that signal since the last check.
 */
static volatile sig_atomic_t sent[SIGTERM + 1]; /* by number; none of ours is higher */
static void (*pass_to_loop)(int);

/* On Linux the codes of what a process has sent are 0 or less; those of the kernel are above. */
static void on_raw_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code <= 0)
        sent[number] = 1;
    pass_to_loop(number);
}

/* The loop has one handler for all signals; an ignored one has no number. */
static void catch_before_loop(const struct loop_handles *handles)
{
    struct sigaction action;

    for (size_t i = 0; i < LOOP_SIGNALS; i++) {
        int number = handles->signals[i].signum;

        if (!number || sigaction(number, NULL, &action) != 0)
            continue;
        pass_to_loop = action.sa_handler;
        action.sa_flags |= SA_SIGINFO;
        action.sa_sigaction = on_raw_signal;
        sigaction(number, &action, NULL);
    }
}

static bool came_from_terminal(int number)
{
    bool by_process = sent[number];

    sent[number] = 0;
    return (number == SIGINT || number == SIGQUIT) && !by_process;
}

static void on_signal(void *user)
{
    struct guard_server *server = user;

    if (!server->has_command)
        stop_all(server);
    else if (!came_from_terminal(server->handles.number))
        uv_process_kill(&server->process, server->handles.number);
}

/* Requests remembered, and connections that may wait to be accepted. */
enum { ASKED_MAX = 10000, BACKLOG = 128 };

/* ---- listening ---- */

static void on_connection(uv_stream_t *listener, int status)
{
    struct guard_server *server = listener->data;

    if (status == 0 && guard_link_accept(server))
        return;
    guard_note(server, "not_accepted", "a connection could not be accepted: %s",
               status < 0 ? uv_strerror(status) : "not enough descriptors");
}

/* The agent's address: the requested host, with the port chosen by the system. */
static int name_yourself(struct guard_server *server)
{
    const char *host = server->listen.host;
    bool bracket = strchr(host, ':');
    struct sockaddr_storage name = {0};
    int len = sizeof name;
    int err = uv_tcp_getsockname(&server->listener, (struct sockaddr *)&name, &len);
    /* It has the same place in both families. */
    unsigned port = ntohs(((struct sockaddr_in *)&name)->sin_port);

    if (err < 0)
        return err;
    snprintf(server->gateway, sizeof server->gateway, "ws://%s%s%s:%u", bracket ? "[" : "",
             host, bracket ? "]" : "", port);
    snprintf(server->url, sizeof server->url, "%s%s", server->gateway, server->router.path);
    return 0;
}

static int start_listening(struct guard_server *server)
{
    const struct guard_address *listen = &server->listen;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    uv_getaddrinfo_t request;
    char port[8];
    int err;

    snprintf(port, sizeof port, "%d", listen->port);
    err = uv_getaddrinfo(&server->loop, &request, NULL, listen->host, port, &hints);
    if (err < 0)
        return err;
    err = uv_tcp_bind(&server->listener, request.addrinfo->ai_addr, 0);
    uv_freeaddrinfo(request.addrinfo);
    if (!err)
        err = uv_listen((uv_stream_t *)&server->listener, BACKLOG, on_connection);
    return err ? err : name_yourself(server);
}

/* ---- the whole ---- */

static int start(struct guard_server *server)
{
    const char *what = "cannot listen";
    int err = start_listening(server);

    if (!err && server->command[0]) {
        what = "cannot run the command";
        err = start_command(server);
    }
    if (err)
        guard_note(server, "failed", "%s: %s", what, uv_strerror(err));
    else
        announce(server);
    return err ? 1 : 0;
}

/*
 * Runs the guard until its command ends or, without one, until a signal. Returns an exit code: the
 * command's own; 128 and the signal's number when one ended it; 0 without a command; 1 when it
 * cannot listen or the command cannot be run (126 or 127 of env while SIGHUP is ignored).
 */
static int guard_run(struct guard_server *server)
{
    struct mcpx_text line = {0};
    int status, err = uv_loop_init(&server->loop);

    if (err < 0) {
        guard_note(server, "failed", "cannot have an event loop: %s", uv_strerror(err));
        return STATUS_FAILED;
    }
    server->asked.max = ASKED_MAX;
    loop_handles_start(&server->handles, &server->loop, on_signal, server);
    catch_before_loop(&server->handles);
    uv_tcp_init(&server->loop, &server->listener);
    server->listener.data = server;
    status = start(server);
    if (status)
        stop_all(server);
    uv_run(&server->loop, UV_RUN_DEFAULT);
    if (!status) {
        guard_log_summary(&line, server->json, server->counts);
        guard_log_print(line);
        status = server->status;
    }
    uv_loop_close(&server->loop);
    bridge_calls_fini(&server->asked.calls);
    return status;
}

/*
 * Some options have the same name as those of other verbs, but are defined here: the guard needs no
 * topic and no token, because both are in the agent's requests.
 */
const struct option_row guard_option_rows[] = {
    {"--url", "URL", VALUE_TEXT, 0,
     "the router, ws://HOST[:PORT][/PATH]. Default: MCPX_URL, else ws://127.0.0.1:8080"},
    {"--listen", "HOST:PORT", VALUE_TEXT, 0,
     "where the agent connects to. Default: 127.0.0.1:0, any free port"},
    {"--message-max", "BYTES", VALUE_NUMBER, 0,
     "longest message from the router; longer ones are left out. Default: 67108864"},
    {"--timeout", "S", VALUE_SECONDS, 0,
     "how long the router may take to welcome the agent, or to answer any other request; 0 "
     "for ever. Default: 30"},
    {"--json", NULL, VALUE_NONE, 0, "log one JSON object per line"},
    {"--verbose", NULL, VALUE_NONE, 0,
     "also log routine cases: the agent's own echoes, and messages to others"},
    {.name = NULL},
};

const char guard_help[] =
    "Listens on this machine and passes the agent's bytes on to the router. A message of the "
    "router passes as it came, or not at all. Left out are messages addressed to others, the "
    "agent's own, requests whose kind and payload disagree, proposals that would be executed, "
    "and responses without a request, or from a participant that was not asked. Each such "
    "message makes a line on standard error.\n\n"
    "COMMAND is run with the guard's address in MCPX_URL, MCPX_GATEWAY and GATEWAY_URL, and "
    "the guard ends with its exit code. Without COMMAND the address is printed and the guard "
    "runs until it is stopped.\n\n"
    "The guard must read the messages, so it supports ws only, not wss.";

int cmd_guard(const struct arguments *arguments)
{
    enum { MESSAGE_MAX = 64 << 20, TIMEOUT_MS = 30000 };
    static struct guard_server server;
    const char *url = arguments_value(arguments, "--url");
    const char *listen = arguments_value(arguments, "--listen");
    const char *environment = getenv("MCPX_URL"), *fault;

    if (!url)
        url = environment && *environment ? environment : "ws://127.0.0.1:8080";
    fault = guard_address_read_url(url, &server.router);
    if (fault)
        return fail_with(STATUS_USAGE, "--url: %s", fault);
    fault = guard_address_read_listen(listen ? listen : "127.0.0.1:0", &server.listen);
    if (fault)
        return fail_with(STATUS_USAGE, "--listen: %s", fault);
    server.json = arguments_have(arguments, "--json");
    if (server.json)
        complain_as_json();
    server.verbose = arguments_have(arguments, "--verbose");
    server.message_max = (size_t)arguments_number(arguments, "--message-max", MESSAGE_MAX);
    server.timeout_ms = arguments_ms(arguments, "--timeout", TIMEOUT_MS);
    server.command = arguments->rest;
    return guard_run(&server);
}
