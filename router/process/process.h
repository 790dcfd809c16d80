/* process.h - reads the usage and limits of this process, and notifies systemd. */
#ifndef EDGE_PROCESS_H
#define EDGE_PROCESS_H

#include "router/hub/hub.h"
#include <mcpx/base.h>
#include <stdint.h>

/** The resources of this process. Zeroed = not read yet; an unknown number stays 0. */
struct process {
    int64_t measured_ms;     /* mono_ms of the reading */
    uint64_t resident_bytes; /* its memory in RAM */
    uint64_t open_fds;       /* open file descriptors */
    uint64_t max_fds;        /* limit of file descriptors */
    uint64_t cpu_ms;         /* processor time it has used, in user and in system mode */
};

/** Reads them, once a second at most: any client may request metrics, and counting is slow. */
void process_measure(struct process *process, int64_t mono_ms);

/**
 * From now on no other process of the same user can read memory, environment or descriptors of this
 * one, unless it has CAP_SYS_PTRACE. The kernel writes no core file. All these hold keys and
 * tokens.
 */
void process_hide(void);

/**
 * Bytes of memory available to this process: the lowest of the machine's memory and the limits of
 * its control groups (version 1 and 2); 0 = unknown.
 *
 * root    put in front of /proc and /sys, for tests; "" is the machine itself
 */
uint64_t machine_memory(const char *root);

/** Hard limit of the file descriptors of this process; 0 = unknown. */
uint64_t machine_descriptors(void);

/* ---- the service manager: systemd, or another one that sets NOTIFY_SOCKET ---- */

/** The watchdog of the service manager. Zeroed = no watchdog. */
struct systemd_notify {
    int64_t every_ms;    /* interval of its notifications; 0 = no watchdog */
    int64_t notified_ms; /* mono_ms of the last notification */
};

/** Reads the interval of the watchdog. */
void systemd_notify_open(struct systemd_notify *notify);

/** Reports the start of a reload; sd_notify(3) with READY=1 ends it. */
void systemd_notify_reloading(void);

/**
 * Notifies the watchdog when it is time. To be called only from the event loop, so that a hanging
 * loop is detected. Returns the milliseconds until the next notification; INT64_MAX without a
 * watchdog.
 */
int64_t systemd_notify_watchdog(struct systemd_notify *notify, int64_t mono_ms);

/* ---- the clock of the event loop; lib/edge/timer.h has the clocks of everything else ---- */

/** The time of one loop iteration. */
struct clock {
    struct mcpx_now now;
    int64_t began_us; /* its reading, in microseconds of the monotonic clock; 0 = none yet */
};

/** The monotonic clock in nanoseconds, read now, to time parts of a loop iteration. */
uint64_t clock_ns(void);

/** Processor time of this thread, in nanoseconds. */
uint64_t clock_work_ns(void);

/** The time of this loop iteration, read by its first caller. */
struct mcpx_now clock_now(struct clock *clock);

/**
 * Both clocks, read now, at the end of a loop iteration. `took_us` is set to the time since its
 * first clock_now; 0 without one.
 */
struct mcpx_now clock_end(const struct clock *clock, uint64_t *took_us);

/** Forgets the time, because the loop is about to wait. */
void clock_forget(struct clock *clock);

/** Chance from the kernel. Aborts when the kernel has none, as nothing safe can follow. */
struct chance clock_chance(void);

#endif
