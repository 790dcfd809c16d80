/*
 * fault_alloc.h - makes the n-th allocation of the code under test fail. A test links the CMake
 * target fault_alloc, which redirects malloc, calloc, realloc, strdup and strndup of our own
 * objects at link time; those of shared libraries are not touched.
 *
 *     size_t nth = 0;
 *     do {
 *         fault_alloc_arm(++nth);
 *         err = thing_new(&thing);
 *         ... either all went well, or it is MCPX_ENOMEM and nothing has leaked ...
 *     } while (fault_alloc_disarm());
 */
#ifndef FAULT_ALLOC_H
#define FAULT_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/** The nth allocation from now on (1 = the next one) fails, once. 0 = none does. */
void fault_alloc_arm(size_t nth);

/** Lets allocations succeed again; true when one had failed since fault_alloc_arm. */
bool fault_alloc_disarm(void);

/** Allocations asked for since fault_alloc_arm. */
size_t fault_alloc_count(void);

#endif
