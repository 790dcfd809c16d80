/*
 * map.h - from a keyed hash to a number: which serial has this id, which topic this name?
 * Includes base.h only.
 */
#ifndef HUB_MAP_H
#define HUB_MAP_H

#include <mcpx/base.h>

/** The key of a hash: 16 random bytes, so that nobody can choose names that collide. */
struct map_key {
    uint64_t words[2];
};

/** SipHash-2-4 of a text under a key. */
uint64_t map_hash(struct map_key key, struct mcpx_slice text);

struct map_slot {
    uint64_t hash;
    uint64_t value; /* 0 = free, so values start at 1 */
};

/**
 * Open addressing, linear probing, at most half full, no tombstones. Zero-initialised is empty.
 * Two texts may share a hash, so a caller compares what it finds.
 */
struct map {
    struct map_slot *slots;
    size_t size; /* a power of two, or 0 */
    size_t count;
};

/** Frees the table and leaves an empty map. */
void map_fini(struct map *map);

/** Makes sure that the next map_put cannot fail; false when memory runs out. */
bool map_reserve(struct map *map);

/** Adds a value (not 0) under a hash; equal hashes may stand side by side. After map_reserve. */
void map_put(struct map *map, uint64_t hash, uint64_t value);

/**
 * Walks the values under a hash: start with `*at` 0, stop when it returns 0. The map must not
 * change meanwhile.
 */
uint64_t map_next(const struct map *map, uint64_t hash, size_t *at);

/** Removes one value; harmless when it is not there. */
void map_remove(struct map *map, uint64_t hash, uint64_t value);

#endif
