/*
 * child_input.c - lines on their way to a child. What its pipe does not take now waits in one
 * contiguous text with a bound; nothing is allocated per line.
 */
#include "lib/edge/child_state.h"

#include <errno.h>

enum { QUEUE_DEFAULT = 64 << 20, QUEUE_KEPT = 65536 };

void mx_child_input_fini(struct mcpx_child *child)
{
    mcpx_text_fini(&child->queue);
    child->written = 0;
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
    struct mcpx_child *child = poll->data;

    (void)events;
    if (status < 0) { /* it has closed its input */
        mx_child_input_fini(child);
        mx_child_port_close(child, MX_END_INPUT);
        return;
    }
    mx_child_input_flush(child);
}

/* What is written goes; memory beyond the usual goes, too. */
static void forget_written(struct mcpx_child *child)
{
    struct mcpx_text *queue = &child->queue;
    size_t left = queue->len - child->written;

    if (left && child->written < queue->len / 2)
        return;
    if (left)
        memmove(queue->text, queue->text + child->written, left);
    child->written = 0;
    queue->len = left;
    if (!left && queue->size > QUEUE_KEPT)
        mcpx_text_fini(queue);
}

void mx_child_input_flush(struct mcpx_child *child)
{
    struct mx_child_port *port = &child->ports[MX_END_INPUT];
    size_t left = child->queue.len - child->written;

    if (port->fd < 0)
        return;
    while (left) {
        ssize_t done = mx_child_port_write(port->fd, child->queue.text + child->written, left);

        if (done < 0)
            break;
        child->written += (size_t)done;
        left -= (size_t)done;
    }
    if (left && errno != EAGAIN) {
        mx_child_input_fini(child);
        mx_child_port_close(child, MX_END_INPUT);
        return;
    }
    forget_written(child);
    if (left)
        uv_poll_start(&port->poll, UV_WRITABLE, on_writable);
    else if (child->stopping)
        mx_child_port_close(child, MX_END_INPUT);
    else if (uv_is_active((uv_handle_t *)&port->poll)) /* else it would ask the system */
        uv_poll_stop(&port->poll);
}

enum mcpx_err mcpx_child_write(struct mcpx_child *child, struct mcpx_slice line)
{
    struct mcpx_text *queue = &child->queue;
    size_t waiting = queue->len - child->written;
    size_t max = child->config.queue_max ? child->config.queue_max : QUEUE_DEFAULT;

    if (child->stopping || child->ports[MX_END_INPUT].fd < 0 ||
        (child->state != MCPX_CHILD_STARTING && child->state != MCPX_CHILD_RUNNING))
        return MCPX_ECLOSED;
    if (line.len && memchr(line.text, '\n', line.len))
        return MCPX_EINVALID;
    if (line.len >= max || waiting > max - line.len - 1)
        return MCPX_ELIMIT;
    if (!mcpx_text_reserve(queue, line.len + 1)) {
        queue->failed = false; /* what waits is whole */
        return MCPX_ENOMEM;
    }
    mcpx_text_slice(queue, line);
    mcpx_text_add(queue, "\n", 1);
    mx_child_input_flush(child);
    return child->ports[MX_END_INPUT].fd < 0 ? MCPX_ECLOSED : MCPX_OK;
}
