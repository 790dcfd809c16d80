/*
 * receive.h - frames from a participant.
 */
#ifndef EDGE_RECEIVE_H
#define EDGE_RECEIVE_H

#include "router/edge/connection.h"

/**
 * Bytes came that are frames: whole messages go to the hub, pings are answered, a close is
 * answered and ends the connection. Unmasks where the bytes lie.
 */
void receive_bytes(struct connection *connection, char *bytes, size_t len);

#endif
