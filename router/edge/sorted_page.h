/*
 * sorted_page.h - a page of names from a source in no order, sorted by bytes and each once.
 */
#ifndef EDGE_SORTED_PAGE_H
#define EDGE_SORTED_PAGE_H

#include "router/hub/query.h"

/** Most names of a page. */
enum { SORTED_PAGE_MAX = 1000 };

/**
 * Zero-initialised but for `asked`, whose limit is at most SORTED_PAGE_MAX, it is empty.
 *
 * names   kept, not copied: whoever adds them keeps them as long
 * more    there are names behind those of the page; after sorted_page_settle
 */
struct sorted_page {
    struct name_page asked;
    struct mcpx_slice names[2 * SORTED_PAGE_MAX + 2];
    size_t count;
    bool more;
};

/** One of the names there are. */
void sorted_page_add(struct sorted_page *page, struct mcpx_slice name);

/** All were added: `names` and `count` are the page; `more` says that there are names behind it. */
void sorted_page_settle(struct sorted_page *page);

/** The place of a name in a page that is settled; `count` when it is not there. */
size_t sorted_page_find(const struct sorted_page *page, struct mcpx_slice name);

#endif
