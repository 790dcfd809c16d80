/*
 * plain.c - passes over plain bytes, and over whole objects and arrays, each in three ways.
 * Standard C takes eight bytes at a time, SSE2 (every x86-64) sixteen, AVX2 (most) thirty-two. In
 * long runs one branch tests four vectors.
 *
 * The first call asks the processor which way to use and keeps it in two pointers. Several threads
 * may do that at once: all write the same values. Rejected: an indirect function of the linker; it
 * would bind us to one C library.
 */
#include "lib/base/plain.h"

#include <stdatomic.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* clang-format off */
const bool mx_is_plain[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
};
/* clang-format on */

/* The number of bytes below the lowest marked one. A mark is 0x80; there is at least one. */
static inline size_t before_first(uint64_t marks)
{
    uint64_t below = (marks - 1) & ~marks; /* has bit 0 of each byte up to the mark */

    return (size_t)((((below & MX_EACH_BYTE(1)) * MX_EACH_BYTE(1)) >> 56) - 1);
}

/* 0x80 in every byte that is a quote, a backslash, a control character or not ASCII. A borrow may
 * mark other bytes, too, but only above the lowest correct mark, and only the lowest counts. */
static inline uint64_t marks_of(uint64_t word)
{
    uint64_t control = word - MX_EACH_BYTE(0x20);
    uint64_t quote = (word ^ MX_EACH_BYTE('"')) - MX_EACH_BYTE(1);
    uint64_t backslash = (word ^ MX_EACH_BYTE('\\')) - MX_EACH_BYTE(1);

    return (control | quote | backslash | word) & MX_EACH_BYTE(0x80);
}

const unsigned char *mx_plain_portable(const unsigned char *at, const unsigned char *end)
{
    while (end - at >= 8) {
        uint64_t marks = marks_of(mx_plain_load(at));

        if (marks)
            return at + before_first(marks);
        at += 8;
    }
    while (at < end && mx_is_plain[*at])
        at++;
    return at;
}

static const unsigned char *nested_portable(const unsigned char *at, const unsigned char *end)
{
    bool inside = false;
    size_t depth = 0;

    for (; at < end; at++) {
        if (inside)
            at = mx_plain_portable(at, end);
        if (at == end)
            return NULL;
        if (*at == '"')
            inside = !inside;
        else if (inside)
            at += *at == '\\' && end - at > 1;
        else if (*at == '{' || *at == '[')
            depth++;
        else if ((*at == '}' || *at == ']') && --depth == 0)
            return at + 1;
    }
    return NULL;
}

static bool always(void)
{
    return true;
}

#ifdef __x86_64__
/* ---- an object or array of an accepted text, passed over 64 bytes at a time. Vectors turn special
 * bytes into bits; the functions here find the closing bracket in these ---- */

enum { BLOCK = 64 };

/* The special bytes among 64, the lowest bit first. */
struct nested_bits {
    uint64_t quote, backslash, open, close;
};

/* The state at the end of a block. */
struct nesting {
    size_t depth;     /* brackets that are open */
    uint64_t inside;  /* all ones in a string, else 0 */
    uint64_t escaped; /* 1 when the last byte escapes the next one */
};

/* The escaped bytes. One step per backslash: most blocks have few or none. */
static inline uint64_t nested_escaped(struct nesting *state, uint64_t backslashes)
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

