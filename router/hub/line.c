/*
 * line.c - a binary heap: whoever stands at index i comes before those at 2i + 1 and 2i + 2.
 */
#include "router/hub/line.h"

#include "lib/core/room.h"

#include <stdlib.h>

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
