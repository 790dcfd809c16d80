/*
 * hello.h - how the bridge introduces itself: to the client, and to the servers of the topic.
 */
#ifndef MCPX_BRIDGE_EXPOSE_HELLO_H
#define MCPX_BRIDGE_EXPOSE_HELLO_H

#include <mcpx/rpc.h>

struct expose;
struct expose_request;

/**
 * Whether the topic was ever reached. If not, the request is answered with an error that says
 * why: an empty list would look like a topic without servers.
 */
bool expose_has_topic(struct expose *x, const struct expose_request *request);

/** Handles "initialize" and "server/discover". Returns false when it should wait. */
bool expose_hello(struct expose *x, const struct expose_request *request);
bool expose_discover(struct expose *x, const struct expose_request *request);

/** Remembers the data about the client that every 2026-07-28 request has. */
void expose_hello_modern(struct expose *x, const struct mcpx_rpc *rpc);

#endif
