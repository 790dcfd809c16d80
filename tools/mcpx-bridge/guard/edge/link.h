/*
 * link.h - the sockets of a passage: the agent's connection and the connection to the router
 * that belongs to it. It writes what a guard_passage has to write, and reads no side faster
 * than the other side reads.
 */
#ifndef MCPX_BRIDGE_GUARD_EDGE_LINK_H
#define MCPX_BRIDGE_GUARD_EDGE_LINK_H

#include <mcpx/error.h>

struct guard_link;
struct guard_server;

/**
 * Accepts the connection that waits at the listener and starts to connect to the router. The link
 * enters server->links, and leaves it and frees itself when its sockets are closed.
 *
 * Returns MCPX_OK; MCPX_ENOMEM or MCPX_ESYSTEM when the connection could not be accepted.
 */
enum mcpx_err guard_link_accept(struct guard_server *server);

/** Breaks the connection off. Not to be called twice for the same link. */
void guard_link_break(struct guard_link *link);

#endif
