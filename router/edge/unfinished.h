/*
 * unfinished.h - messages that have begun to arrive: what memory and time they may take.
 * Protocol: section 7.
 */
#ifndef EDGE_UNFINISHED_H
#define EDGE_UNFINISHED_H

#include "router/edge/connection.h"

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
