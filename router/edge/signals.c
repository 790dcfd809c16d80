/*
 * signals.c - signals as ordinary events of the loop. A handler proper could call next to
 * nothing, and libwebsockets would install its own where it is let.
 * Includes signals.h, loop.h.
 */
#include "router/edge/signals.h"
#include "router/edge/loop.h"

#include <signal.h>

static void on_signal(uv_signal_t *handle, int number)
{
    struct edge *edge = handle->data;

    if (number == SIGHUP)
        LOG(LOG_WARN, "reload_not_supported",
            log_string("hint", "this version reads its settings at start only: restart it"));
    else
        edge_stop(edge);
}

enum mcpx_err signals_open(struct edge *edge)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    size_t i;

    signal(SIGPIPE, SIG_IGN);
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uv_signal_init(&edge->loop, &edge->signals[i]);
        edge->signals[i].data = edge;
        if (uv_signal_start(&edge->signals[i], on_signal, numbers[i]))
            return MCPX_ESYSTEM;
    }
    return MCPX_OK;
}
