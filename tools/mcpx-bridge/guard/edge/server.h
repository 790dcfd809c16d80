/*
 * server.h - a running guard: the state that the parts of its loop share.
 */
#ifndef MCPX_BRIDGE_GUARD_EDGE_SERVER_H
#define MCPX_BRIDGE_GUARD_EDGE_SERVER_H

#include "tools/mcpx-bridge/guard/edge/run.h"
#include "tools/mcpx-bridge/guard/log.h"

#include <uv.h>

enum { GUARD_SIGNALS = 4, GUARD_BUFFER = 65536 };

struct guard_link;

/**
 * A running guard.
 *
 * links    its connections, a list
 * asked    the agent's open requests, of all of them
 * counts   verdicts so far
 * status   exit code to be
 * buffer   the buffer that sockets are read into, one at a time
 */
struct guard_server {
    const struct guard_options *options;
    uv_loop_t loop;
    uv_tcp_t listener;
    uv_signal_t signals[GUARD_SIGNALS];
    uv_prepare_t round;
    uv_process_t command;
    bool has_command;
    bool stopping;
    char url[600];
    char gateway[300];
    struct guard_link *links;
    struct guard_asked *asked;
    struct guard_counts counts;
    int status;
    char buffer[GUARD_BUFFER];
};

#endif
