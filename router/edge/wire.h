/*
 * wire.h - what leaves a connection: straight to the kernel, and what it does not take is kept,
 * counted, and sent first of all later.
 */
#ifndef EDGE_WIRE_H
#define EDGE_WIRE_H

#include "router/edge/connection.h"

/**
 * Writes bytes, behind what is kept already. While anything is kept nothing is read either: who
 * does not listen need not talk.
 *
 * Returns false when the socket is broken or memory has run out; the caller cuts the connection.
 */
bool wire_write(struct connection *connection, const char *bytes, size_t len);

/** The same for bytes that are to leave as they are, also under TLS. */
bool wire_pass(struct connection *connection, struct mcpx_slice bytes);

/** The socket takes bytes again: a callback of libwebsockets; returns what that returns. */
int wire_writable(struct connection *connection);

/**
 * Nothing more will be written: once all is sent, our side is shut. What the other side still
 * sends is thrown away until it shuts its own, or LINGER_MS have passed: to close at once could
 * make the kernel throw away what was not read yet over there.
 */
void wire_finish(struct connection *connection);

/** Throws away what is kept. */
void wire_drop(struct connection *connection);

#endif
