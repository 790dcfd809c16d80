/*
 * plain_avx2.c - plain_sse2.c with vectors of 32 bytes. Compiled for AVX2, called where there is
 * one.
 */
#include "lib/base/plain.h"

#include <immintrin.h>

enum { VECTOR = 32, ROUND = 4 * VECTOR };

/* All ones in every byte that is not plain. */
static inline __m256i marks_of(const unsigned char *at)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
    __m256i backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
    __m256i other = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes); /* signed: 0x80.. too */

    return _mm256_or_si256(_mm256_or_si256(quote, backslash), other);
}

static inline unsigned bits_of(__m256i marks)
{
    return (unsigned)_mm256_movemask_epi8(marks);
}

const unsigned char *mx_plain_avx2(const unsigned char *at, const unsigned char *end)
{
    for (; end - at >= VECTOR; at += VECTOR) {
        unsigned bits = bits_of(marks_of(at));

        if (bits != 0)
            return at + __builtin_ctz(bits);
        while (end - at >= ROUND + VECTOR &&
               bits_of(_mm256_or_si256(
                   _mm256_or_si256(marks_of(at + VECTOR), marks_of(at + 2 * VECTOR)),
                   _mm256_or_si256(marks_of(at + 3 * VECTOR), marks_of(at + 4 * VECTOR)))) ==
                   0)
            at += ROUND;
    }
    return mx_plain_sse2(at, end);
}

static inline uint64_t places_of(__m256i bytes, char byte)
{
    return bits_of(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte)));
}

/* One bit tells both opening brackets, and both closing ones, from what they are. */
static inline struct mx_nested_bits nested_bits(const unsigned char *at)
{
    struct mx_nested_bits bits = {0, 0, 0, 0};

    for (int i = 0; i < MX_NESTED_BLOCK; i += VECTOR) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(at + i));
        __m256i lower = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));

        bits.quote |= places_of(bytes, '"') << i;
        bits.backslash |= places_of(bytes, '\\') << i;
        bits.open |= places_of(lower, '{') << i;
        bits.close |= places_of(lower, '}') << i;
    }
    return bits;
}

const unsigned char *mx_nested_avx2(const unsigned char *at, const unsigned char *end)
{
    return mx_nested_run(at, end, nested_bits);
}
