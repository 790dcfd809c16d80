/*
 * import.h - one MCP server at its topics, without their sockets and without its process: events
 * of the sessions, lines and states of the child and the time go in; lines for the child, envelopes
 * for the topics and sentences for the log come out through a port. Topics and servers have numbers
 * from 0; pool.h has several servers.
 */
#ifndef MCPX_BRIDGE_IMPORT_IMPORT_H
#define MCPX_BRIDGE_IMPORT_IMPORT_H

#include "tools/mcpx-bridge/import/port.h"

/** Makes an import; `port` is copied. Returns MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err import_new(const struct import_config *config, const struct import_port *port,
                         const struct import_setup *setup, struct import **out);

/** Frees it; whoever waits is answered by nobody. NULL is allowed. */
void import_free(struct import *import);

/**
 * Something happened in a topic. `event` is not used after the first call of the port. A LEFT
 * without another attempt is the end of that topic: what came from there is forgotten.
 */
void import_event(struct import *import, size_t topic, const struct mcpx_event *event,
                  struct mcpx_now now);

/** True when a notification is about a call of its sender that this server has. */
bool import_is_waiting(const struct import *import, size_t topic,
                       const struct mcpx_event *event);

/** True while participants wait for something, or have subscribed to something. */
bool import_is_in_use(const struct import *import);

#endif
