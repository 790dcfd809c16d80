/*
 * roll.c - the smallest names of all are kept: when there are twice as many as are wanted, they are
 * sorted and the larger half is dropped. So a page costs one look at each name, and sorting all of
 * a hundred thousand for each page is not needed.
 */
#include "router/edge/roll.h"

#include <stdlib.h>

static int compare(const void *one, const void *other)
{
    const struct mcpx_slice *a = one, *b = other;

    return mcpx_slice_compare(*a, *b);
}

void roll_settle(struct roll *roll)
{
    size_t kept = 0;

    qsort(roll->names, roll->count, sizeof *roll->names, compare);
    for (size_t i = 0; i < roll->count; i++)
        if (kept == 0 || !mcpx_slice_equal(roll->names[kept - 1], roll->names[i]))
            roll->names[kept++] = roll->names[i];
    roll->more |= kept > roll->page.limit;
    roll->count = kept < roll->page.limit ? kept : roll->page.limit;
}

void roll_add(struct roll *roll, struct mcpx_slice name)
{
    if (roll->page.after.text && compare(&name, &roll->page.after) <= 0)
        return;
    if (roll->count == 2 * roll->page.limit + 2)
        roll_settle(roll);
    roll->names[roll->count++] = name;
}

size_t roll_find(const struct roll *roll, struct mcpx_slice name)
{
    const struct mcpx_slice *found =
        bsearch(&name, roll->names, roll->count, sizeof *roll->names, compare);

    return found ? (size_t)(found - roll->names) : roll->count;
}
