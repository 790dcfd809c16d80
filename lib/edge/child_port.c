/*
 * child_port.c - one of our ends of a child's pipes: closing it, and writing without a signal.
 *
 * Refused: uv_write. It writes when the loop likes, and a write to a pipe nobody reads raises
 * SIGPIPE, which ends a program that has not ignored it; a library does not decide that for its
 * program. Here the signal is blocked for the length of the call and taken back.
 */
#include "lib/edge/child_state.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static void on_port_closed(uv_handle_t *handle)
{
    struct mcpx_child *child = handle->data;

    if (--child->handles == 0)
        child->on_fact(child, MX_FACT_OVER);
}

void mx_child_port_close(struct mcpx_child *child, enum mx_child_end end)
{
    struct mx_child_port *port = &child->ports[end];

    if (port->fd < 0)
        return;
    uv_close((uv_handle_t *)&port->poll, on_port_closed);
    close(port->fd);
    port->fd = -1;
}

ssize_t mx_child_port_write(int fd, const char *bytes, size_t len)
{
    const struct timespec now = {0, 0};
    sigset_t broken, before, pending;
    bool was_pending;
    ssize_t done;
    int err;

    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    sigpending(&pending);
    was_pending = sigismember(&pending, SIGPIPE) == 1;
    do
        done = write(fd, bytes, len);
    while (done < 0 && errno == EINTR);
    err = errno;
    if (done < 0 && err == EPIPE && !was_pending)
        while (sigtimedwait(&broken, NULL, &now) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = err;
    return done;
}
