/*
 * dispatch.h - bytes that were read go to the part that the connection's state names, each in its
 * turn.
 */
#ifndef EDGE_DISPATCH_H
#define EDGE_DISPATCH_H

#include "router/connection/connection.h"

/** Bytes were read: they go where they belong, or wait for their turn. May change them. */
void dispatch_bytes(struct connection *connection, char *bytes, size_t len);

/**
 * A turn begins: everybody has a whole share, and what was deferred goes where it belongs, who
 * waits longest first. Returns true when something still waits.
 */
bool dispatch_turn(struct edge *edge);

#endif
