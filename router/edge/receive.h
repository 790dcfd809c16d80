/*
 * receive.h - what the hub wants written goes to the sockets, once per loop turn.
 */
#ifndef EDGE_FLUSH_H
#define EDGE_FLUSH_H

#include "router/edge/connection.h"

/**
 * Writes for every peer that is ready, until none is or the round has done its share of writes or
 * bytes. Returns true when there may be more to write.
 */
bool flush_round(struct edge *edge);

/** Writes what one member has waiting. */
void flush_connection(struct connection *connection);

#endif
