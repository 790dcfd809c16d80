/*
 * fault_alloc.h - makes the n-th allocation of the code under test fail. A test links the CMake
 * target fault_alloc, which redirects malloc, calloc, realloc, strdup and strndup of our own
 * objects at link time; those of shared libraries are not touched.
 *
 *     FAULT_ALLOC_EACH(nth, 2) {
 *         enum mcpx_err err = thing_new(&thing);
 *         bool failed = fault_alloc_disarm();
 *         ... either all went well, or it is MCPX_ENOMEM and nothing has leaked ...
 *     }
 */
#ifndef FAULT_ALLOC_H
#define FAULT_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/** The nth allocation from now on (1 = the next one) fails, once. 0 = none does. */
void fault_alloc_arm(size_t nth);

/** Lets allocations succeed again; true when one had failed since fault_alloc_arm. */
bool fault_alloc_disarm(void);

/**
 * Runs the block that follows armed with 1, 2, ..., which is in `nth`, until no allocation fails.
 * What a block prepares first it does between fault_alloc_arm(0) and fault_alloc_arm(nth).
 * Ends the program when fewer than `least` have failed.
 */
#define FAULT_ALLOC_EACH(nth, least)                                                          \
    for (size_t nth = 1; fault_alloc_goes_on(nth, (least)); nth++)

/** Of FAULT_ALLOC_EACH: arms, unless it is over. */
bool fault_alloc_goes_on(size_t nth, size_t least);

/** Allocations asked for since fault_alloc_arm. */
size_t fault_alloc_count(void);

#endif
