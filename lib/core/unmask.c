/*
 * unmask.c - the unit is asked of the processor at the first call and kept in a pointer that is
 * only ever written with the same value, as in plain.c. Most messages are short: what fits in one
 * small vector is done byte by byte here, because a call through a pointer costs more.
 */
#include "lib/core/unmask.h"

#include <stdatomic.h>

enum { SHORT = 16 };

static mx_unmasker choose;
static mx_unmasker *_Atomic chosen = choose;

static void choose(unsigned char *bytes, size_t len, const unsigned char key[4])
{
    const struct mx_unmask_unit *unit = mx_unmask_units;

    while (!unit->usable())
        unit++;
    atomic_store_explicit(&chosen, unit->unmask, memory_order_relaxed);
    unit->unmask(bytes, len, key);
}

void mx_unmask(unsigned char *bytes, size_t len, const unsigned char key[4], size_t phase)
{
    unsigned char turned[4];

    for (size_t i = 0; i < 4; i++)
        turned[i] = key[(phase + i) & 3];
    if (len >= SHORT) {
        atomic_load_explicit(&chosen, memory_order_relaxed)(bytes, len, turned);
        return;
    }
    for (size_t i = 0; i < len; i++)
        bytes[i] ^= turned[i & 3];
}
