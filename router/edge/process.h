/*
 * process.h - what the system says about this process, for the metrics, and what it tells others.
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

#endif
