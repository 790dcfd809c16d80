/*
 * renew.h - another token for a participant that --as named: a router in development mode that
 * was restarted does not know the tokens it gave before.
 */
#ifndef MCPX_BRIDGE_EDGE_RENEW_H
#define MCPX_BRIDGE_EDGE_RENEW_H

#include "tools/common/connect.h"

#include <uv.h>

/**
 * One question to the router at a time, asked off the loop. Zero-initialised but for these it is ready:
 *
 * verb     for complaints
 * where    whom to ask for what
 * client   gets the token; NULL once it is freed
 */
struct renewal {
    const char *verb;
    const struct connection *where;
    struct mcpx_client *client;

    /* private */
    uv_work_t work;
    bool busy;
    int status;
    char *token;
};

/**
 * Looks at an event of the client: one that ends a connection for its token's sake asks for another.
 * The loop must run until nothing is left of that. Nothing is asked without --as.
 */
void renewal_look(struct renewal *renewal, uv_loop_t *loop, const struct mcpx_event *event);

#endif