/* A bit of the result is 1 when the bits up to it, itself included, have an odd number of ones. */
static inline uint64_t nested_parity(uint64_t bits)
{
    for (int shift = 1; shift < BLOCK; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* The offset in the block behind the bracket that closes the first open one; 0: that is in a later
 * block. */
static inline size_t nested_end(struct nesting *state, const struct nested_bits *bits)
{
    uint64_t quotes = bits->quote & ~nested_escaped(state, bits->backslash);
    uint64_t inside = nested_parity(quotes) ^ state->inside;
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

/* mx_nested_skip for vectors: `bits_of` reads 64 bytes. Inlined, so that `bits_of` is, too. */
static inline const unsigned char *
nested_run(const unsigned char *at, const unsigned char *end,
           struct nested_bits (*bits_of)(const unsigned char *at))
{
    struct nesting state = {0, 0, 0};
    unsigned char rest[BLOCK] = {0};
    struct nested_bits bits;
    size_t found;

    for (; end - at >= BLOCK; at += BLOCK) {
        bits = bits_of(at);
        found = nested_end(&state, &bits);
        if (found)
            return at + found;
    }
    memcpy(rest, at, (size_t)(end - at));
    bits = bits_of(rest);
    found = nested_end(&state, &bits);
    return found ? at + found : NULL;
}

/* ---- vectors of 16 bytes ---- */

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

static const unsigned char *plain_sse2(const unsigned char *at, const unsigned char *end)
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

/* Setting bit 0x20 makes `[` the same as `{`, and `]` the same as `}`. */
static inline struct nested_bits nested_16(const unsigned char *at)
{
    struct nested_bits bits = {0, 0, 0, 0};

    for (int i = 0; i < BLOCK; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));

        bits.quote |= places_16(bytes, '"') << i;
        bits.backslash |= places_16(bytes, '\\') << i;
        bits.open |= places_16(lower, '{') << i;
        bits.close |= places_16(lower, '}') << i;
    }
    return bits;
}

static const unsigned char *nested_sse2(const unsigned char *at, const unsigned char *end)
{
    return nested_run(at, end, nested_16);
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

AVX2 static const unsigned char *plain_avx2(const unsigned char *at, const unsigned char *end)
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
    return plain_sse2(at, end);
}

AVX2 static inline uint64_t places_32(__m256i bytes, char byte)
{
    return bits_32(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte)));
}

AVX2 static inline struct nested_bits nested_32(const unsigned char *at)
{
    struct nested_bits bits = {0, 0, 0, 0};

    for (int i = 0; i < BLOCK; i += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(at + i));
        __m256i lower = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));

        bits.quote |= places_32(bytes, '"') << i;
        bits.backslash |= places_32(bytes, '\\') << i;
        bits.open |= places_32(lower, '{') << i;
        bits.close |= places_32(lower, '}') << i;
    }
    return bits;
}

AVX2 static const unsigned char *nested_avx2(const unsigned char *at, const unsigned char *end)
{
    return nested_run(at, end, nested_32);
}

static bool has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2");
}

#endif

const struct mx_plain_unit mx_plain_units[] = {
#ifdef __x86_64__
    {"avx2", has_avx2, plain_avx2, nested_avx2},
    {"sse2", always, plain_sse2, nested_sse2},
#endif
    {"portable", always, mx_plain_portable, nested_portable}};
const size_t mx_plain_unit_count = sizeof mx_plain_units / sizeof *mx_plain_units;

/* ---- the choice ---- */

static mx_plain_skipper choose, choose_nested;
static mx_plain_skipper *_Atomic chosen = choose, *_Atomic chosen_nested = choose_nested;

void mx_plain_use(const struct mx_plain_unit *unit)
{
    atomic_store_explicit(&chosen, unit->skip, memory_order_relaxed);
    atomic_store_explicit(&chosen_nested, unit->nested, memory_order_relaxed);
}

static const struct mx_plain_unit *best(void)
{
    const struct mx_plain_unit *unit = mx_plain_units;

    while (!unit->usable())
        unit++;
    mx_plain_use(unit);
    return unit;
}

static const unsigned char *choose(const unsigned char *at, const unsigned char *end)
{
    return best()->skip(at, end);
}

static const unsigned char *choose_nested(const unsigned char *at, const unsigned char *end)
{
    return best()->nested(at, end);
}

const unsigned char *mx_plain_skip(const unsigned char *at, const unsigned char *end)
{
    return atomic_load_explicit(&chosen, memory_order_relaxed)(at, end);
}

const unsigned char *mx_nested_skip(const unsigned char *at, const unsigned char *end)
{
    return atomic_load_explicit(&chosen_nested, memory_order_relaxed)(at, end);
}
