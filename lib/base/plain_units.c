/*
 * plain_units.c - the units of this architecture. On x86-64: sixteen bytes at a time with SSE2,
 * which each has, and thirty-two with AVX2, which most have; four times that while nothing is found,
 * so that a long run costs one branch.
 */
#include "lib/base/plain.h"

static bool always(void)
{
    return true;
}

#ifdef __x86_64__
#include <immintrin.h>

/* All ones in every byte that is not plain. */
static inline __m128i marks_16(const unsigned char *at)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    __m128i other = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)); /* signed: 0x80.. too */

    return _mm_or_si128(_mm_or_si128(quote, backslash), other);
}

static inline unsigned bits_16(__m128i marks)
{
    return (unsigned)_mm_movemask_epi8(marks);
}

const unsigned char *mx_plain_sse2(const unsigned char *at, const unsigned char *end)
{
    for (; end - at >= 16; at += 16) {
        unsigned bits = bits_16(marks_16(at));

        if (bits != 0)
            return at + __builtin_ctz(bits);
        while (end - at >= 5 * 16 &&
               bits_16(_mm_or_si128(
                   _mm_or_si128(marks_16(at + 16), marks_16(at + 2 * 16)),
                   _mm_or_si128(marks_16(at + 3 * 16), marks_16(at + 4 * 16)))) == 0)
            at += 4 * 16;
    }
    return mx_plain_portable(at, end);
}

static inline uint64_t places_16(__m128i bytes, char byte)
{
    return bits_16(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)));
}

/* One bit tells both opening brackets, and both closing ones, from what they are. */
static inline struct mx_nested_bits nested_16(const unsigned char *at)
{
    struct mx_nested_bits bits = {0, 0, 0, 0};

    for (int i = 0; i < MX_NESTED_BLOCK; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));

        bits.quote |= places_16(bytes, '"') << i;
        bits.backslash |= places_16(bytes, '\\') << i;
        bits.open |= places_16(lower, '{') << i;
        bits.close |= places_16(lower, '}') << i;
    }
    return bits;
}

const unsigned char *mx_nested_sse2(const unsigned char *at, const unsigned char *end)
{
    return mx_nested_run(at, end, nested_16);
}

/* ---- the same with vectors of 32 bytes ---- */

#define AVX2 __attribute__((target("avx2")))

AVX2 static inline __m256i marks_32(const unsigned char *at)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
    __m256i backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
    __m256i other = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes); /* signed: 0x80.. too */

    return _mm256_or_si256(_mm256_or_si256(quote, backslash), other);
}

AVX2 static inline unsigned bits_32(__m256i marks)
{
    return (unsigned)_mm256_movemask_epi8(marks);
}

AVX2 const unsigned char *mx_plain_avx2(const unsigned char *at, const unsigned char *end)
{
    for (; end - at >= 32; at += 32) {
        unsigned bits = bits_32(marks_32(at));

        if (bits != 0)
            return at + __builtin_ctz(bits);
        while (end - at >= 5 * 32 &&
               bits_32(_mm256_or_si256(
                   _mm256_or_si256(marks_32(at + 32), marks_32(at + 2 * 32)),
                   _mm256_or_si256(marks_32(at + 3 * 32), marks_32(at + 4 * 32)))) == 0)
            at += 4 * 32;
    }
    return mx_plain_sse2(at, end);
}

AVX2 static inline uint64_t places_32(__m256i bytes, char byte)
{
    return bits_32(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte)));
}

AVX2 static inline struct mx_nested_bits nested_32(const unsigned char *at)
{
    struct mx_nested_bits bits = {0, 0, 0, 0};

    for (int i = 0; i < MX_NESTED_BLOCK; i += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(at + i));
        __m256i lower = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));

        bits.quote |= places_32(bytes, '"') << i;
        bits.backslash |= places_32(bytes, '\\') << i;
        bits.open |= places_32(lower, '{') << i;
        bits.close |= places_32(lower, '}') << i;
    }
    return bits;
}

AVX2 const unsigned char *mx_nested_avx2(const unsigned char *at, const unsigned char *end)
{
    return mx_nested_run(at, end, nested_32);
}

static bool has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2");
}

const struct mx_plain_unit mx_plain_units[] = {
    {"avx2", has_avx2, mx_plain_avx2, mx_nested_avx2},
    {"sse2", always, mx_plain_sse2, mx_nested_sse2},
    {"portable", always, mx_plain_portable, mx_nested_portable}};
#else
const struct mx_plain_unit mx_plain_units[] = {
    {"portable", always, mx_plain_portable, mx_nested_portable}};
#endif
const size_t mx_plain_unit_count = sizeof mx_plain_units / sizeof *mx_plain_units;
