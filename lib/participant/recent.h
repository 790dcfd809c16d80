/*
 * recent.h - the envelopes that came lately, so that none is told twice. The router accepts an
 * id only once, as long as it remembers the id. When a router has forgotten it or was
 * restarted, a sender may write an envelope again that was told before.
 */
#ifndef MX_RECENT_H
#define MX_RECENT_H

#include "lib/core/map.h"
#include <mcpx/envelope.h>

/**
 * Digests of the last `max` envelopes. A digest covers sender, id and payload, so an id with
 * another payload is no repetition. The caller sets `key` and `max`; the rest is zero.
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

/** Notes a digest. Once there are `max`, it replaces the oldest. After mx_recent_reserve. */
void mx_recent_note(struct mx_recent *recent, uint64_t digest);

#endif
