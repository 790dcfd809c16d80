/*
 * pack.h - many inputs of a fuzz target in one text file, which a person can read and a difference
 * shows line by line. The first line is
 *
 *     mcpx-corpus COUNT
 *
 * and COUNT lines follow, one for each input:
 *
 *     SIZE SUM TEXT
 *
 * SIZE is decimal, in bytes. SUM is the 32-bit FNV-1a hash of the bytes, as eight hexadecimal
 * digits. TEXT is the bytes: those from space to tilde stand for themselves, except the backslash,
 * and each of the others is \xNN. Every line ends with a line feed, the last one too.
 */
#ifndef TESTS_FUZZ_PACK_H
#define TESTS_FUZZ_PACK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** A pack while it is read. */
struct pack {
    FILE *file;        /**< borrowed */
    char *line;        /**< the line being read */
    size_t room;       /**< of `line` */
    size_t number;     /**< of that line; the first line of a file is 1 */
    size_t left;       /**< inputs that must still come */
    uint8_t *data;     /**< the input read last, in a block of exactly its size */
    size_t size;       /**< of `data` */
    const char *fault; /**< what is wrong with line `number`; NULL: nothing so far */
};

/**
 * Begins to read a pack. Borrows `file` until pack_end. False, with `fault` set, when its first
 * line is not that of a pack or promises no inputs; pack_end is due in either case.
 */
bool pack_begin(struct pack *pack, FILE *file);

/**
 * Reads one input, and lends `data` until the next call. False after the last one, and false with
 * `fault` set when a line is not as the format says, is missing, or is one too many.
 */
bool pack_next(struct pack *pack);

/** Releases what reading needed; not the file. */
void pack_end(struct pack *pack);

/** Writes the first line of a pack. False when the file does not take it. */
bool pack_write_head(FILE *file, size_t count);

/** Writes one input. False when the file does not take it. */
bool pack_write(FILE *file, const uint8_t *data, size_t size);

#endif
