/*
 * rows.h - growing arrays, searching sorted ones, texts in one piece of memory, and texts made
 * shorter at either end.
 */
#ifndef MX_ROWS_H
#define MX_ROWS_H

#include <mcpx/text.h>

#include <stdlib.h>

/**
 * Makes room behind `count` rows of `of_one` bytes.
 *
 * rows   the address of a pointer to the array: NULL at first, from malloc later; it may change
 * size   the number of rows that fit in: 0 at first, then 8, doubled each time
 *
 * False, with nothing changed, when memory runs out.
 */
static inline bool mx_make_room(void *rows, size_t count, size_t *size, size_t of_one)
{
    size_t wanted = *size ? *size * 2 : 8;
    void *grown;

    if (count < *size)
        return true;
    memcpy(&grown, rows, sizeof grown);
    grown = realloc(grown, wanted * of_one);
    if (!grown)
        return false;
    memcpy(rows, &grown, sizeof grown);
    *size = wanted;
    return true;
}

/** Copies a text to `*room`, and moves `*room` behind the copy; an absent text stays absent. */
static inline struct mcpx_slice mx_keep(char **room, struct mcpx_slice text)
{
    struct mcpx_slice copy = {*room, text.len};

    if (!text.text)
        return text;
    memcpy(*room, text.text, text.len);
    *room += text.len;
    return copy;
}

/** Removes what was appended to a text since it had `len` bytes; whether it failed stays. */
static inline void mx_take_back(struct mcpx_text *text, size_t len)
{
    text->len = len;
    if (text->text)
        text->text[len] = '\0';
}

/** Removes the first `*gone` bytes of a text once they are half of it; then sets `*gone` to 0. */
static inline void mx_forget(struct mcpx_text *text, size_t *gone)
{
    size_t left = text->len - *gone;

    if (!*gone || left > *gone)
        return;
    memmove(text->text, text->text + *gone, left + 1); /* with its NUL */
    text->len = left;
    *gone = 0;
}

/**
 * A binary search of the rows from `low` up to `high`, exclusive. Afterwards `low` is the first row
 * that is not before the searched value, or `high`. All three must be variables of type size_t.
 *
 * is_before   an expression: the row at `row` comes before the searched value
 */
#define MX_SEARCH(low, high, row, is_before)                                                  \
    while ((low) < (high))                                                                    \
    ((row) = (low) + ((high) - (low)) / 2,                                                    \
     (is_before) ? ((low) = (row) + 1) : ((high) = (row)))

#endif
