/*
 * order.h - topics sorted by name, for whoever reads them a page at a time; and who waits,
 * by turn.
 */
#ifndef HUB_ORDER_H
#define HUB_ORDER_H

#include <mcpx/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/**
 * One that waits; part of what does. Zeroed, it is in no line.
 *
 * turn     whose is smallest is next; of equal ones, who came first
 * number   by which those are told apart
 * place    1 + index in the line; 0 = in none
 */
struct waiting {
    uint64_t turn, number;
    size_t place;
};

/** All that wait. Zeroed, it is empty; to be freed by line_fini. */
struct line {
    struct waiting **all;
    size_t count, room;
    uint64_t last_number;
};

/** Frees its own memory. */
void line_fini(struct line *line);

/** Makes sure that the next line_add cannot fail; false when memory runs out. */
bool line_reserve(struct line *line);

/** Adds one that is in no line, after line_reserve, or in the place of one that has left. */
void line_add(struct line *line, struct waiting *waiting, uint64_t turn);

/** Takes one out; harmless when it is in none. */
void line_remove(struct line *line, struct waiting *waiting);

/** The next one; NULL when there is none. */
static inline struct waiting *line_first(const struct line *line)
{
    return line->count > 0 ? line->all[0] : NULL;
}

#endif
