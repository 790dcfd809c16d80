/*
 * daemon.h - the real program, started for one test on ports that are free.
 */
#ifndef SUPPORT_DAEMON_H
#define SUPPORT_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { DAEMON_LISTENERS_MAX = 4, DAEMON_PATIENCE_MS = 60000 };

/**
 * A running mcpx-router.
 *
 * port     of each listener, in the order of its `listening` lines
 * out      the rest of its standard output
 * log      a file that holds its standard error
 */
struct daemon {
    pid_t pid;
    int port[DAEMON_LISTENERS_MAX];
    bool v6[DAEMON_LISTENERS_MAX];
    size_t listeners;
    int out;
    char log[64];
    char config[64];
};

/**
 * Starts it in development mode on 127.0.0.1:0 and, where the machine has IPv6, on [::1]:0, and
 * waits for the `listening` lines.
 *
 * config        settings as JSON text, or NULL for generous ones
 * descriptors   its limit of file descriptors; 0 = as ours
 *
 * Fails the test when the program does not come up.
 */
void daemon_start(struct daemon *daemon, const char *config, unsigned long descriptors);

/** True when sockets can be bound to ::1; containers often cannot. */
bool daemon_has_v6(void);

/**
 * daemon_start with a descriptor as its standard error, which is the caller's. `log` stays empty.
 */
void daemon_start_logging(struct daemon *daemon, const char *config, int descriptor);

/** daemon_start without development mode: settings and tokens are those of `config` alone. */
void daemon_start_plain(struct daemon *daemon, const char *config);

/** daemon_start with generous settings. */
void daemon_start_default(struct daemon *daemon);

/**
 * Ends it with this signal and starts it again where its first listener was. What it knew is gone,
 * the key of its own tokens included.
 *
 * config   as for daemon_start
 */
void daemon_restart(struct daemon *daemon, const char *config, int signal);

/** Sends TERM, waits for the end and returns the exit status; 256 + signal when killed by one. */
int daemon_stop(struct daemon *daemon);

/** Waits for the end, as daemon_stop does. */
int daemon_wait(struct daemon *daemon);

/** Resident memory in KiB. */
long daemon_rss_kib(const struct daemon *daemon);

/** How many file descriptors it has open. */
int daemon_descriptors(const struct daemon *daemon);

/** Processor time used so far, in milliseconds. */
long daemon_cpu_ms(const struct daemon *daemon);

/**
 * True when its standard error holds `text` so far. Fit for what must never be there: the router
 * answers first and logs then, so what must be there is for daemon_logs.
 */
bool daemon_logged(const struct daemon *daemon, const char *text);

/** Waits until its standard error holds `text`; false when it never does. */
bool daemon_logs(const struct daemon *daemon, const char *text);

/** Path of the program. */
const char *daemon_program(void);

/** Milliseconds that only go forward. */
long support_now_ms(void);

#endif
