/*
 * machine.h - what the machine gives this process.
 */
#ifndef EDGE_MACHINE_H
#define EDGE_MACHINE_H

#include <mcpx/base.h>

/**
 * Bytes of memory that this process may use: those of the machine, or what the control groups it is
 * in allow (version 1 and 2), whichever is least. 0 when the system does not say.
 *
 * root    put in front of /proc and /sys, for tests; "" is the machine itself
 */
uint64_t machine_memory(const char *root);

/** File descriptors that this process may have when it asks for all of them; 0 = not known. */
uint64_t machine_descriptors(void);

#endif
