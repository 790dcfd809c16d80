/*
 * rows.h - arrays that grow, and sorted ones that are searched.
 */
#ifndef MX_ROWS_H
#define MX_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

/** The same for the array whose address `rows` is. False when memory ran out: all is as it was. */
static inline bool mx_make_room(void *rows, size_t count, size_t *size, size_t of_one)
{
    void *grown;

    memcpy(&grown, rows, sizeof grown);
    grown = mx_room(grown, count, size, of_one);
    if (grown)
        memcpy(rows, &grown, sizeof grown);
    return grown;
}

/**
 * Halves the rows from `low` to `high` until `low` is the first one that does not come before what
 * is looked for: `high` when all do. Both are variables, and so is `row`, all of type size_t.
 *
 * is_before   an expression: what stands at `row` comes before it
 */
#define MX_SEARCH(low, high, row, is_before)                                                  \
    while ((low) < (high))                                                                    \
    ((row) = (low) + ((high) - (low)) / 2,                                                    \
     (is_before) ? ((low) = (row) + 1) : ((high) = (row)))

#endif
