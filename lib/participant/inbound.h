/*
 * inbound.h - what others asked or proposed, by id, up to a bound: the oldest is forgotten.
 * Includes map.h and asked.h.
 */
#ifndef MX_INBOUND_H
#define MX_INBOUND_H

#include "lib/core/map.h"
#include "lib/participant/asked.h"

/** One of others'. */
struct mx_heard {
    struct mx_asked *asked;
    struct mx_heard *older, *newer;
};

/** A bounded memory. `key` and `max` are to be set; the rest is zero. */
struct mx_inbound {
    struct mx_map_key key;
    size_t max;
    struct mx_map ids;
    struct mx_heard *oldest, *newest;
};

/** Forgets everything. */
void mx_inbound_fini(struct mx_inbound *inbound);

/** What has that id, or NULL; also for an absent id. Lent until it is forgotten. */
const struct mx_asked *mx_inbound_find(const struct mx_inbound *inbound, struct mcpx_slice id);

/** Remembers a copy, in place of what had that id before. Returns false when memory runs out. */
bool mx_inbound_add(struct mx_inbound *inbound, const struct mx_asked *asked);

/** Forgets what has that id. Harmless when nothing has. */
void mx_inbound_remove(struct mx_inbound *inbound, struct mcpx_slice id);

#endif
