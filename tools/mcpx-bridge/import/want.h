/*
 * want.h - how the files of an import say what they want done.
 */
#ifndef MCPX_BRIDGE_IMPORT_WANT_H
#define MCPX_BRIDGE_IMPORT_WANT_H

#include "tools/mcpx-bridge/output.h"

struct import;

/** Wants that action; as bridge_output_add. Its server is filled in. */
bool import_want(struct import *import, struct bridge_row row);

/** Wants a draft sent in a topic, whatever comes of it. Returns false when memory ran out. */
bool import_want_send(struct import *import, size_t topic, const struct mcpx_draft *draft);

/** Wants a request not to be answered. */
void import_want_drop(struct import *import, size_t topic, struct mcpx_slice request);

/** Wants our child killed; needs no memory. */
void import_want_kill(struct import *import);

#endif
