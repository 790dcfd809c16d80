/*
 * line.h - who waits, by turn: a heap, so that coming in, leaving and being the next cost little
 * however many there are.
 */
#ifndef HUB_LINE_H
#define HUB_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
