/*
 * child_run.c - one process on the loop: four of our ends, and what its warden says. The socket
 * to the warden closes last of all; then the pipes hold what the dead have written and nobody can
 * add to it, so "no line after DOWN" needs no flag.
 */
#include "lib/edge/child_state.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often what is left without a warden is looked for, and how long when the end is wanted. */
enum { SWEEP_MS = 10, SWEEPS_MAX = 100 };

void mx_child_run_order(struct mcpx_child *child, enum mx_warden_order order)
{
    char byte = (char)order;

    if (child->ports[MX_END_CONTROL].fd >= 0)
        (void)!send(child->ports[MX_END_CONTROL].fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* It is ending already. Somebody else may have waited for it. */
static void wait_for_warden(const struct mcpx_child *child)
{
    while (waitpid(child->run.warden, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void finish(struct mcpx_child *child)
{
    uv_timer_stop(&child->timer);
    mx_child_output_drain(child);
    mx_child_output_fini(child);
    mx_child_input_fini(child);
    for (enum mx_child_end end = 0; end < MX_END_COUNT; end++)
        mx_child_port_close(child, end);
}

/* Somebody has killed the warden, and with it the child. The rest is found by what is known of
 * it, until there is none. */
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

static void take_news(struct mcpx_child *child, const struct mx_warden_news *news)
{
    struct mx_child_run *run = &child->run;

    switch ((enum mx_warden_word)news->word) {
    case MX_WORD_FORKED:
        run->pid = news->value;
        child->on_fact(child, MX_FACT_FORKED);
        break;
    case MX_WORD_EXECUTED:
        child->on_fact(child, MX_FACT_EXECUTED);
        break;
    case MX_WORD_REFUSED:
        run->fault = news->value;
        run->step = news->detail;
        break;
    case MX_WORD_ENDED:
        run->status = news->value;
        run->ended = true;
        child->on_fact(child, MX_FACT_ENDED);
        break;
    case MX_WORD_CLEAR:
        run->clear = true;
        break;
    }
}

/* An order that the warden has not read any more shows as a reset before its last words do. */
bool mx_child_run_hear(struct mcpx_child *child)
{
    struct mx_warden_news news;

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
    wait_for_warden(child);
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

/* The loop refused a descriptor. Without its socket the warden kills everything and ends. */
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
    wait_for_warden(child);
}

enum mcpx_err mx_child_run_start(struct mcpx_child *child)
{
    const struct mcpx_child_config *config = &child->config;
    struct mx_spawned spawned;
    enum mcpx_err err;
    int end;

    child->run = (struct mx_child_run){0};
    err = mx_child_spawn(config->argv, config->cwd, !config->name, &spawned);
    if (err) {
        child->run.fault = err == MCPX_ENOMEM ? ENOMEM : errno;
        return err;
    }
    child->run.warden = spawned.warden;
    memcpy(child->run.mark, spawned.mark, sizeof child->run.mark);
    for (end = 0; end < MX_END_COUNT; end++)
        child->ports[end].fd = spawned.fds[end];
    mx_child_output_init(child);
    if (open_ports(child))
        return MCPX_OK;
    give_up(child);
    child->run.fault = errno = ENOMEM;
    return MCPX_ESYSTEM;
}
