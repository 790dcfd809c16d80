/*
 * search.h - looking something up in sorted rows.
 */
#ifndef MX_SEARCH_H
#define MX_SEARCH_H

#include <stddef.h>

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
