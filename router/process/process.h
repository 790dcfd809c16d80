/*
 * process.h - what the system says about this process and gives it, and what it tells others.
 */
#ifndef EDGE_PROCESS_H
#define EDGE_PROCESS_H

#include <mcpx/base.h>

/**
 * What it takes. Zeroed = not asked yet; a number the system does not tell stays 0.
 *
 * asked_ms         mono_ms at which it was asked
 * resident_bytes   memory of it that is in RAM
 * open_fds         file descriptors that are open
 * max_fds          how many there may be
 * cpu_ms           processor time it has used, in user and in system mode
 */
struct process {
    int64_t asked_ms;
    uint64_t resident_bytes;
    uint64_t open_fds;
    uint64_t max_fds;
    uint64_t cpu_ms;
};

/** Asks, if a second has passed since: anybody may ask for metrics, and counting is not free. */
void process_ask(struct process *process, int64_t mono_ms);

/**
 * From now on no other process of the same user reads memory, environment or descriptors of this
 * one, unless it has CAP_SYS_PTRACE, and the kernel writes no core file: all these hold keys and
 * tokens.
 */
void process_hide(void);

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
