/*
 * only.h - what --only lets through.
 */
#ifndef MCPX_BRIDGE_EXPOSE_ONLY_H
#define MCPX_BRIDGE_EXPOSE_ONLY_H

#include <mcpx/base.h>

struct expose;

/** Is this shown: the participant with all it has, or the name the client sees (or would, absent)? */
bool expose_only_covers(const struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice shown);

/** Could it have anything that is shown? Who surely has not is not asked. */
bool expose_only_wants(const struct expose *x, struct mcpx_slice participant);

/** Says which patterns fitted nothing so far. */
void expose_only_note(struct expose *x);

#endif
