/*
 * input.h - what the server is given to read.
 */
#ifndef MCPX_BRIDGE_IMPORT_INPUT_H
#define MCPX_BRIDGE_IMPORT_INPUT_H

#include "tools/mcpx-bridge/import/calls.h"

#include <mcpx/error.h>

struct import;

/**
 * Gives import->line to the child.
 *
 * call   number of the request in it; 0 = none
 *
 * Returns false when memory ran out; the log is told.
 */
bool import_write(struct import *import, int64_t call);

/**
 * Writes a request of our own.
 *
 * params   members without braces, may be empty
 */
void import_request(struct import *import, enum import_purpose purpose, const char *method,
                    struct mcpx_slice params);

/** Writes a request of our own about a resource, whose result is of no interest. */
void import_request_about(struct import *import, const char *method, struct mcpx_slice uri);

/**
 * Tells the server to watch no longer what nobody is subscribed to any more: some resources at once,
 * the others in later ticks.
 */
void import_unsubscribe_some(struct import *import);

/** Tells the server that nobody waits for a call any more. */
void import_cancel(struct import *import, const struct import_call *call, const char *reason);

#endif
