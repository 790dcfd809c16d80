/*
 * dice.c - the generator is splitmix64: 64 bits of state, every seed as good as any other, and the
 * same numbers on every machine, which rand() does not promise.
 */
#include "tests/support/dice.h"

#include <stdlib.h>

struct dice dice_of_seed(uint64_t seed)
{
    return (struct dice){.state = seed};
}

struct dice dice_of_bytes(struct mcpx_slice bytes)
{
    return (struct dice){.bytes = bytes.text ? bytes : MCPX_SLICE("")};
}

uint64_t dice_number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

uint64_t dice_bits(struct dice *dice)
{
    uint64_t word = dice->state += 0x9e3779b97f4a7c15;

    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
}

static size_t next_byte(struct dice *dice)
{
    size_t byte;

    if (dice->bytes.len == 0)
        return 0;
    byte = (unsigned char)*dice->bytes.text++;
    dice->bytes.len--;
    return byte;
}

void dice_fill(void *context, void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)(dice_bits(context) >> 20);
}

size_t dice_below(struct dice *dice, size_t count)
{
    size_t choice;

    if (!dice->bytes.text)
        return (size_t)(dice_bits(dice) >> 16) % count;
    if (count == 1)
        return 0;
    choice = next_byte(dice);
    if (count > 256)
        choice = choice << 8 | next_byte(dice);
    return choice % count;
}

bool dice_hits(struct dice *dice, size_t n)
{
    return dice_below(dice, n) == n - 1;
}

size_t dice_one_of(struct dice *dice, const size_t *values, size_t count)
{
    return values[dice_below(dice, count)];
}

bool dice_is_over(const struct dice *dice)
{
    return dice->bytes.text && dice->bytes.len == 0;
}
