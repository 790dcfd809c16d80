/*
 * fuzz.h - what every fuzz_NAME.c has: the function that libFuzzer or replay.c calls with an
 * input, and the one that it calls about what must hold whatever the input is.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool holds)
{
    if (!holds)
        abort();
}

#endif
