/*
 * replay.c - runs a fuzz target over every input of the folders, packs and files given as
 * arguments, so that what a fuzzer once found stays found in builds without one. Says how many
 * there were. No input is a failure, and so is a damaged pack.
 */
#include "corpus.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>

static bool replay(void *context, const uint8_t *data, size_t size)
{
    (void)context;
    LLVMFuzzerTestOneInput(data, size);
    return true;
}

int main(int count, char **arguments)
{
    const struct corpus_taker taker = {replay, NULL};
    long total = 0;

    for (int i = 1; i < count; i++) {
        long inputs = corpus_walk(arguments[i], &taker);

        if (inputs < 0)
            return EXIT_FAILURE;
        printf("%ld inputs of %s\n", inputs, arguments[i]);
        total += inputs;
    }
    return total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
