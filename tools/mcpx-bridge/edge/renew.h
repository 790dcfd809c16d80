/*
 * renew.h - another token when ours has expired or is refused. With --as from the router: in
 * development mode it does not know, after a restart, the tokens it gave before. With a token file
 * from there: who issues tokens replaces it in time.
 */
#ifndef MCPX_BRIDGE_EDGE_RENEW_H
#define MCPX_BRIDGE_EDGE_RENEW_H

#include "tools/common/connect.h"

#include <uv.h>

/**
 * One question at a time, asked off the loop. Zero-initialised but for these it is ready:
 *
 * verb     for complaints
 * where    where a token comes from; gets it, too
 * client   gets the token; NULL once it is freed
 */
struct renewal {
    const char *verb;
    struct connection *where;
    struct mcpx_client *client;

    /* private */
    uv_work_t work;
    bool busy;
    int status;
    char *token;
};

/**
 * Looks at an event of the client: one that ends a connection for its token's sake asks for another
 * (connection_may_ask). The loop must run until nothing is left of that.
 */
void renewal_look(struct renewal *renewal, uv_loop_t *loop, const struct mcpx_event *event);

#endif
