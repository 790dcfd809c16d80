/*
 * nearest.h - which of the known names somebody may have meant by an unknown one.
 */
#ifndef TOOLS_NEAREST_H
#define TOOLS_NEAREST_H

#include <stddef.h>

enum { NEAREST_HINT = 64 };

/**
 * A search among names.
 *
 * name   the nearest so far, lent by the caller; NULL when none is near enough. A name is near
 *        when the word is its beginning, of three letters at least, or when few letters are wrong:
 *        one in a word of up to four, two in up to seven, else three. A letter too many, one that
 *        is missing, another letter, and two neighbours that changed places count as one each.
 *        Dashes at the beginning do not count
 *
 * The rest is private.
 */
struct nearest {
    const char *name;
    const char *word;
    size_t len;
    size_t wrong;
    char hint[NEAREST_HINT];
};

/** Begins a search for `len` bytes; `word` is lent until the search ends. */
void nearest_begin(struct nearest *nearest, const char *word, size_t len);

/** Keeps the name when it is nearer than all before it. Of equals the first one is kept. */
void nearest_consider(struct nearest *nearest, const char *name);

/** " (did you mean NAME?)", or nothing when no name is near. Lent by `nearest`. */
const char *nearest_hint(struct nearest *nearest);

#endif
