/*
 * wire.h - what leaves a connection: straight to the kernel, and what it does not take is kept,
 * counted, and sent first of all later.
 */
#ifndef EDGE_WIRE_H
#define EDGE_WIRE_H

#include "router/connection/connection.h"

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

/*
 * Messages that have begun to arrive: what memory and time they may take. Protocol: section 7.
 */

/**
 * More of a member's message has arrived: counts its memory, and from the first piece on its time.
 * When all of them together take more than bounds_buffers, the participant that holds most loses
 * its largest, and with it that connection (1008).
 */
void unfinished_count(struct connection *connection);

/**
 * No message of this connection is unfinished any more; the memory of one that was is freed,
 * counted or not, and what is left of it is thrown away as it comes.
 */
void unfinished_end(struct connection *connection);

/** Condemns the connection when its message takes too long. */
void unfinished_watch(struct connection *connection, struct mcpx_now now);

#endif
