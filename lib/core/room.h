/*
 * room.h - room for one more row in an array that grows.
 */
#ifndef MX_ROOM_H
#define MX_ROOM_H

#include <stddef.h>
#include <stdlib.h>

/**
 * Makes room behind `count` rows of `of_one` bytes.
 *
 * rows   from malloc, NULL at first; taken on success
 * size   how many there is room for: 0 at first, then 8, doubled each time
 *
 * Gives the array, perhaps in another place; NULL when memory ran out: then all is as it was.
 */
static inline void *mx_room(void *rows, size_t count, size_t *size, size_t of_one)
{
    size_t wanted = *size ? *size * 2 : 8;
    void *grown;

    if (count < *size)
        return rows;
    grown = realloc(rows, wanted * of_one);
    if (grown)
        *size = wanted;
    return grown;
}

#endif
