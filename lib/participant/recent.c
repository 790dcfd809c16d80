/*
 * recent.c - a ring of digests and a set of them. The digests are keyed, so nobody can make two
 * envelopes look like one, and 64 bits make it unlikely that two do by themselves.
 */
#include "lib/participant/recent.h"

#include <stdlib.h>

enum { SIZE_FIRST = 64 };

void mx_recent_fini(struct mx_recent *recent)
{
    mx_map_fini(&recent->set);
    free(recent->ring);
}

uint64_t mx_recent_digest(const struct mx_recent *recent, const struct mcpx_envelope *envelope)
{
    uint64_t parts[3] = {
        mx_map_hash(recent->key, envelope->from),
        mx_map_hash(recent->key, envelope->id),
        mx_map_hash(recent->key, envelope->payload),
    };

    return mx_map_hash(recent->key, (struct mcpx_slice){(const char *)parts, sizeof parts});
}

bool mx_recent_has(const struct mx_recent *recent, uint64_t digest)
{
    size_t at = 0;

    return mx_map_next(&recent->set, digest, &at) != 0;
}

bool mx_recent_reserve(struct mx_recent *recent)
{
    size_t size = recent->size ? recent->size * 2 : SIZE_FIRST;
    uint64_t *ring;

    if (!mx_map_reserve(&recent->set))
        return false;
    if (recent->next < recent->size || recent->size == recent->max)
        return true;
    if (size > recent->max)
        size = recent->max;
    ring = realloc(recent->ring, size * sizeof *ring);
    if (!ring)
        return false;
    recent->ring = ring;
    recent->size = size;
    return true;
}

void mx_recent_note(struct mx_recent *recent, uint64_t digest)
{
    if (recent->next == recent->size)
        recent->next = 0;
    if (recent->set.count == recent->size) /* the ring is full: its oldest is forgotten */
        mx_map_remove(&recent->set, recent->ring[recent->next], 1);
    recent->ring[recent->next++] = digest;
    mx_map_put(&recent->set, digest, 1);
}
