/*
 * unmask_sse2.c - sixteen bytes at a time, four times that in a round.
 */
#include "lib/core/unmask.h"

#include <emmintrin.h>

enum { VECTOR = 16, ROUND = 4 * VECTOR };

static inline void turn(unsigned char *at, __m128i mask)
{
    __m128i *place = (__m128i *)(void *)at;

    _mm_storeu_si128(place, _mm_xor_si128(_mm_loadu_si128(place), mask));
}

void mx_unmask_sse2(unsigned char *bytes, size_t len, const unsigned char key[4])
{
    int32_t four;
    __m128i mask;

    memcpy(&four, key, sizeof four);
    mask = _mm_set1_epi32(four);
    for (; len >= ROUND; bytes += ROUND, len -= ROUND) {
        turn(bytes, mask);
        turn(bytes + VECTOR, mask);
        turn(bytes + 2 * VECTOR, mask);
        turn(bytes + 3 * VECTOR, mask);
    }
    for (; len >= VECTOR; bytes += VECTOR, len -= VECTOR)
        turn(bytes, mask);
    mx_unmask_portable(bytes, len, key);
}
