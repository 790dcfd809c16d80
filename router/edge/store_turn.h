/*
 * store_turn.h - what keeps messages and decisions, in the router's loop: opened, given its turn,
 * watched, closed. Without store and audit nothing of it runs.
 */
#ifndef EDGE_STORE_TURN_H
#define EDGE_STORE_TURN_H

#include "router/connection/edge.h"

/**
 * Opens what the configuration asks for. Before listeners are opened.
 *
 * errors   one line for each reason it cannot
 *
 * Returns MCPX_OK, also when there is nothing to open; or as store_new.
 */
enum mcpx_err store_turn_open(struct edge *edge, struct mcpx_text *errors);

/** Takes what was answered, lets those go on who have waited for it, hands over what is new. */
void store_turn_run(struct edge *edge);

/** The hub was changed behind store_turn_run: there will be another turn at once. */
void store_turn_again(struct edge *edge);

/**
 * Nothing can be taken and nobody is told so: nobody is read, and nobody's time runs out.
 */
bool store_turn_is_blocked(const struct edge *edge);

/** Hands over what is left, waits until it is kept, closes. The loop still runs once after that. */
void store_turn_close(struct edge *edge);

#endif
