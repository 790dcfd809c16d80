/*
 * sorted_page.c - the smallest names of all are kept: when there are twice as many as are wanted,
 * they are sorted and the larger half is dropped. So a page costs one look at each name, and
 * sorting all of a hundred thousand for each page is not needed.
 */
#include "router/edge/sorted_page.h"

#include <stdlib.h>

static int compare(const void *one, const void *other)
{
    const struct mcpx_slice *a = one, *b = other;

    return mcpx_slice_compare(*a, *b);
}

void sorted_page_settle(struct sorted_page *page)
{
    size_t kept = 0;

    qsort(page->names, page->count, sizeof *page->names, compare);
    for (size_t i = 0; i < page->count; i++)
        if (kept == 0 || !mcpx_slice_equal(page->names[kept - 1], page->names[i]))
            page->names[kept++] = page->names[i];
    page->more |= kept > page->asked.limit;
    page->count = kept < page->asked.limit ? kept : page->asked.limit;
}

void sorted_page_add(struct sorted_page *page, struct mcpx_slice name)
{
    if (page->asked.after.text && compare(&name, &page->asked.after) <= 0)
        return;
    if (page->count == 2 * page->asked.limit + 2)
        sorted_page_settle(page);
    page->names[page->count++] = name;
}

size_t sorted_page_find(const struct sorted_page *page, struct mcpx_slice name)
{
    const struct mcpx_slice *found =
        bsearch(&name, page->names, page->count, sizeof *page->names, compare);

    return found ? (size_t)(found - page->names) : page->count;
}
