/*
 * nearest.h - the known name that is nearest to an unknown one.
 */
#ifndef TOOLS_NEAREST_H
#define TOOLS_NEAREST_H

#include <stddef.h>

enum { NEAREST_HINT = 64, NEAREST_NAME = 31 };

/** A search among names. All but `hint` is private. */
struct nearest {
    /* " (did you mean NAME?)" with the nearest so far; "" when none is near enough. A name is near
     * enough when the word has at least three letters and the name begins with it. It is also
     * near enough when few letters are wrong: at most one in a word of up to four letters, two
     * in a word of up to seven, else three. One error is a letter too many, a missing letter,
     * another letter, or two neighbours that changed places. Dashes at the beginning are
     * ignored. */
    char hint[NEAREST_HINT];
    size_t wrong; /* how many letters of it are wrong */
    const char *word;
    size_t len;
};

/** Begins a search for `len` bytes; `word` is lent until the search ends. */
void nearest_begin(struct nearest *nearest, const char *word, size_t len);

/** Keeps the name when it is nearer than all before it. Of equally near names, the first. */
void nearest_consider(struct nearest *nearest, const char *name);

#endif
