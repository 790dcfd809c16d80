/*
 * corpus.h - the inputs of a fuzz target, wherever they are: the folder tests/fuzz/corpus/NAME has
 * one file for each named case, and the pack `packed` for those that a fuzzer found.
 */
#ifndef TESTS_FUZZ_CORPUS_H
#define TESTS_FUZZ_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What takes the inputs, one at a time, and borrows them; false ends the walk. */
struct corpus_taker {
    bool (*take)(void *context, const uint8_t *data, size_t size);
    void *context;
};

/**
 * Gives every input of `path` to `taker`, each in a block of exactly its size: of a folder all
 * files that are not hidden, sorted by name; of a file called `packed` all inputs in it; of any
 * other file its bytes. Returns how many, or -1 after telling standard error what went wrong: a
 * file cannot be read, a pack is damaged or empty, the taker gave false.
 */
long corpus_walk(const char *path, const struct corpus_taker *taker);

#endif
