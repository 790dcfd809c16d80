/*
 * child.h - a server under test: started, asked what it costs, stopped.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/** A running server that listens on 127.0.0.1, under TLS or not. */
struct child {
    pid_t pid;
    int port;
    bool tls;
};

/** Keeps this process on CPU 1, and servers on CPU 0, where there are two. */
void child_pin_self(void);

/** Lets this process and its children open as many files as the machine permits. */
void child_raise_files(void);

/**
 * Starts a program and waits for its line `listening ws://127.0.0.1:PORT...`, or wss. It ends when
 * this process does. Its log is thrown away unless BENCH_LOG is set in the environment.
 *
 * argv   NULL at the end; argv[0] is the path
 *
 * Ends this program when that fails.
 */
void child_start(struct child *child, const char *const *argv);

/** CPU time of all its threads so far, in nanoseconds. */
double child_cpu_ns(const struct child *child);

/** Its resident memory in bytes. */
double child_rss(const struct child *child);

/** Ends it and waits. */
void child_stop(struct child *child);

#endif
