/*
 * roll.h - a page of names from a source in no order, sorted by bytes and each once.
 */
#ifndef EDGE_ROLL_H
#define EDGE_ROLL_H

#include "router/hub/query.h"

/** Most names of a page. */
enum { ROLL_MAX = 1000 };

/**
 * Zero-initialised but for `page`, whose limit is at most ROLL_MAX, it is empty.
 *
 * names   kept, not copied: whoever adds them keeps them as long
 * more    there are names behind those of the page; after roll_settle
 */
struct roll {
    struct name_page page;
    struct mcpx_slice names[2 * ROLL_MAX + 2];
    size_t count;
    bool more;
};

/** One of the names there are. */
void roll_add(struct roll *roll, struct mcpx_slice name);

/** All were added: `names` and `count` are the page; `more` says that there are names behind it. */
void roll_settle(struct roll *roll);

/** The place of a name in a roll that is settled; `count` when it is not there. */
size_t roll_find(const struct roll *roll, struct mcpx_slice name);

#endif
