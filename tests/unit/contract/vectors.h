/*
 * vectors.h - the files of vectors/: documents and what a contract makes of them. A file has the
 * name of its contract and an object on each line:
 *
 *     base     a valid document, from which the rows below are made
 *     for      the requirement that the row is for
 *     set      values to put into a copy of the base, by JSON Pointer
 *     drop     pointers to what is left out of it
 *     fill     strings to put into it: how many characters, by pointer
 *     with     the character for these; one of four bytes if it is missing
 *     text     a whole text instead
 *     error    path and keyword of the first error; a row without it is valid
 *     errors   how many there are
 */
#ifndef TEST_VECTORS_H
#define TEST_VECTORS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** A file that is read. Zero-initialised, then opened. */
struct vectors {
    FILE *file;
    char *line;
    size_t size;
    json_t *base;
    json_t *row;
    size_t number;
};

/**
 * A row's document and what is expected of it; all is lent until the next row.
 *
 * path, keyword   NULL when the document is valid
 * errors          0 when their number does not matter
 */
struct vector {
    size_t number;
    const char *requirement;
    char *text;
    const char *path;
    const char *keyword;
    size_t errors;
};

/** Opens the vectors of a contract. Fails the test when there are none. */
void vectors_open(struct vectors *vectors, const char *contract);

/** Reads the next row. Returns false at the end, and closes the file. */
bool vectors_next(struct vectors *vectors, struct vector *out);

#endif
