/*
 * run.h - runs a server on standard input and output, or by HTTP, and its participant in the topic.
 */
#ifndef MCPX_BRIDGE_EXPOSE_EDGE_RUN_H
#define MCPX_BRIDGE_EXPOSE_EDGE_RUN_H

#include "tools/common/connect.h"
#include "tools/mcpx-bridge/expose/expose.h"

#include <mcpx/text.h>

#include <sys/socket.h>

struct sockaddr_storage;

/**
 * What to run. `client` lacks loop and callbacks, `expose` lacks nonce; both are filled here.
 * `where` gives another token. `http` is where to serve by HTTP; NULL = standard streams.
 */
struct expose_job {
    struct mcpx_client_config client;
    struct connection *where;
    struct expose_config expose;
    const struct sockaddr_storage *http;
};

/**
 * Runs until standard input ends (not with HTTP), a signal comes, or the router refuses for good.
 * Returns an exit code, having complained.
 */
int expose_run(const struct expose_job *job);

/**
 * Reads HOST:PORT, where HOST is localhost, 127.x.y.z or [::1]. Returns false when it is something
 * else: nothing is looked up.
 */
bool expose_listen_read(const char *text, struct sockaddr_storage *out);

/** Listens there. Returns the socket, or a negative errno. */
int expose_listen_open(const struct sockaddr_storage *address);

/** Appends http://HOST:PORT/mcp, with the port that the system gave. */
void expose_listen_add_url(int listener, struct mcpx_text *out);

#endif
