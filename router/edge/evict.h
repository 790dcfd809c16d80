/*
 * evict.h - who has to go: connections that are late, slow, or too many.
 */
#ifndef EDGE_EVICT_H
#define EDGE_EVICT_H

#include "router/connection/connection.h"

/**
 * What sockets have not taken is bounded for all connections together: beyond bounds_buffers,
 * those that have taken nothing for a second are cut, the slowest first.
 */
void evict_slow(struct edge *edge);

/**
 * Called when its socket has become full: cuts the connection when what sockets have not taken is
 * beyond the bound, and more than half of the bound is its participant's.
 */
void evict_greedy(struct connection *connection);

/**
 * evict_slow; then, twice a second at most unless the router stops, cuts every connection whose
 * deadline is past, condemns those whose message takes too long, and sets a deadline for condemned
 * ones whose socket is full.
 */
void evict_late(struct edge *edge);

/**
 * Cuts the oldest unauthenticated connection of the address that holds most of them, if there is
 * any.
 */
void evict_unauthenticated(struct edge *edge);

/**
 * Called before a connection is accepted: when there are as many as edge->room, cuts the one that
 * has been leaving for the longest time, if there is any.
 */
void evict_leaving(struct edge *edge);

/**
 * For a router that stops, again and again: cuts those who have taken their answer, and gives those
 * who have none yet LAST_REQUEST_MS. A client that was accepted just before may not have been read.
 */
void evict_requests(struct edge *edge);

#endif
