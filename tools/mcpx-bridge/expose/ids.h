/*
 * ids.h - ids that servers give out, and the ids that the client knows for them.
 */
#ifndef MCPX_BRIDGE_EXPOSE_IDS_H
#define MCPX_BRIDGE_EXPOSE_IDS_H

#include "tools/mcpx-bridge/expose/calls.h"

#include <mcpx/rpc.h>

struct expose;

/** The member in which an object may hold such an id, besides the related task in `_meta`. */
enum { EXPOSE_ID_OF_TASK = 1, EXPOSE_ID_IN_TASK = 2, EXPOSE_ID_OF_ELICITATION = 4 };

/**
 * Appends an object of this participant with the ids the client knows. Returns false and appends
 * nothing when it has none that are called otherwise there.
 */
bool expose_ids_show(struct expose *x, struct mcpx_slice participant, struct mcpx_slice object,
                     unsigned where, struct mcpx_text *out);

/** The way back: an object of the client for this participant, its related task only. */
bool expose_ids_restore(struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice object, struct mcpx_text *out);

/**
 * Remembers that this participant gave out an id. An id is a raw JSON string; other values are
 * ignored.
 */
void expose_ids_note(struct expose *x, struct mcpx_slice participant, enum expose_space space,
                     struct mcpx_slice raw);

/** Remembers the ids in an answer to a call of the client. */
void expose_ids_note_answer(struct expose *x, const struct expose_call *call,
                            const struct mcpx_rpc *rpc);

/** Whether this participant gave it out. */
bool expose_ids_owns(const struct expose *x, struct mcpx_slice participant,
                     enum expose_space space, struct mcpx_slice raw);

#endif
