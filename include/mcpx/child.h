/*
 * child.h - runs a program that reads and writes lines on its standard input and output. None
 * of its processes outlives the owner, and the owner is told at once when it ends.
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

/** The details of a change of state. */
struct mcpx_child_report {
    enum mcpx_child_state state;
    int pid;          /* of the process that runs or ran; 0 when there was none */
    int code;         /* its exit code; -1 when a signal ended it or it still runs */
    int signal;       /* the signal that ended it; 0 when none did */
    int64_t retry_ms; /* DOWN: milliseconds until it is started again; -1 = never */
    /* For people: "exited with code 3", "killed by signal 9 (SIGKILL)", "closed its output",
     * "cannot execute 'x': No such file or directory". When processes are left, the text says
     * so: "...; 2 of its processes cannot be killed". Lent during the call. */
    const char *text;
};

/** How to run a program. Callbacks may call mcpx_child_write and mcpx_child_stop, not _free. */
struct mcpx_child_config {
    /* The program (looked up in PATH) and its arguments, NULL at the end; copied. */
    char *const *argv;
    const char *cwd; /* where it runs; NULL = here */
    /* Precedes each line of its standard error: "[name] ..."; copied. NULL discards that output. */
    const char *name;
    size_t line_max; /* longest line of its output in bytes; 0 = 64 MiB */
    /* Limit of the bytes that the program has not read yet, newlines counted; 0 = 64 MiB. */
    size_t queue_max;
    /* How long it may take to end. Its input is closed first, as soon as nothing waits to be
     * read. SIGTERM is sent after a quarter of this time, SIGKILL at its end. 0 = 2000. */
    int64_t stop_ms;
    bool restart; /* start it again when it ends */
    /* First pause before a restart. It doubles with each restart, up to 64 times as long, and
     * starts again after a minute of running. 0 = 500. */
    int64_t backoff_ms;
    /* The libuv loop everything runs on; borrowed until on_state reports STOPPED or FAILED. */
    struct uv_loop_s *loop;
    /* One line of its output, lent during the call. */
    void (*on_line)(void *user, struct mcpx_slice line);
    /* The beginning of an output line longer than line_max (at most 256 bytes); the line is
     * skipped. May be NULL. */
    void (*on_overlong)(void *user, struct mcpx_slice beginning);
    /* Every change of state. After DOWN, no line of the old process comes any more. */
    void (*on_state)(void *user, const struct mcpx_child_report *report);
    void *user; /* handed to all three */
};

/**
 * Makes a child and starts it; on_state reports its states from the loop. The process leads a
 * session and process group of its own. It has only descriptors 0, 1 and 2, default signal
 * handling and an empty signal mask. It is killed when its owner dies in any way. When a child
 * ends for any reason, all its descendants are killed and reaped before the next state is
 * reported. A process that cannot be killed, because it belongs to another user now or hangs in
 * the kernel, is waited for; after mcpx_child_stop, only as long as described there.
 *
 * A second process does this work. It is forked from this one and named mcpx-warden; it is the
 * parent of the child and reaps its orphans (PR_SET_CHILD_SUBREAPER). The calling process stays
 * as it is: its signal handlers, its mask and its own orphans. The environment of the child has
 * one more entry, MCPX_CHILD.
 *
 * Returns MCPX_OK; MCPX_EINVALID without a program or loop; MCPX_ENOMEM; MCPX_ESYSTEM when the
 * system gives no pipes or no process (see errno). A program that cannot be executed, or a cwd
 * that cannot be entered, is not an error here: the state becomes FAILED.
 */
MCPX_API enum mcpx_err mcpx_child_new(const struct mcpx_child_config *config,
                                      struct mcpx_child **out);

/**
 * Queues one line; a newline is added. `line` is copied and holds no newline.
 *
 * Returns MCPX_OK; MCPX_ECLOSED when it is not RUNNING or STARTING, is being stopped, or has
 * closed its input; MCPX_ELIMIT when queue_max would be exceeded, because the program does not
 * read; MCPX_EINVALID for a newline inside; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_child_write(struct mcpx_child *child, struct mcpx_slice line);

/**
 * Ends it for good, within stop_ms. on_state reports STOPPED when no process of it is left. If
 * processes cannot be killed, STOPPED comes a second after stop_ms, with a text that says
 * how many are left.
 */
MCPX_API void mcpx_child_stop(struct mcpx_child *child);

/**
 * Kills it now, as if it had crashed: with `restart` it is started again. For a program that hangs.
 */
MCPX_API void mcpx_child_kill(struct mcpx_child *child);

/**
 * Frees a child whose state is STOPPED or FAILED. Not to be called from a callback. NULL is
 * allowed.
 */
MCPX_API void mcpx_child_free(struct mcpx_child *child);

MCPX_END_C

#endif
