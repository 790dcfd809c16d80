/*
 * server.h - the server's side: its lines, the states of its process, and time.
 */
#ifndef MCPX_BRIDGE_IMPORT_SERVER_H
#define MCPX_BRIDGE_IMPORT_SERVER_H

#include <mcpx/child.h>

struct import;

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
