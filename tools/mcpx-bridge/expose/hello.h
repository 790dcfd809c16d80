/*
 * hello.h - how the bridge introduces itself: to the client, and to the servers of the topic.
 */
#ifndef MCPX_BRIDGE_EXPOSE_HELLO_H
#define MCPX_BRIDGE_EXPOSE_HELLO_H

#include <mcpx/rpc.h>

struct expose;
struct expose_request;

/**
 * The client has sent a request: remembers what "initialize", or the first of the requests that
 * name the client each time, says of it. With the first of all the servers are asked.
 */
void expose_greet(struct expose *x, const struct mcpx_rpc *rpc);

/**
 * Whether the topic was ever reached. If not, the request is answered with an error that says
 * why: an empty list would look like a topic without servers.
 */
bool expose_has_topic(struct expose *x, const struct expose_request *request);

/** Handles "initialize". */
bool expose_hello(struct expose *x, const struct expose_request *request);

/** Handles "server/discover". */
bool expose_discover(struct expose *x, const struct expose_request *request);

#endif
