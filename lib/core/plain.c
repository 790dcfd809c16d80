/*
 * plain.c - which unit passes over plain bytes: asked of the processor at the first call and kept
 * in a pointer, the only thing in this library that is written after it was loaded, and always
 * with the same value. A linker's indirect function would save that pointer and tie us to one C
 * library.
 */
#include "lib/core/plain.h"

#include <stdatomic.h>

static mx_plain_skipper choose;
static mx_plain_skipper *_Atomic chosen = choose;

void mx_plain_use(const struct mx_plain_unit *unit)
{
    atomic_store_explicit(&chosen, unit->skip, memory_order_relaxed);
}

static const unsigned char *choose(const unsigned char *at, const unsigned char *end)
{
    const struct mx_plain_unit *unit = mx_plain_units;

    while (!unit->usable())
        unit++;
    mx_plain_use(unit);
    return unit->skip(at, end);
}

const unsigned char *mx_plain_skip(const unsigned char *at, const unsigned char *end)
{
    return atomic_load_explicit(&chosen, memory_order_relaxed)(at, end);
}
