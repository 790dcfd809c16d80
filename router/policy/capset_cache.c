/*
 * capset_cache.c - compiling a set takes a hundred times as long as a lookup, and thousands of
 * tokens have the same grants. The key is a digest of the array's compact text, so its size is
 * fixed. When the cache is full, everything is dropped: sets in use live on through their own
 * references. An order of use was refused, because the cache is hardly ever full.
 */
#include "router/policy/capset_cache.h"

#include <openssl/evp.h>
#include <stdlib.h>

enum { SLOTS = 2 * CAPSET_CACHE_MAX };

static void forget(struct capset_cache *cache)
{
    for (size_t i = 0; cache->entries && i < SLOTS; i++) {
        mcpx_capset_unref(cache->entries[i].set);
        cache->entries[i].set = NULL;
    }
    cache->count = 0;
}

void capset_cache_fini(struct capset_cache *cache)
{
    forget(cache);
    free(cache->entries);
    cache->entries = NULL;
}

static bool digest(const json_t *array, unsigned char key[32])
{
    char *text = json_dumps(array, JSON_COMPACT);
    bool done = text && EVP_Digest(text, strlen(text), key, NULL, EVP_sha256(), NULL) == 1;

    free(text);
    return done;
}

/* The slot that holds the key, or the free one where it belongs. */
static struct capset_entry *slot_of(struct capset_cache *cache, const unsigned char key[32])
{
    size_t at;

    memcpy(&at, key, sizeof at);
    for (at %= SLOTS; cache->entries[at].set; at = (at + 1) % SLOTS) {
        if (memcmp(cache->entries[at].key, key, sizeof cache->entries[at].key) == 0)
            break;
    }
    return &cache->entries[at];
}

enum mcpx_err capset_compile(const json_t *array, struct mcpx_fault *fault,
                             struct mcpx_capset **out)
{
    struct grant_list list = {0};
    enum mcpx_err err = grant_list_add_all(&list, array, fault);

    if (!err)
        err = grant_list_compile(&list, fault, out);
    if (err == MCPX_ELIMIT) {
        *fault = (struct mcpx_fault){.reason = "expected at most 1024 patterns of 65536 bytes",
                                     .field = ""};
        err = MCPX_EREQUEST;
    }
    grant_list_fini(&list);
    return err;
}

enum mcpx_err capset_cache_get(struct capset_cache *cache, const json_t *array,
                               struct mcpx_fault *fault, struct mcpx_capset **out)
{
    unsigned char key[32] = {0}; /* the key of "no grants" */
    struct mcpx_capset *set;
    struct capset_entry *slot;
    enum mcpx_err err;

    if (array && !json_is_array(array)) {
        *fault = (struct mcpx_fault){.reason = "expected a list of grants", .field = ""};
        return MCPX_EREQUEST;
    }
    if (!cache->entries)
        cache->entries = calloc(SLOTS, sizeof *cache->entries);
    if (!cache->entries || (array && !digest(array, key)))
        return MCPX_ENOMEM;
    slot = slot_of(cache, key);
    if (!slot->set) {
        err = capset_compile(array, fault, &set);
        if (err)
            return err;
        if (cache->count == CAPSET_CACHE_MAX) {
            forget(cache);
            slot = slot_of(cache, key);
        }
        memcpy(slot->key, key, sizeof slot->key);
        slot->set = set;
        cache->count++;
    }
    *out = mcpx_capset_ref(slot->set);
    return MCPX_OK;
}
