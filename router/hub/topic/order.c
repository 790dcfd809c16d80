/*
 * order.c - a skip list: each level leaves out three of four, so finding a place takes as many
 * steps as a number has digits, and going on takes one. Sorting all names for each page was
 * refused, since a page is asked for more often than a topic comes to be; so was a sorted array,
 * whose tail moves with each new topic. Levels come from a keyed hash, so nobody can choose
 * names that all stand on one.
 */
#include "router/hub/topic/topic_state.h"

static size_t levels_of(uint64_t hash)
{
    size_t levels = 1;

    for (; levels < ORDER_LEVELS && (hash & 3) == 0; hash >>= 2)
        levels++;
    return levels;
}

/* Whose `next` leads past the name, on each level. */
static void find_before(struct order *order, struct mcpx_slice name,
                        struct order *before[ORDER_LEVELS])
{
    struct order *at = order;

    for (size_t level = ORDER_LEVELS; level > 0; level--) {
        struct topic *next;

        while ((next = at->next[level - 1]) && mcpx_slice_compare(next->name, name) < 0)
            at = &next->order;
        before[level - 1] = at;
    }
}

void order_insert(struct order *order, struct topic *topic, uint64_t hash)
{
    struct order *before[ORDER_LEVELS];
    size_t levels = levels_of(hash);

    find_before(order, topic->name, before);
    for (size_t level = 0; level < ORDER_LEVELS; level++) {
        topic->order.next[level] = level < levels ? before[level]->next[level] : NULL;
        if (level < levels)
            before[level]->next[level] = topic;
    }
}

void order_remove(struct order *order, const struct topic *topic)
{
    struct order *before[ORDER_LEVELS];

    find_before(order, topic->name, before);
    for (size_t level = 0; level < ORDER_LEVELS; level++)
        if (before[level]->next[level] == topic)
            before[level]->next[level] = topic->order.next[level];
}

struct topic *order_after(const struct order *order, struct mcpx_slice name)
{
    struct order *before[ORDER_LEVELS];
    struct topic *topic;

    find_before((struct order *)order, name, before);
    topic = before[0]->next[0];
    if (topic && mcpx_slice_equal(topic->name, name))
        topic = topic->order.next[0];
    return topic;
}
