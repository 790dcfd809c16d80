/* map.h - a hash table from keyed hashes to numbers: ids to serials, names to topics. */
#ifndef MX_MAP_H
#define MX_MAP_H

#include <mcpx/base.h>

/** The key of a hash: 16 random bytes, so attackers cannot choose colliding names. */
struct mx_map_key {
    uint64_t words[2];
};

/** SipHash-2-4 of a text under a key. */
uint64_t mx_map_hash(struct mx_map_key key, struct mcpx_slice text);

struct mx_map_slot {
    uint64_t hash;
    uint64_t value; /* 0 = free, so values start at 1 */
};

/**
 * Open addressing, linear probing, at most half full, no tombstones. Zero-initialised is empty.
 * Two texts may share a hash, so a caller compares what it finds.
 */
struct mx_map {
    struct mx_map_slot *slots;
    size_t size; /* a power of two, or 0 */
    size_t count;
};

/** Frees the table and leaves an empty map. */
void mx_map_fini(struct mx_map *map);

/** Makes sure that the next mx_map_put cannot fail; false when memory runs out. */
bool mx_map_reserve(struct mx_map *map);

/** Bytes that the next mx_map_reserve adds to the table. */
size_t mx_map_growth(const struct mx_map *map);

/** Gives back memory when the table is hardly used; never fails, but may leave it as it is. */
void mx_map_fit(struct mx_map *map);

/** Adds a value (not 0) under a hash, which may have several. Call mx_map_reserve before. */
void mx_map_put(struct mx_map *map, uint64_t hash, uint64_t value);

/**
 * Walks the values under a hash: start with `*at` 0, stop when it returns 0. The map must not
 * change meanwhile.
 */
uint64_t mx_map_next(const struct mx_map *map, uint64_t hash, size_t *at);

/**
 * Finds an object by its name, the slice at `offset`, in a map with addresses of objects as values.
 * NULL when there is none.
 */
void *mx_map_find(const struct mx_map *map, uint64_t hash, size_t offset,
                  struct mcpx_slice name);

/** Removes one value; harmless when it is not there. */
void mx_map_remove(struct mx_map *map, uint64_t hash, uint64_t value);

#endif
