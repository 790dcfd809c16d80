/*
 * turn.h - nobody takes up a loop turn: what a read holds beyond its owner's share waits for the
 * next one. Includes connection.h.
 */
#ifndef EDGE_TURN_H
#define EDGE_TURN_H

#include "router/edge/connection.h"

/**
 * Shares of one turn. The unit is what a short message costs, some microseconds.
 *
 * TURN_SHARE     of a participant, for all its connections together
 * TURN_OTHERS    of all connections together that nobody in the hub stands behind: HTTP requests,
 *                handshakes, those that are leaving
 * TURN_REQUEST   what anything read from a stranger costs: it may have a signature to be checked
 * TURN_BYTES     so many bytes of a message or of an answer cost as much as a short message
 * TURN_REST_MAX  memory of all that waits. Beyond it what is read is used up at once
 */
enum {
    TURN_SHARE = 256,
    TURN_OTHERS = 4096,
    TURN_REQUEST = 128,
    TURN_BYTES = 4096,
    TURN_REST_MAX = 64 << 20
};

/** True while the share of who is behind the connection is not used up. */
bool turn_permits(struct connection *connection);

/** Takes `cost` from that share, which may end below nothing. */
void turn_spend(struct connection *connection, uint64_t cost);

/**
 * Keeps a copy of bytes that were read and not used. Until turn_begin has handed all of them on,
 * nothing more is read from the connection. When there is no memory the connection is cut.
 */
void turn_keep(struct connection *connection, const char *bytes, size_t len);

/** Throws away what is kept. */
void turn_drop(struct connection *connection);

/** Bytes that were read go to where the connection's state says, or wait. */
void turn_take(struct connection *connection, char *bytes, size_t len);

/** The connection's socket takes bytes again: what was kept waits for its turn again. */
void turn_resume(struct connection *connection);

/**
 * A turn begins: everybody has a whole share, and what was kept is handed on, who waits longest
 * first. Returns true when something still waits.
 */
bool turn_begin(struct edge *edge);

#endif
