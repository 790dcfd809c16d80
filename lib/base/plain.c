/*
 * plain.c - which unit passes over plain bytes: asked of the processor at the first call and kept
 * in pointers, the only thing in this library that is written after it was loaded, and always
 * with the same value. A linker's indirect function would save those pointers and tie us to one C
 * library.
 */
#include "lib/base/plain.h"

#include <stdatomic.h>

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
