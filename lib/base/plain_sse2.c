/*
 * plain_sse2.c - sixteen bytes at a time; four times that while nothing is found, so that a
 * long run costs one branch per 64 bytes.
 */
#include "lib/base/plain.h"

#include <emmintrin.h>

enum { VECTOR = 16, ROUND = 4 * VECTOR };

/* All ones in every byte that is not plain. */
static inline __m128i marks_of(const unsigned char *at)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    __m128i other = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)); /* signed: 0x80.. too */

    return _mm_or_si128(_mm_or_si128(quote, backslash), other);
}

static inline unsigned bits_of(__m128i marks)
{
    return (unsigned)_mm_movemask_epi8(marks);
}

const unsigned char *mx_plain_sse2(const unsigned char *at, const unsigned char *end)
{
    for (; end - at >= VECTOR; at += VECTOR) {
        unsigned bits = bits_of(marks_of(at));

        if (bits != 0)
            return at + __builtin_ctz(bits);
        while (end - at >= ROUND + VECTOR &&
               bits_of(_mm_or_si128(
                   _mm_or_si128(marks_of(at + VECTOR), marks_of(at + 2 * VECTOR)),
                   _mm_or_si128(marks_of(at + 3 * VECTOR), marks_of(at + 4 * VECTOR)))) == 0)
            at += ROUND;
    }
    return mx_plain_portable(at, end);
}

static inline uint64_t places_of(__m128i bytes, char byte)
{
    return bits_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)));
}

/* One bit tells both opening brackets, and both closing ones, from what they are. */
static inline struct mx_nested_bits nested_bits(const unsigned char *at)
{
    struct mx_nested_bits bits = {0, 0, 0, 0};

    for (int i = 0; i < MX_NESTED_BLOCK; i += VECTOR) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));

        bits.quote |= places_of(bytes, '"') << i;
        bits.backslash |= places_of(bytes, '\\') << i;
        bits.open |= places_of(lower, '{') << i;
        bits.close |= places_of(lower, '}') << i;
    }
    return bits;
}

const unsigned char *mx_nested_sse2(const unsigned char *at, const unsigned char *end)
{
    return mx_nested_run(at, end, nested_bits);
}
