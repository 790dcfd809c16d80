/*
 * child_run.c - starts one process, and watches our four ends of it on the loop. A start is pipes,
 * an environment, and a fork with every signal blocked, so no handler of the owner runs in the
 * supervisor. All descriptors are close-on-exec from the start, because other threads may execute
 * programs at any time. The socket to the supervisor closes last. By then all writers of the pipes
 * are dead, so "no line after DOWN" needs no flag.
 *
 * Rejected: uv_spawn. It waits for the process it started and does not know descendants.
 */
#define _GNU_SOURCE /* _Fork, pipe2 */
#include "lib/edge/child_state.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char mark_name[] = "MCPX_CHILD=";

/* The owner's and the program's ends, in the order of enum mx_child_end. */
struct ends {
    int ours[MX_END_COUNT];
    int theirs[MX_END_COUNT];
};

static void close_all(int *fds)
{
    int kept = errno;

    for (int i = 0; i < MX_END_COUNT; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    errno = kept;
}

static bool open_pipe(int *reads, int *writes)
{
    int pipes[2];

    if (pipe2(pipes, O_CLOEXEC))
        return false;
    *reads = pipes[0];
    *writes = pipes[1];
    return true;
}

static bool open_ends(struct ends *ends, bool discard)
{
    int pair[2];

    for (int i = 0; i < MX_END_COUNT; i++)
        ends->ours[i] = ends->theirs[i] = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return false;
    ends->ours[MX_END_CONTROL] = pair[0];
    ends->theirs[MX_END_CONTROL] = pair[1];
    if (discard)
        ends->theirs[MX_END_ERRORS] = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return open_pipe(&ends->theirs[MX_END_INPUT], &ends->ours[MX_END_INPUT]) &&
           open_pipe(&ends->ours[MX_END_OUTPUT], &ends->theirs[MX_END_OUTPUT]) &&
           (discard ? ends->theirs[MX_END_ERRORS] >= 0
                    : open_pipe(&ends->ours[MX_END_ERRORS], &ends->theirs[MX_END_ERRORS]));
}

static bool make_mark(char *mark)
{
    unsigned long long random;

    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return false;
    snprintf(mark, MX_REAP_MARK_SIZE, "%s%016llx", mark_name, random);
    return true;
}

/* Our environment with `mark` first and no other mark. The caller frees the array only. */
static char **make_environment(char *mark)
{
    size_t count = 0, len = 0, i;
    char **all;

    while (environ && environ[count])
        count++;
    all = calloc(count + 2, sizeof *all);
    if (!all)
        return NULL;
    all[len++] = mark;
    for (i = 0; i < count; i++)
        if (strncmp(environ[i], mark_name, sizeof mark_name - 1) != 0)
            all[len++] = environ[i];
    return all;
}

static pid_t fork_supervisor(const struct mx_supervisor_task *task)
{
    sigset_t all, before;
    pid_t pid;
    int kept;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = _Fork();
    if (pid == 0)
        mx_supervisor_run(task);
    kept = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = kept;
    return pid;
}

/* Starts a supervisor, and it starts the program; the control socket reports the outcome. Returns
 * MCPX_OK with the child's ports and its run's supervisor and mark filled; MCPX_ENOMEM;
 * MCPX_ESYSTEM with errno. */
static enum mcpx_err child_spawn(struct mcpx_child *child)
{
    const struct mcpx_child_config *config = &child->config;
    struct mx_child_run *run = &child->run;
    char **environment = make_environment(run->mark);
    struct ends ends;

    if (!environment)
        return MCPX_ENOMEM;
    if (open_ends(&ends, !config->name) && make_mark(run->mark)) {
        struct mx_supervisor_task task = {config->argv, environment, config->cwd, ends.theirs,
                                          getpid()};

        run->supervisor = fork_supervisor(&task);
    }
    free(environment);
    close_all(ends.theirs);
    if (run->supervisor <= 0) {
        close_all(ends.ours);
        return MCPX_ESYSTEM;
    }
    for (int end = 0; end < MX_END_COUNT; end++)
        child->ports[end].fd = ends.ours[end];
    return MCPX_OK;
}

/* SWEEP_MS: between searches for processes without a supervisor. SWEEPS_MAX: searches of a stop. */
enum { SWEEP_MS = 10, SWEEPS_MAX = 100 };

void mx_child_run_order(struct mcpx_child *child, enum mx_supervisor_order order)
{
    char byte = (char)order;

    if (child->ports[MX_END_CONTROL].fd >= 0)
        (void)!send(child->ports[MX_END_CONTROL].fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The supervisor is ending. ECHILD: other code of this program has reaped it. */
static void wait_for_supervisor(const struct mcpx_child *child)
{
    while (waitpid(child->run.supervisor, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* No process is left: reads the rest of its output, and closes our ends. */
static void finish(struct mcpx_child *child)
{
    uv_timer_stop(&child->timer);
    mx_child_output_drain(child);
    mx_child_output_fini(child);
    mx_child_input_fini(child);
    for (enum mx_child_end end = 0; end < MX_END_COUNT; end++)
        mx_child_port_close(child, end);
}

/* The supervisor was killed, and with it the child. Kills the other processes, found by session and
 * mark, until none is left. */
static void on_sweep(uv_timer_t *timer)
{
    struct mcpx_child *child = timer->data;
    struct mx_child_run *run = &child->run;
    size_t left = mx_reap_marked(run->pid, run->mark);

    if (left && !(child->stopping && ++run->rounds > SWEEPS_MAX)) {
        uv_timer_start(timer, on_sweep, SWEEP_MS, 0);
        return;
    }
    if (left > run->left)
        run->left = left;
    finish(child);
}

static void take_news(struct mcpx_child *child, const struct mx_supervisor_news *news)
{
    struct mx_child_run *run = &child->run;

    switch ((enum mx_supervisor_word)news->word) {
    case MX_WORD_FORKED:
        run->pid = news->value;
        child->facts->forked(child);
        break;
    case MX_WORD_EXECUTED:
        child->facts->executed(child);
        break;
    case MX_WORD_REFUSED:
        run->fault = news->value;
        run->step = news->detail;
        break;
    case MX_WORD_ENDED:
        run->status = news->value;
        run->ended = true;
        child->facts->ended(child);
        break;
    case MX_WORD_CLEAR:
        run->clear = true;
        break;
    }
}

/* ECONNRESET: the supervisor ended with an order unread. Its last reports can still be read. */
bool mx_child_run_hear(struct mcpx_child *child)
{
    struct mx_supervisor_news news;

    for (;;) {
        ssize_t got = recv(child->ports[MX_END_CONTROL].fd, &news, sizeof news, MSG_DONTWAIT);

        if (got == sizeof news)
            take_news(child, &news);
        else if (got >= 0)
            return true;
        else if (errno == EAGAIN)
            return false;
        else if (errno != EINTR && errno != ECONNRESET)
            return true;
    }
}

static void on_control(uv_poll_t *poll, int status, int events)
{
    struct mcpx_child *child = poll->data;

    (void)events;
    if (!mx_child_run_hear(child)) {
        if (status < 0)
            uv_poll_start(poll, UV_READABLE, on_control);
        return;
    }
    uv_poll_stop(poll);
    uv_timer_stop(&child->timer);
    wait_for_supervisor(child);
    child->run.gone = true;
    if (child->run.clear)
        finish(child);
    else
        on_sweep(&child->timer);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct mcpx_child *child = poll->data;
    bool is_output = poll == &child->ports[MX_END_OUTPUT].poll;

    (void)status;
    (void)events;
    mx_child_output_read(child, is_output ? MX_END_OUTPUT : MX_END_ERRORS);
}

static bool open_ports(struct mcpx_child *child)
{
    const uv_poll_cb callbacks[] = {on_control, NULL, on_readable, on_readable};
    int end;

    for (end = 0; end < MX_END_COUNT; end++) {
        struct mx_child_port *port = &child->ports[end];

        if (port->fd < 0)
            continue;
        port->poll.data = child;
        if (uv_poll_init(child->config.loop, &port->poll, port->fd))
            break;
        child->handles++;
        if (callbacks[end] && uv_poll_start(&port->poll, UV_READABLE, callbacks[end]))
            break;
    }
    return end == MX_END_COUNT;
}

/* The loop refused a descriptor. Without its socket the supervisor kills everything and ends. */
static void give_up(struct mcpx_child *child)
{
    unsigned opened = child->handles;

    for (enum mx_child_end end = 0; end < MX_END_COUNT; end++) {
        struct mx_child_port *port = &child->ports[end];

        if (port->fd < 0)
            continue;
        if (opened) {
            opened--;
            mx_child_port_close(child, end);
            continue;
        }
        close(port->fd);
        port->fd = -1;
    }
    wait_for_supervisor(child);
}

enum mcpx_err mx_child_run_start(struct mcpx_child *child)
{
    enum mcpx_err err;

    child->run = (struct mx_child_run){0};
    err = child_spawn(child);
    if (err) {
        child->run.fault = err == MCPX_ENOMEM ? ENOMEM : errno;
        return err;
    }
    mx_child_output_init(child);
    if (open_ports(child))
        return MCPX_OK;
    give_up(child);
    child->run.fault = errno = ENOMEM;
    return MCPX_ESYSTEM;
}
