/*
 * name_hash.h - the hash of a member's name, unescaped. It has no key: whoever relies on it bounds
 * what names chosen to be equal cost.
 */
#ifndef MX_NAME_HASH_H
#define MX_NAME_HASH_H

#include "lib/base/plain.h"

/** Takes up to eight bytes more, the first one lowest. The hash begins as the name's length. */
static inline uint64_t mx_name_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/** The hash when all bytes are taken. */
static inline uint32_t mx_name_fold(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 16);
}

/** The hash of `len` bytes. Memory can be read up to `end`, which makes it quicker. */
static inline uint32_t mx_name_hash_before(const unsigned char *at, size_t len,
                                           const unsigned char *end)
{
    uint64_t hash = len, word = 0;

    for (; len >= 8; at += 8, len -= 8)
        hash = mx_name_mix(hash, mx_plain_load(at));
    if (len == 0)
        return mx_name_fold(hash);
    if (end - at >= 8) {
        word = mx_plain_load(at) & ((UINT64_C(1) << 8 * len) - 1);
    } else {
        for (size_t i = 0; i < len; i++)
            word |= (uint64_t)at[i] << 8 * i;
    }
    return mx_name_fold(mx_name_mix(hash, word));
}

/** The hash of a name without escapes. */
static inline uint32_t mx_name_hash(struct mcpx_slice name)
{
    const unsigned char *at = (const unsigned char *)(name.text ? name.text : "");

    return mx_name_hash_before(at, name.len, at + name.len);
}

/**
 * The hash of a name with escapes, as they stand between quotes: that of what it stands for.
 *
 * has_half   filled: half a surrogate pair is in it
 */
uint32_t mx_name_hash_escaped(struct mcpx_slice raw, bool *has_half);

#endif
