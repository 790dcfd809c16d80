/*
 * input.h - what the server is given to read.
 */
#ifndef MCPX_BRIDGE_IMPORT_INPUT_H
#define MCPX_BRIDGE_IMPORT_INPUT_H

#include "tools/mcpx-bridge/import/calls.h"
#include "tools/mcpx-bridge/import/port.h"

/** Gives import->line to the child. Returns as import_port.write, and MCPX_ENOMEM. */
enum mcpx_err import_write(struct import *import);

/** Writes a request of a participant to the server, or answers it; it may be gone afterwards. */
void import_forward(struct import *import, struct import_call *call, struct mcpx_now now);

/**
 * Writes a request of our own.
 *
 * params   members without braces, may be empty
 */
struct import_call *import_request(struct import *import, enum import_purpose purpose,
                                   const char *method, struct mcpx_slice params);

/** Tells the server that nobody waits for a call any more. */
void import_cancel(struct import *import, const struct import_call *call, const char *reason);

#endif
