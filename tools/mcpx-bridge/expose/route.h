/*
 * route.h - finds the participant that owns what the client asks for.
 */
#ifndef MCPX_BRIDGE_EXPOSE_ROUTE_H
#define MCPX_BRIDGE_EXPOSE_ROUTE_H

#include <mcpx/rpc.h>

struct expose;

/**
 * The destination of a request: the participant, its own name of the thing, and the params with
 * that name.
 */
struct expose_route {
    struct mcpx_slice participant;
    struct mcpx_slice rival;
    struct mcpx_text own;
    struct mcpx_text params;
};

enum expose_routing {
    EXPOSE_ROUTED,
    EXPOSE_UNKNOWN,
    EXPOSE_AMBIGUOUS, /* it could be for `participant` or for `rival` */
    EXPOSE_MALFORMED,
    EXPOSE_NO_MEMORY
};

/** Finds the participant a request is for. `out` is zero-initialised; for expose_route_fini. */
enum expose_routing expose_route_find(struct expose *x, const struct mcpx_rpc *rpc,
                                      struct expose_route *out);

/** Frees what a route holds. */
void expose_route_fini(struct expose_route *route);

#endif
