/*
 * plain_x86_64.c - sixteen bytes at a time, by SSE2, which every x86-64 has; four times that while
 * nothing is found, so that a long run costs one branch per 64 bytes. An object or array is passed
 * over 64 bytes at a time: where its brackets close is all that is wanted.
 */
#include "lib/core/plain.h"

#include <emmintrin.h>

enum { VECTOR = 16, ROUND = 4 * VECTOR, BLOCK = 64 };

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

const unsigned char *mx_plain_skip(const unsigned char *at, const unsigned char *end)
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

/* Of 64 bytes, the lowest bit first: which of them is what. */
struct bits {
    uint64_t quote, backslash, open, close;
};

/*
 * What is known at the end of a block.
 *
 * depth      brackets that are open
 * inside     all ones in a string, else 0
 * escaped    1 when the next byte follows a backslash that counts
 */
struct nested {
    size_t depth;
    uint64_t inside;
    uint64_t escaped;
};

/* Bytes that are escaped; `backslashes` are few where there are any. */
static inline uint64_t escaped_of(struct nested *state, uint64_t backslashes)
{
    uint64_t escaped = state->escaped, begin;

    backslashes &= ~escaped;
    state->escaped = 0;
    while (backslashes) {
        begin = backslashes & (~backslashes + 1);
        state->escaped = begin >> 63;
        escaped |= begin << 1;
        backslashes &= ~(begin | begin << 1);
    }
    return escaped;
}

/* Each bit is whether there is an odd number of ones up to it. */
static inline uint64_t parity_of(uint64_t bits)
{
    for (int shift = 1; shift < BLOCK; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* The place behind the bracket that closes the first one, from the beginning of a block; 0: it is
 * not in this one. */
static inline size_t end_of(struct nested *state, const struct bits *bits)
{
    uint64_t quotes = bits->quote & ~escaped_of(state, bits->backslash);
    uint64_t inside = parity_of(quotes) ^ state->inside;
    uint64_t open = bits->open & ~inside, either = open | (bits->close & ~inside);

    state->inside = (uint64_t)0 - (inside >> 63);
    for (; either; either &= either - 1) {
        if (open & either & (~either + 1))
            state->depth++;
        else if (--state->depth == 0)
            return (size_t)__builtin_ctzll(either) + 1;
    }
    return 0;
}

static inline uint64_t places_of(__m128i bytes, char byte)
{
    return bits_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)));
}

/* One bit tells both opening brackets, and both closing ones, from what they are. */
static inline struct bits bits_at(const unsigned char *at)
{
    struct bits bits = {0, 0, 0, 0};

    for (int i = 0; i < BLOCK; i += VECTOR) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));

        bits.quote |= places_of(bytes, '"') << i;
        bits.backslash |= places_of(bytes, '\\') << i;
        bits.open |= places_of(lower, '{') << i;
        bits.close |= places_of(lower, '}') << i;
    }
    return bits;
}

const unsigned char *mx_nested_skip(const unsigned char *at, const unsigned char *end)
{
    struct nested state = {0, 0, 0};
    unsigned char rest[BLOCK] = {0};
    struct bits bits;
    size_t found;

    for (; end - at >= BLOCK; at += BLOCK) {
        bits = bits_at(at);
        found = end_of(&state, &bits);
        if (found)
            return at + found;
    }
    memcpy(rest, at, (size_t)(end - at));
    bits = bits_at(rest);
    found = end_of(&state, &bits);
    return found ? at + found : NULL;
}
