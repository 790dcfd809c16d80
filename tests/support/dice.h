/*
 * dice.h - choices for a simulation: from a seed, so that one number replays a run, or from
 * bytes, so that a fuzzer chooses.
 */
#ifndef SUPPORT_DICE_H
#define SUPPORT_DICE_H

#include <mcpx/base.h>

/**
 * Where choices come from.
 *
 * state   of the generator
 * bytes   when not absent, these decide until they are used up; then every choice is 0
 */
struct dice {
    uint64_t state;
    struct mcpx_slice bytes;
};

/** Choices that follow from a seed. */
struct dice dice_of_seed(uint64_t seed);

/** Choices that bytes make. Borrows them. */
struct dice dice_of_bytes(struct mcpx_slice bytes);

/** What a variable of the environment says, for whoever replays a run; `otherwise` without it. */
uint64_t dice_number_of(const char *variable, uint64_t otherwise);

/** The next 64 random bits; never taken from the bytes. */
uint64_t dice_bits(struct dice *dice);

/** Fills `bytes` from the dice that `context` is: what a hub draws its chance from. */
void dice_fill(void *context, void *bytes, size_t len);

/** A number from 0 to count - 1; count is at least 1 and at most 65536. */
size_t dice_below(struct dice *dice, size_t count);

/** True once in `n` times. */
bool dice_hits(struct dice *dice, size_t n);

/** One of `count` values; DICE_ONE_OF names them. */
size_t dice_one_of(struct dice *dice, const size_t *values, size_t count);
#define DICE_ONE_OF(dice, ...)                                                                \
    dice_one_of((dice), (const size_t[]){__VA_ARGS__},                                        \
                sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))

/** True when the bytes are used up; never for a seed. */
bool dice_is_over(const struct dice *dice);

#endif
