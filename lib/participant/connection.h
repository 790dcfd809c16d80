/*
 * connection.h - the state of a session's connection, and the table of moves between the
 * states.
 */
#ifndef MX_CONNECTION_H
#define MX_CONNECTION_H

#include <mcpx/base.h>

/**
 * The states. 0 is none of them.
 *
 * OFFLINE             there is no connection, and another attempt will be made
 * CONNECTED           there is one; its welcome has not come yet
 * JOINED              its welcome has come
 * CONNECTED_STARVED, JOINED_STARVED
 *                     the same, and memory ran out while a message came in. Nothing more is
 *                     read from this connection, so that resuming begins with that message
 * ENDED               there will be no other connection; nothing is sent any more
 */
enum mx_connection {
    MX_OFFLINE = 1,
    MX_CONNECTED,
    MX_JOINED,
    MX_CONNECTED_NO_MEMORY,
    MX_JOINED_NO_MEMORY,
    MX_ENDED,
    MX_CONNECTION_COUNT
};

/**
 * The moves: a connection is made, a welcome comes, memory runs out, the connection ends or
 * cannot be made, no other attempt will be made.
 */
enum mx_move { MX_CONNECT, MX_WELCOME, MX_NO_MEMORY, MX_DISCONNECT, MX_END, MX_MOVE_COUNT };

/** Makes a move. Returns false, and changes nothing, when there is no such move from this state. */
bool mx_connection_move(enum mx_connection *state, enum mx_move move);

/** True while there is a connection. */
bool mx_connection_is_made(enum mx_connection state);

/** True from the welcome on, until the connection ends. */
bool mx_connection_is_joined(enum mx_connection state);

/** True when memory ran out on this connection. */
bool mx_connection_has_no_memory(enum mx_connection state);

#endif
