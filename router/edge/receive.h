/*
 * receive.h - frames from a participant; and what the hub wants written goes to the sockets, once
 * per loop turn.
 */
#ifndef EDGE_RECEIVE_H
#define EDGE_RECEIVE_H

#include "router/connection/connection.h"

/**
 * Bytes came that are frames: whole messages go to the hub, pings are answered, a close is
 * answered and ends the connection. Unmasks where the bytes lie.
 */
void receive_bytes(struct connection *connection, char *bytes, size_t len);

/**
 * Writes for every peer that is ready, until none is or the round has done its share of writes or
 * bytes. Returns true when there may be more to write.
 */
bool flush_round(struct edge *edge);

/** Writes what one member has waiting. */
void flush_connection(struct connection *connection);

#endif
