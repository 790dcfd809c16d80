/*
 * order.h - topics sorted by name, for whoever reads them a page at a time.
 */
#ifndef HUB_ORDER_H
#define HUB_ORDER_H

#include <mcpx/base.h>

struct topic;

/** Enough for 4^10 topics. */
enum { ORDER_LEVELS = 10 };

/** The topics behind a topic, or behind the beginning: one on each level, NULL where none is. */
struct order {
    struct topic *next[ORDER_LEVELS];
};

/** Puts a topic in its place. Its levels follow from the keyed hash of its name. */
void order_insert(struct order *order, struct topic *topic, uint64_t hash);

/** Takes it out. */
void order_remove(struct order *order, const struct topic *topic);

/** The first topic whose name sorts behind this one; NULL when there is none. */
struct topic *order_after(const struct order *order, struct mcpx_slice name);

#endif
