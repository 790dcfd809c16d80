/*
 * unmask_portable.c - eight bytes at a time, in standard C. Copied to a word and back, because
 * payloads begin anywhere; compilers make one load and one store of it.
 */
#include "lib/core/unmask.h"

void mx_unmask_portable(unsigned char *bytes, size_t len, const unsigned char key[4])
{
    unsigned char twice[8];
    uint64_t mask, word;
    size_t at = 0;

    memcpy(twice, key, 4);
    memcpy(twice + 4, key, 4);
    memcpy(&mask, twice, 8);
    for (; len - at >= 8; at += 8) {
        memcpy(&word, bytes + at, 8);
        word ^= mask;
        memcpy(bytes + at, &word, 8);
    }
    for (; at < len; at++)
        bytes[at] ^= key[at & 3];
}
