/*
 * forward.h - requests of participants on their way to the server.
 */
#ifndef MCPX_BRIDGE_IMPORT_FORWARD_H
#define MCPX_BRIDGE_IMPORT_FORWARD_H

#include "tools/mcpx-bridge/import/calls.h"

#include <mcpx/error.h>

struct import;

/** What is the same for everybody: the greeting, and lists. */
bool import_is_shared(struct mcpx_slice method);

/** Whether the server takes requests of that method now. Those of others wait. */
bool import_takes(const struct import *import, struct mcpx_slice method);

/** Writes a request of a participant to the server, or answers it; it may be gone afterwards. */
void import_forward(struct import *import, struct import_call *call, struct mcpx_now now);

/** Does that with all that wait and need not, in their order. */
void import_forward_waiting(struct import *import, struct mcpx_now now);

/** The child did not take the line with that request. Does nothing when there is no such call. */
void import_write_failed(struct import *import, int64_t id, enum mcpx_err err);

#endif
