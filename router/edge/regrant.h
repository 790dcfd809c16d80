/*
 * regrant.h - what was changed at run time reaches those who are connected.
 */
#ifndef EDGE_REGRANT_H
#define EDGE_REGRANT_H

#include "router/edge/http_api.h"

/**
 * Lays the changes over what each connection of a participant to a topic came with. It is in force
 * for the very next message. Where memory is missing for that, the connection is closed: it comes
 * back with the right grants. Returns how many connections there are.
 */
size_t regrant_participant(const struct http_api *api, struct mcpx_slice identity,
                           struct mcpx_slice topic, struct mcpx_now now);

/**
 * Likewise where a denial has ended: for some, and for others in the next turn, while
 * changes_are_looked_at. Cheap when none has.
 */
void regrant_ended(const struct http_api *api, struct mcpx_now now);

/** Walks the peers of a participant, in one topic or, when it is absent, in all: NULL begins, and
 * ends. Those that are condemned are passed over. */
struct peer *regrant_next(const struct http_api *api, struct mcpx_slice identity,
                          struct mcpx_slice topic, const struct peer *peer);

#endif
