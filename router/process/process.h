/*
 * process.h - asks the system about this process and its limits, and tells systemd about it.
 */
#ifndef EDGE_PROCESS_H
#define EDGE_PROCESS_H

#include "router/hub/hub.h"
#include <mcpx/base.h>
#include <stdint.h>

/** What it takes. Zeroed = not asked yet; a number the system does not tell stays 0. */
struct process {
    int64_t asked_ms;        /* mono_ms at which it was asked */
    uint64_t resident_bytes; /* memory of it that is in RAM */
    uint64_t open_fds;       /* file descriptors that are open */
    uint64_t max_fds;        /* how many there may be */
    uint64_t cpu_ms;         /* processor time it has used, in user and in system mode */
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

/* ---- the service manager: systemd, or whoever else set NOTIFY_SOCKET ---- */

/** The watchdog of the service manager. Zeroed = nobody watches. */
struct systemd_notify {
    int64_t every_ms; /* how often it is to be told that the loop turns; 0 = nobody watches */
    int64_t told_ms;  /* mono_ms at which it was told last */
};

/** Asks whether somebody watches. */
void systemd_notify_open(struct systemd_notify *notify);

/** Tells it something, as sd_notify(3) has it: "READY=1" at the start, and after each reload. */
void manager_tell(const char *what);

/** The configuration is read again from now on; until READY=1. */
void systemd_notify_tell_reloading(void);

/**
 * Tells the watchdog, when it is time, that the loop turns. To be called from the loop and from
 * nowhere else, so that one that hangs is found. Returns the milliseconds until it is time again;
 * INT64_MAX when nobody watches.
 */
int64_t systemd_notify_watchdog(struct systemd_notify *notify, int64_t mono_ms);

/*
 * ---- the only place of the loop that asks what time it is, but for what is not of a loop turn
 * (lib/edge/timer.h). The threads of the store have router/store/commit/stage.h.
 */

/** The time of one loop turn. */
struct clock {
    struct mcpx_now now;
    int64_t
        began_us; /* when it was asked, in microseconds of the monotonic clock; 0 = not yet */
};

/** The monotonic clock in nanoseconds, asked now, for what is too short for a turn's time. */
uint64_t clock_ns(void);

/** Processor time that this thread has taken, in nanoseconds. */
uint64_t clock_work_ns(void);

/** The time of this loop turn; the first caller of a turn asks. */
struct mcpx_now clock_now(struct clock *clock);

/**
 * Both clocks, asked now, at the end of a loop turn. `took_us` is set to the time since clock_now
 * was asked first in it; 0 when it was not.
 */
struct mcpx_now clock_end(const struct clock *clock, uint64_t *took_us);

/** The loop is about to wait: what was known is stale afterwards. */
void clock_forget(struct clock *clock);

/** Chance from the kernel. Aborts when the kernel has none, as nothing safe can follow. */
struct chance clock_chance(void);

#endif
