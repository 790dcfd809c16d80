/*
 * server.h - a running guard: the state that the parts of its loop share, its connections and its
 * output. A link is the sockets of a connection: the agent's connection and the connection to the
 * router that belongs to it. It writes the output of a guard_connection, and reads no side faster
 * than the other side reads.
 */
#ifndef MCPX_BRIDGE_GUARD_EDGE_SERVER_H
#define MCPX_BRIDGE_GUARD_EDGE_SERVER_H

#include "lib/json/json_write.h"
#include "tools/mcpx-bridge/edge/loop.h"
#include "tools/mcpx-bridge/guard/guard.h"

struct guard_link;

/** A running guard. */
struct guard_server {
    /* from its command line */
    struct guard_address router; /* where the router is */
    struct guard_address listen; /* where to listen; port 0 = any free one */
    bool json;                   /* log as JSON */
    bool verbose;                /* log routine cases, too */
    /* How long the router may take to welcome the agent, or to answer it; 0 = for ever. */
    int64_t timeout_ms;
    size_t message_max; /* longest message from the router, in bytes */
    char **command;     /* the agent's command line, ended by NULL; empty = only listen */

    uv_loop_t loop;
    uv_tcp_t listener;
    struct loop_handles handles;
    uv_process_t process; /* the command */
    bool has_command, is_stopping;
    char url[600];
    char gateway[300];
    struct guard_link *links;           /* its connections, a list */
    struct guard_asked asked;           /* the agent's open requests, of all of them */
    size_t counts[GUARD_VERDICT_COUNT]; /* how often each verdict was given */
    int status;                         /* exit code to be */
};

/**
 * Accepts the connection that waits at the listener and starts to connect to the router. The link
 * enters server->links, and leaves it and frees itself when its sockets are closed.
 *
 * False when the connection could not be accepted.
 */
bool guard_link_accept(struct guard_server *server);

/** Breaks the connection off. Not to be called twice for the same link. */
void guard_link_break(struct guard_link *link);

/** Writes a line about an event to standard error, by a pattern of mx_format. */
#define guard_note(server, event, ...)                                                        \
    guard_log_print(guard_log_note((server)->json, (event), mx_formatted(__VA_ARGS__)))

#endif
