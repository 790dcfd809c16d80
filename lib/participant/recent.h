/*
 * recent.h - what came lately, so that nothing is told twice. The router lets an id pass once as long
 * as it retains it; a sender that comes back to one that has forgotten or was started anew writes
 * again what may have been told before.
 */
#ifndef MX_RECENT_H
#define MX_RECENT_H

#include "lib/core/map.h"
#include <mcpx/envelope.h>

/**
 * Digests of the last `max` envelopes: sender, id and payload together, so that an id which is used
 * again for something else is no repetition. `key` and `max` are to be set; the rest is zero.
 */
struct mx_recent {
    struct mx_map_key key;
    size_t max;
    struct mx_map set;
    uint64_t *ring;
    size_t size, next;
};

/** Forgets everything. */
void mx_recent_fini(struct mx_recent *recent);

/** The digest of an envelope. */
uint64_t mx_recent_digest(const struct mx_recent *recent,
                          const struct mcpx_envelope *envelope);

/** True when an envelope with that digest was noted lately. */
bool mx_recent_has(const struct mx_recent *recent, uint64_t digest);

/** Makes sure that the next mx_recent_note cannot fail; false when memory runs out. */
bool mx_recent_reserve(struct mx_recent *recent);

/** Notes a digest, in place of the oldest once there are `max`. After mx_recent_reserve. */
void mx_recent_note(struct mx_recent *recent, uint64_t digest);

#endif
