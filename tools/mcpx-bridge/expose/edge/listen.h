/*
 * listen.h - a socket that this machine alone can reach.
 */
#ifndef MCPX_BRIDGE_EXPOSE_EDGE_LISTEN_H
#define MCPX_BRIDGE_EXPOSE_EDGE_LISTEN_H

#include <mcpx/text.h>

#include <sys/socket.h>

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
