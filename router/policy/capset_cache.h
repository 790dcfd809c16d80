/*
 * capset_cache.h - equal grants, one compiled set.
 */
#ifndef POLICY_CAPSET_CACHE_H
#define POLICY_CAPSET_CACHE_H

#include "router/policy/grant_list.h"

/** Sets remembered at most; one more empties the cache. */
enum { CAPSET_CACHE_MAX = 1024 };

/** A set under the SHA-256 of the JSON text it was made from. */
struct capset_entry {
    unsigned char key[32];
    struct mcpx_capset *set; /* NULL = free slot */
};

/**
 * Open addressing in a table twice as large as its bound, so a free slot always ends a search.
 * Zero-initialised is empty and ready; the table is allocated with the first set.
 */
struct capset_cache {
    struct capset_entry *entries;
    size_t count;
};

/**
 * The set of a JSON array of grants, compiled now and not remembered: for lists that anybody
 * may send.
 *
 * array   borrowed; NULL = no grants
 * fault   filled on MCPX_EPATTERN and MCPX_EREQUEST
 * out     filled with a set the caller owns one reference of; untouched on failure
 *
 * Returns what grant_list_add_all returns; MCPX_EREQUEST for too many patterns too.
 */
enum mcpx_err capset_compile(const json_t *array, struct mcpx_fault *fault,
                             struct mcpx_capset **out);

/** Releases all sets and leaves an empty cache. */
void capset_cache_fini(struct capset_cache *cache);

/**
 * The set of a JSON array of grants, compiled now or before.
 *
 * array   borrowed; NULL = no grants
 * fault   filled on MCPX_EPATTERN and MCPX_EREQUEST
 * out     filled with a set the caller owns one reference of
 *
 * Returns what grant_list_add_all returns; MCPX_EREQUEST for too many patterns too.
 */
enum mcpx_err capset_cache_get(struct capset_cache *cache, const json_t *array,
                               struct mcpx_fault *fault, struct mcpx_capset **out);

#endif
