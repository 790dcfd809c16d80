/*
 * hello.h - who we are: to the client, and to the servers of the topic.
 */
#ifndef MCPX_BRIDGE_EXPOSE_HELLO_H
#define MCPX_BRIDGE_EXPOSE_HELLO_H

#include <mcpx/rpc.h>

struct expose;
struct expose_request;

/** The revisions of MCP that the client is served in: today's, and the newest with "initialize". */
#define EXPOSE_MODERN "2026-07-28"
#define EXPOSE_LEGACY "2025-11-25"

/**
 * Was the topic ever reached? If not, the request is answered with an error that says why not: an
 * empty list would look like a topic without servers.
 */
bool expose_has_topic(struct expose *x, const struct expose_request *request);

/** Handles "initialize" and "server/discover". Returns false when it should wait. */
bool expose_hello(struct expose *x, const struct expose_request *request);
bool expose_discover(struct expose *x, const struct expose_request *request);

/** Remembers what every 2026-07-28 request says about the client. */
void expose_hello_modern(struct expose *x, const struct mcpx_rpc *rpc);

/** Appends the params of "initialize" that a server of the topic is asked with. */
void expose_hello_write(const struct expose *x, struct mcpx_text *out);

#endif
