/*
 * upgrade.h - from an HTTP request to a member of a topic. Each function is one callback of
 * libwebsockets and returns what the callback returns.
 * Includes connection.h.
 */
#ifndef EDGE_UPGRADE_H
#define EDGE_UPGRADE_H

#include "router/edge/connection.h"

/** Somebody asks to switch protocols: 0 lets him, -1 when he has been refused over HTTP. */
int upgrade_confirm(struct connection *connection);

/** The handshake is over: the participant enters its topic, or is told why it cannot. */
int upgrade_established(struct connection *connection);

#endif
