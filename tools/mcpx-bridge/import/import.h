/*
 * import.h - one MCP server at its topics, without their sockets and without its process: events
 * of the sessions, lines and states of the child and the time go in; what it wants done is added to
 * a list that its pool hands out (pool.h).
 */
#ifndef MCPX_BRIDGE_IMPORT_IMPORT_H
#define MCPX_BRIDGE_IMPORT_IMPORT_H

#include "tools/mcpx-bridge/import/config.h"

#include <mcpx/child.h>

struct import;

/** Makes an import. */
struct import *import_new(const struct import_config *config,
                          const struct import_setup *setup);

/**
 * Frees it, once none of its actions waits; whoever waits is answered by nobody. NULL is allowed.
 */
void import_free(struct import *import);

/**
 * Something happened in a topic. A LEFT without another attempt is the end of that topic: what came
 * from there is forgotten.
 */
void import_event(struct import *import, size_t topic, const struct mcpx_event *event,
                  struct mcpx_now now);

/** What came of an action of this server. */
void import_done(struct import *import, const struct bridge_row *row,
                 const struct bridge_outcome *outcome);

/** True when a notification is about a call of its sender that this server has. */
bool import_is_waiting(const struct import *import, size_t topic,
                       const struct mcpx_event *event);

/**
 * How many requests that participant has under way, all its instances together; `longest` is the
 * longest answer since it last had none.
 */
size_t import_under_way(const struct import *import, struct import_who who, size_t *longest);

/** True while participants wait for something, or have subscribed to something. */
bool import_is_in_use(const struct import *import);

/** The server wrote a line. */
void import_line(struct import *import, struct mcpx_slice line, struct mcpx_now now);

/**
 * The server wrote a line that is too long; `beginning` are its first bytes. The requester gets
 * an error when these bytes hold the id, or when its request is the only one that the server
 * has.
 */
void import_overlong(struct import *import, struct mcpx_slice beginning);

/** The child's state changed. */
void import_state(struct import *import, const struct mcpx_child_report *report,
                  struct mcpx_now now);

/** Does what is due at this time. */
void import_tick(struct import *import, struct mcpx_now now);

/** mono_ms at which import_tick is due; INT64_MAX when nothing waits. */
int64_t import_deadline(const struct import *import);

#endif
