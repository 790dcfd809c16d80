/*
 * era.h - first contact with a server.
 */
#ifndef MCPX_BRIDGE_IMPORT_ERA_H
#define MCPX_BRIDGE_IMPORT_ERA_H

#include "tools/mcpx-bridge/import/calls.h"

#include <mcpx/rpc.h>

struct import;

/** The process runs: first contact. */
void import_era_start(struct import *import, struct mcpx_now now);

/** The server answered DISCOVER or INITIALIZE; the call is dropped. */
void import_era_answered(struct import *import, struct import_call *call,
                         const struct mcpx_rpc *rpc, struct mcpx_now now);

/** Deadlines of first contact. */
void import_era_tick(struct import *import, struct mcpx_now now);

/** The process is gone. */
void import_era_down(struct import *import);

#endif
