/*
 * child.h - a program that talks in lines on its standard input and output, and is looked after:
 * nothing of it outlives its owner, and whoever waits for it learns at once that it is gone.
 */
#ifndef MCPX_CHILD_H
#define MCPX_CHILD_H

#include <mcpx/error.h>

MCPX_BEGIN_C

struct uv_loop_s;

/*
 *              start                     first line or 100 ms
 *   STOPPED ----------> STARTING ------------------------------> RUNNING
 *      ^                    |  cannot be executed                   |  it ended, or its output did
 *      |                    v                                       v
 *      |                 FAILED <---- restart is off ------------- DOWN ----> STARTING, after a
 *      +---- mcpx_child_stop, once nothing of it is left                      pause that grows
 */
enum mcpx_child_state {
    MCPX_CHILD_STOPPED,
    MCPX_CHILD_STARTING,
    MCPX_CHILD_RUNNING,
    MCPX_CHILD_DOWN,
    MCPX_CHILD_FAILED
};

struct mcpx_child;

/**
 * What a change of state is about.
 *
 * pid        of the process that runs or ran; 0 when there was none
 * code       its exit code; -1 when a signal ended it or it still runs
 * signal     the signal that ended it; 0 when none did
 * retry_ms   DOWN: milliseconds until it is started again; -1 = never
 * text       for people: "exited with code 3", "killed by signal 9 (SIGKILL)", "closed its output",
 *            "cannot execute 'x': No such file or directory"; after it what is left, if anything:
 *            "...; 2 of its processes cannot be killed"; lent during the call
 */
struct mcpx_child_report {
    enum mcpx_child_state state;
    int pid;
    int code;
    int signal;
    int64_t retry_ms;
    const char *text;
};

/**
 * argv         the program (looked up in PATH) and its arguments, NULL at the end; copied
 * cwd          where it runs; NULL = here
 * name         precedes each line of its standard error: "[name] ..."; NULL discards that output
 * line_max     longest line of its output in bytes; 0 = 64 MiB
 * queue_max    bytes that may wait for it to read, newlines counted; 0 = 64 MiB
 * stop_ms      how long it may take to end: its input is closed at once, or as soon as it has read
 *              what waits; after a quarter of this SIGTERM is sent, at the end SIGKILL. 0 = 2000
 * restart      start it again when it ends
 * backoff_ms   first pause before that; doubles up to 64 times as long, and is forgotten after a
 *              minute of running. 0 = 500
 * loop         the libuv loop everything runs on; borrowed until on_state has told STOPPED or
 *              FAILED
 *
 * on_line      one line of its output, lent during the call
 * on_overlong  an output line longer than line_max began so (at most 256 bytes); it is skipped.
 *              May be NULL
 * on_state     every change of state. From DOWN on nothing more comes from the old process
 * user         handed to all three
 *
 * The callbacks may call mcpx_child_write and mcpx_child_stop; not mcpx_child_free.
 */
struct mcpx_child_config {
    char *const *argv;
    const char *cwd;
    const char *name;
    size_t line_max;
    size_t queue_max;
    int64_t stop_ms;
    bool restart;
    int64_t backoff_ms;
    struct uv_loop_s *loop;
    void (*on_line)(void *user, struct mcpx_slice line);
    void (*on_overlong)(void *user, struct mcpx_slice beginning);
    void (*on_state)(void *user, const struct mcpx_child_report *report);
    void *user;
};

/**
 * Makes a child and starts it; what becomes of it, on_state tells from the loop. The process
 * leads a session and process group of its own, has only descriptors 0, 1 and 2, default signal
 * handling and an empty signal mask, and is killed when its owner dies, whichever way. When a
 * child ends, for whatever reason, everything that descends from it is killed and reaped before the
 * next state is told. What cannot be killed, because it became another user's or the kernel
 * holds it, is waited for; after mcpx_child_stop not longer than that says.
 *
 * A second process, forked from this one and named mcpx-warden, sees to that: it is the parent of
 * the child and the reaper of its orphans (PR_SET_CHILD_SUBREAPER). Nothing of the calling process
 * is changed: no signal handler, no mask, not its own orphans. The environment of the child has
 * one entry more, MCPX_CHILD.
 *
 * Returns MCPX_OK; MCPX_EINVALID without a program or loop; MCPX_ENOMEM; MCPX_ESYSTEM when pipes
 * or a process cannot be had (errno tells). A program that cannot be executed, or a cwd that cannot
 * be entered, is no error here but the state FAILED.
 */
MCPX_API enum mcpx_err mcpx_child_new(const struct mcpx_child_config *config,
                                      struct mcpx_child **out);

/**
 * Queues one line; a newline is added. `line` is copied and holds no newline.
 *
 * Returns MCPX_OK; MCPX_ECLOSED when it is not RUNNING or STARTING, is being stopped, or has closed
 * its input; MCPX_ELIMIT when queue_max would be exceeded, that is, it does not read; MCPX_EINVALID
 * for a newline inside; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_child_write(struct mcpx_child *child, struct mcpx_slice line);

/**
 * Ends it for good, as stop_ms says; on_state tells STOPPED when nothing of it is left, or, with a text
 * that says how much is, when it could not be killed for stop_ms and two seconds more.
 */
MCPX_API void mcpx_child_stop(struct mcpx_child *child);

/** Kills it now, as if it had crashed: with `restart` it comes back. For one that hangs. */
MCPX_API void mcpx_child_kill(struct mcpx_child *child);

/** Frees a child that has told STOPPED or FAILED; not from a callback. NULL is allowed. */
MCPX_API void mcpx_child_free(struct mcpx_child *child);

MCPX_END_C

#endif
