/*
 * guard_link.h - a connection of the agent and the one to the router that belongs to it, as
 * sockets: what a guard_passage wants written is written, and no side is read faster than the
 * other takes it.
 * Includes guard_edge.h only.
 */
#ifndef BRIDGE_GUARD_LINK_H
#define BRIDGE_GUARD_LINK_H

#include "tools/mcpx-bridge/guard_edge.h"

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
