/*
 * grow.h - a list that doubles.
 */
#ifndef MX_GROW_H
#define MX_GROW_H

#include <mcpx/base.h>

#include <stdlib.h>

/**
 * Makes room for one more item.
 *
 * items   address of the list's pointer
 * count   items in it
 * room    items there is memory for
 * size    of an item
 *
 * Returns false, and leaves the list as it is, when memory runs out.
 */
static inline bool mx_grow(void **items, size_t count, size_t *room, size_t size)
{
    size_t more = *room ? *room * 2 : 8;
    void *grown;

    if (count < *room)
        return true;
    grown = realloc(*items, more * size);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}

#endif
