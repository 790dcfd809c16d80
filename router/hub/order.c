/*
 * order.c - a skip list: each level leaves out three of four, so finding a place takes as many
 * steps as a number has digits, and going on takes one. Sorting all names for each page was
 * refused, since a page is asked for more often than a topic comes to be; so was a sorted array,
 * whose tail moves with each new topic. Levels come from a keyed hash, so nobody can choose
 * names that all stand on one.
 *
 * Those that wait stand in a heap, so that coming in, leaving and being the next cost little
 * however many there are.
 */
#include "router/hub/order.h"

#include "lib/base/rows.h"
#include "router/hub/topic_state.h"

#include <stdlib.h>

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

/* ---- who waits, by turn ---- */

static bool comes_before(const struct waiting *one, const struct waiting *other)
{
    return one->turn < other->turn ||
           (one->turn == other->turn && one->number < other->number);
}

static void put(struct line *line, size_t index, struct waiting *waiting)
{
    line->all[index] = waiting;
    waiting->place = index + 1;
}

/* From a free place towards the first: all that come later make way. */
static size_t rise(struct line *line, size_t index, const struct waiting *waiting)
{
    for (; index > 0 && comes_before(waiting, line->all[(index - 1) / 2]);
         index = (index - 1) / 2)
        put(line, index, line->all[(index - 1) / 2]);
    return index;
}

/* And away from it: all that come earlier move up. */
static size_t sink(struct line *line, size_t index, const struct waiting *waiting)
{
    size_t next;

    for (; (next = 2 * index + 1) < line->count; index = next) {
        if (next + 1 < line->count && comes_before(line->all[next + 1], line->all[next]))
            next++;
        if (!comes_before(line->all[next], waiting))
            break;
        put(line, index, line->all[next]);
    }
    return index;
}

void line_fini(struct line *line)
{
    free(line->all);
    *line = (struct line){.count = 0};
}

bool line_reserve(struct line *line)
{
    struct waiting **all =
        mx_room(line->all, line->count, &line->room, sizeof(struct waiting *));

    if (all)
        line->all = all;
    return all;
}

void line_add(struct line *line, struct waiting *waiting, uint64_t turn)
{
    waiting->turn = turn;
    waiting->number = ++line->last_number;
    put(line, rise(line, line->count++, waiting), waiting);
}

void line_remove(struct line *line, struct waiting *waiting)
{
    size_t index = waiting->place - 1;
    struct waiting *last;

    if (waiting->place == 0)
        return;
    waiting->place = 0;
    last = line->all[--line->count];
    if (last != waiting)
        put(line, sink(line, rise(line, index, last), last), last);
}
