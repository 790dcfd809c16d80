/*
 * receive.h - from pieces of frames to whole messages for the hub. Each function is one callback
 * of libwebsockets and returns what the callback returns.
 * Includes connection.h.
 */
#ifndef EDGE_RECEIVE_H
#define EDGE_RECEIVE_H

#include "router/edge/connection.h"

/** A piece of a message, of any size. Borrows `bytes`. */
int receive_piece(struct connection *connection, const char *bytes, size_t len);

/** A pong. */
int receive_pong(struct connection *connection);

/** The other side sent a close frame: an answer to ours, or its own wish. */
int receive_close(struct connection *connection);

#endif
