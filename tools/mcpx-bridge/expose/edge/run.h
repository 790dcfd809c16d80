/*
 * run.h - runs a server on standard input and output, or by HTTP, and its participant in the topic.
 */
#ifndef MCPX_BRIDGE_EXPOSE_EDGE_RUN_H
#define MCPX_BRIDGE_EXPOSE_EDGE_RUN_H

#include "tools/common/connect.h"
#include "tools/mcpx-bridge/expose/expose.h"

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

#endif
