/*
 * guard_edge.h - what the sockets of a guard share.
 * Includes guard.h, guard_log.h and libuv only.
 */
#ifndef BRIDGE_GUARD_EDGE_H
#define BRIDGE_GUARD_EDGE_H

#include "tools/mcpx-bridge/guard.h"
#include "tools/mcpx-bridge/guard_log.h"

#include <uv.h>

enum { GUARD_SIGNALS = 4, GUARD_BUFFER = 65536 };

struct guard_link;

/**
 * A running guard.
 *
 * links    its connections, a list
 * asked    what the agent has asked, over all of them
 * counts   verdicts so far
 * status   exit code to be
 * buffer   what a socket is read into, one at a time
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

/** Writes to standard error a line that something happened; printf's format. */
void guard_note(const struct guard_server *server, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Counts a message left out and tells of it, unless it is routine. `user` is the server. */
void guard_left_out(void *user, enum guard_verdict verdict, const struct guard_judge *judge);

/**
 * Runs the agent's command with standard input and output of its own; guard_command_ended follows
 * from the loop. Returns 0, or a negative error of libuv.
 */
int guard_command_start(struct guard_server *server);

/** Watches for the signals that end or are passed on. Returns 0 or an error of libuv. */
int guard_signals_start(struct guard_server *server);

/** Closes everything, so that the loop ends. May be called again. */
void guard_stop(struct guard_server *server);

#endif
