/*
 * only.h - the filter --only.
 */
#ifndef MCPX_BRIDGE_EXPOSE_ONLY_H
#define MCPX_BRIDGE_EXPOSE_ONLY_H

#include <mcpx/base.h>

struct expose;

/**
 * Whether this is shown: the participant with everything it has, or the name that the client
 * sees (or would see, absent).
 */
bool expose_only_covers(const struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice shown);

/** Whether the participant could have anything that is shown. Otherwise it is not asked. */
bool expose_only_wants(const struct expose *x, struct mcpx_slice participant);

/** Logs which patterns have fitted nothing so far. */
void expose_only_note(struct expose *x);

#endif
