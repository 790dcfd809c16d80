/*
 * nested.h - passing over an object or array of a text that was accepted, 64 bytes at a time: where
 * its brackets close is all that is wanted. Units of plain.h give the bits; what they mean is here.
 */
#ifndef MX_NESTED_H
#define MX_NESTED_H

#include <mcpx/base.h>

enum { MX_NESTED_BLOCK = 64 };

/** Of 64 bytes, the lowest bit first: which of them is what. */
struct mx_nested_bits {
    uint64_t quote, backslash, open, close;
};

/**
 * What is known at the end of a block.
 *
 * depth      brackets that are open
 * inside     all ones in a string, else 0
 * escaped    1 when the next byte follows a backslash that counts
 */
struct mx_nested {
    size_t depth;
    uint64_t inside;
    uint64_t escaped;
};

/* Bytes that are escaped; `backslashes` are few where there are any. */
static inline uint64_t mx_nested_escaped(struct mx_nested *state, uint64_t backslashes)
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
static inline uint64_t mx_nested_parity(uint64_t bits)
{
    for (int shift = 1; shift < MX_NESTED_BLOCK; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* The place behind the bracket that closes the first one, from the beginning of a block; 0: it is
 * not in this one. */
static inline size_t mx_nested_end(struct mx_nested *state, const struct mx_nested_bits *bits)
{
    uint64_t quotes = bits->quote & ~mx_nested_escaped(state, bits->backslash);
    uint64_t inside = mx_nested_parity(quotes) ^ state->inside;
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

/**
 * mx_nested_skip for a unit: `bits_of` reads 64 bytes. To be expanded where it is known.
 */
static inline const unsigned char *
mx_nested_run(const unsigned char *at, const unsigned char *end,
              struct mx_nested_bits (*bits_of)(const unsigned char *at))
{
    struct mx_nested state = {0, 0, 0};
    unsigned char rest[MX_NESTED_BLOCK] = {0};
    struct mx_nested_bits bits;
    size_t found;

    for (; end - at >= MX_NESTED_BLOCK; at += MX_NESTED_BLOCK) {
        bits = bits_of(at);
        found = mx_nested_end(&state, &bits);
        if (found)
            return at + found;
    }
    memcpy(rest, at, (size_t)(end - at));
    bits = bits_of(rest);
    found = mx_nested_end(&state, &bits);
    return found ? at + found : NULL;
}

#endif
