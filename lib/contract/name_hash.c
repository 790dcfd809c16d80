/*
 * name_hash.c - names with escapes, which are rare, hashed without writing them anywhere.
 */
#include "lib/contract/name_hash.h"

#include "lib/core/escape.h"

uint32_t mx_name_hash_escaped(struct mcpx_slice raw, bool *has_half)
{
    struct mx_inside walk = mx_inside_start(raw);
    uint64_t hash = 0, word = 0;
    size_t len = 0;

    *has_half = false;
    while (mx_inside_next(&walk) >= 0) {
        *has_half = *has_half || walk.escape.is_lone;
        len++;
    }
    hash = len;
    walk = mx_inside_start(raw);
    for (size_t i = 0; i < len; i++) {
        word |= (uint64_t)mx_inside_next(&walk) << 8 * (i % 8);
        if (i % 8 == 7 || i + 1 == len) {
            hash = mx_name_mix(hash, word);
            word = 0;
        }
    }
    return mx_name_fold(hash);
}
