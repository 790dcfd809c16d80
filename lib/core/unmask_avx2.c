/*
 * unmask_avx2.c - unmask_sse2.c with vectors of 32 bytes. Compiled for AVX2, called where there is
 * one.
 */
#include "lib/core/unmask.h"

#include <immintrin.h>

enum { VECTOR = 32, ROUND = 4 * VECTOR };

static inline void turn(unsigned char *at, __m256i mask)
{
    __m256i *place = (__m256i *)(void *)at;

    _mm256_storeu_si256(place, _mm256_xor_si256(_mm256_loadu_si256(place), mask));
}

void mx_unmask_avx2(unsigned char *bytes, size_t len, const unsigned char key[4])
{
    int32_t four;
    __m256i mask;

    memcpy(&four, key, sizeof four);
    mask = _mm256_set1_epi32(four);
    for (; len >= ROUND; bytes += ROUND, len -= ROUND) {
        turn(bytes, mask);
        turn(bytes + VECTOR, mask);
        turn(bytes + 2 * VECTOR, mask);
        turn(bytes + 3 * VECTOR, mask);
    }
    for (; len >= VECTOR; bytes += VECTOR, len -= VECTOR)
        turn(bytes, mask);
    mx_unmask_sse2(bytes, len, key);
}
