/*
 * connection.c - the table. A boolean for each question was refused: most of their combinations
 * would have no meaning, and nothing would say which.
 */
#include "lib/participant/connection.h"

/* The state after each move; 0 = there is no such move. */
/* clang-format off */
static const enum mx_connection after[MX_CONNECTION_COUNT][MX_MOVE_COUNT] = {
    /*                          CONNECT       WELCOME    NO_MEMORY                DISCONNECT  END */
    [MX_OFFLINE]             = {MX_CONNECTED, 0,         0,                       MX_OFFLINE, MX_ENDED},
    [MX_CONNECTED]           = {MX_CONNECTED, MX_JOINED, MX_CONNECTED_NO_MEMORY,  MX_OFFLINE, MX_ENDED},
    [MX_JOINED]              = {MX_CONNECTED, 0,         MX_JOINED_NO_MEMORY,     MX_OFFLINE, MX_ENDED},
    [MX_CONNECTED_NO_MEMORY] = {MX_CONNECTED, 0,         0,                       MX_OFFLINE, MX_ENDED},
    [MX_JOINED_NO_MEMORY]    = {MX_CONNECTED, 0,         0,                       MX_OFFLINE, MX_ENDED},
    [MX_ENDED]               = {0,            0,         0,                       0,          0       },
};
/* clang-format on */

bool mx_connection_move(enum mx_connection *state, enum mx_move move)
{
    enum mx_connection next = after[*state][move];

    if (!next)
        return false;
    *state = next;
    return true;
}

bool mx_connection_is_made(enum mx_connection state)
{
    return state != MX_OFFLINE && state != MX_ENDED;
}

bool mx_connection_is_joined(enum mx_connection state)
{
    return state == MX_JOINED || state == MX_JOINED_NO_MEMORY;
}

bool mx_connection_has_no_memory(enum mx_connection state)
{
    return state == MX_CONNECTED_NO_MEMORY || state == MX_JOINED_NO_MEMORY;
}
